"""What the speed of the client is judged by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.client_speed import Cost, Found, Run, claims_of, table_of
from feedback.records import Rollout

LIVED = Rollout("policy", "user", (), (), (), (), (), ())
RUN = Run((LIVED,) * 4, calls=820, seconds=20.0, others=0.05, peak=40)
GOOD = Found(
    run=RUN,
    path=93,
    cost=Cost(700, litellm_cpu=0.003, litellm_wall=0.004, client_cpu=0.0035, client_wall=0.005),
    full=replace(RUN, peak=64),
    memory=400.0,
    same=True,
)


def test_a_fast_client_passes() -> None:
    assert [claim.verdict for claim in claims_of(GOOD)] == ["holds"] * 5
    assert GOOD.bound == pytest.approx(18.6)
    assert replace(GOOD, path=1).bound == pytest.approx(820 * 0.003)
    assert GOOD.serial == pytest.approx(820 * 0.203)
    rows = dict(table_of(GOOD).rows)
    assert rows["critical path × latency, s"] == "18.60"


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({"run": replace(RUN, seconds=24.0)}, [0, 1]),
        ({"run": replace(RUN, seconds=24.0, others=None)}, [0, 1]),
        ({"path": 104, "run": replace(RUN, seconds=22.0)}, [1]),
        ({"cost": replace(GOOD.cost, client_cpu=0.0051)}, [2]),
        ({"memory": 1000.0}, [3]),
        ({"full": replace(RUN, peak=63)}, [3]),
        ({"same": False}, [4]),
        ({"full": replace(RUN, peak=64, rollouts=(replace(LIVED, failure="cut"),))}, [4]),
    ],
)
def test_each_limit_is_a_claim(change: dict[str, object], failing: list[int]) -> None:
    claims = claims_of(replace(GOOD, **change))  # type: ignore[arg-type]
    assert [n for n, claim in enumerate(claims) if claim.verdict == "FAILS"] == failing


def test_a_disturbed_time_is_not_judged_unless_it_is_good() -> None:
    slow = replace(GOOD, run=replace(RUN, seconds=24.0, others=0.5))
    assert [claim.verdict for claim in claims_of(slow)][:2] == ["unjudged", "unjudged"]
    good = replace(GOOD, run=replace(RUN, others=0.5))
    assert {claim.verdict for claim in claims_of(good)} == {"holds"}


def test_the_speedup_is_judged_by_the_whole_benchmark_alone() -> None:
    slow = replace(GOOD, run=replace(RUN, seconds=22.0))
    assert claims_of(slow)[1].verdict == "FAILS"
    assert claims_of(slow, strict=False)[1].verdict == "unjudged"
