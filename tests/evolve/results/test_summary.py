"""What a run ended with is read whole or refused in one sentence, however it was damaged."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolve.api import read
from evolve.exporting.source import find_source
from evolve.folder import PARETO, SUMMARY
from evolve.mlflow_log import metrics
from evolve.results import outcome_tables as tables
from evolve.results.comparison import ends
from evolve.results.evidence_search import limit_told
from evolve.results.front import front_of
from evolve.results.headline import headline_of
from evolve.results.listing import list_runs, listing
from evolve.results.listing import to_json as listed
from evolve.results.overview import overview, to_json
from evolve.results.run_diff import Side, difference
from evolve.results.run_record import RunRecord, read_run
from evolve.results.summary import check_summary, read_summary
from evolve.tables import plain
from policies.errors import RunFolderError, UserError

GONE = object()
ODD = st.sampled_from([GONE, float("nan"), float("inf"), 10**400, -1, "", "\ud800", True, {}, []])
ANY = ODD | st.recursive(
    st.none() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
WIDEST = 400  # characters of a line of a table: a reason is a sentence, with a path in it

EVIDENCE = {
    "schema": 1,
    "ended": "all were tried",
    "seed_policy": "0123456789ab",
    "best_policy": "0123456789ab",
    "versions": ["0123456789ab"],
    "test": {},
    "gain": None,
    "over_baselines": {},
    "budget": 9,
    "spent": 9.0,
    "usage": {},
    "bound_usage": {},
    "evidence": {
        name: {"questions": 4, "recall": 0.5, "precision": 0.1, "tokens": 90.5}
        for name in ("seed", "best")
    },
    "recall_gain": {"mean": 0.25, "low": None, "high": 0.4, "clusters": 2},
    "limit": 2000,
    "trials": 9,
}
POINT = {
    "name": "gen-001.0",
    "policy": "0123456789ab",
    "accepted": True,
    "accuracy": 0.5,
    "clusters": 12,
    "tokens_per_answer": 90.5,
}
FOUND_BY = {
    "policy": "0123456789ab",
    "settings": {"top_k": 5, "recency_half_life": None, "retriever": "bm25"},
    "recall": 0.5,
    "precision": 0.1,
    "tokens_shown": 90.5,
}
FRONTS = [([POINT, POINT], {"memory_tokens": None}), ([FOUND_BY] * 2, {"tokens_shown": 99})]
PAID = {"reply": {"calls": 2, "prompt_tokens": 9, "completion_tokens": 9, "dollars": 0.25}}


def places(content: object) -> Iterator[tuple[dict | list, str | int]]:
    """Every place of JSON: what holds a value, and under which key."""
    inner = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in inner:
        yield content, key
        if isinstance(value, dict | list):
            yield from places(value)


def damaged(draw: Callable[[Any], Any], content: dict) -> dict:
    """The content with one value of it, at any depth, replaced, removed or renamed."""
    content = deepcopy(content)
    inner, key = draw(st.sampled_from(list(places(content))))
    new = draw(ANY)
    if new is GONE:
        del inner[key]
    elif isinstance(inner, dict) and draw(st.integers(0, 4)) == 0:
        inner[draw(st.text(max_size=5))] = inner.pop(key)
    else:
        inner[key] = new
    return content


def kept(read: Callable[[], Any]) -> Any:
    """What is read; None where it is refused, in one sentence that is no longer than a table."""
    try:
        return read()
    except RunFolderError as error:
        said = str(error)
    assert "resume the run, which writes it anew" in said
    assert len(said.replace(gettempdir(), "")) < WIDEST
    return None


def read_all(record: RunRecord, summary: dict) -> None:
    """Whatever reads the summary of a run."""
    ended = replace(record, summary=summary)
    side = Side("a", record.best, ended)
    headline_of(ended)
    list(metrics(ended))
    ends([ended])
    shown = [*overview(ended), *difference(side, side)[0], tables.test_table(summary)]
    shown += [tables.memory_gain_table(summary), tables.spent_table(summary)]
    if "evidence" in summary:
        assert len(limit_told(summary)) < WIDEST
    for table in shown:
        assert max(map(len, plain(table).splitlines())) < WIDEST
        for line in table.rows:
            "".join(line).encode()
    json.dumps(json.loads(to_json(ended)), allow_nan=False)


@pytest.fixture(scope="module")
def record(made) -> RunRecord:
    return read_run(made / "runs" / "mine")


@pytest.fixture(scope="module")
def user_record(lived) -> RunRecord:
    return read_run(lived)


@pytest.fixture(params=["one policy", "paid", "users", "evidence"])
def whole(request, record, user_record) -> tuple[RunRecord, dict]:
    """A run, and what it ended with."""
    return {
        "one policy": (record, record.summary),
        "paid": (record, {**record.summary, "paid": PAID}),
        "users": (user_record, user_record.summary),
        "evidence": (record, EVIDENCE),
    }[request.param]


def test_what_runs_write_is_whole(whole) -> None:
    check_summary(whole[1])
    read_all(*whole)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_damaged_summary_is_refused_or_harmless(whole, tmp_path, data) -> None:
    record, summary = whole
    written = json.dumps(damaged(data.draw, summary))
    (tmp_path / SUMMARY).write_text(written, encoding="utf-8")
    found = kept(lambda: read_summary(tmp_path))
    if found is not None:
        read_all(record, found)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_damaged_front_is_refused_or_harmless(record, tmp_path, data) -> None:
    points, limits = data.draw(st.sampled_from(FRONTS))
    content = {"best": "0123456789ab", "limits": limits, "front": points}
    written = yaml.safe_dump(damaged(data.draw, content))
    (tmp_path / PARETO).write_text(written, encoding="utf-8")
    front = kept(lambda: front_of(replace(record, folder=tmp_path)))
    assert front is None or max(map(len, plain(front.table).splitlines())) < WIDEST


def test_what_another_kind_of_run_ends_with_is_refused(record) -> None:
    for summary in (record.summary, {**record.summary, "scope": "user"}):
        with pytest.raises(ValueError, match="Field required"):
            check_summary(summary, searched=True)


@pytest.mark.parametrize("key", ["spent", "gain", "test", "versions", "best_policy"])
def test_a_damaged_summary_is_told_by_all_and_hides_no_other_run(run, made, key) -> None:
    summary = json.loads((run / SUMMARY).read_text())
    (run / SUMMARY).write_text(json.dumps({**summary, key: {"a": [float("nan")]}}))
    (run.parent / "other").symlink_to(made / "runs" / "mine")
    glances = list_runs(run.parent)
    assert sorted(one.state.split(":")[0] for one in glances) == ["ended", "unreadable"]
    assert len(listing(glances, run.parent)) == 2
    json.loads(listed(glances))
    for reads in (read_run, read, lambda folder: find_source(str(folder), None)):
        with pytest.raises(UserError, match=r"summary\.json is not what a run writes"):
            reads(Path(run))
