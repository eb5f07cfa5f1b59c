"""The archive: common clusters, estimates, the best version."""

from __future__ import annotations

import pytest

from evolve.optimize.archive import Archive, Version, shrinkage
from evolve.optimize.constraints import Constraints
from evolve.stats import shrink
from policies.policy import seed_policy

SEED = seed_policy("awe")
SECOND = SEED.derive(settings={"top_k": 11})
THIRD = SEED.derive(settings={"top_k": 12})

LOW = {"a": 0.30, "b": 0.50, "c": 0.40, "d": 0.20}
HIGH = {"a": 0.42, "b": 0.58, "c": 0.51, "d": 0.33}


def start(gate: dict[str, float] | None = None) -> Archive:
    return Archive((Version(SEED, LOW if gate is None else gate),))


def test_a_new_archive_has_the_seed_as_its_best() -> None:
    archive = start({})
    assert archive.best().policy is SEED
    assert archive.estimates() is None
    assert archive.gate_gain() is None
    assert start().estimates() == (pytest.approx(0.35),)
    assert start().gate_gain() == 0.0


def test_accepting_leaves_the_old_archive_alone() -> None:
    archive = start()
    later = archive.accept(SECOND, HIGH)
    assert len(archive.versions) == 1
    assert [v.policy.id for v in later.versions] == [SEED.id, SECOND.id]
    assert later.best().policy is SECOND
    assert later.gate_gain() == pytest.approx(0.11)


def test_only_common_clusters_count() -> None:
    archive = start().accept(SECOND, {**HIGH, "e": 0.0}).judged(SEED.id, {"f": 1.0})
    assert archive.common == ("a", "b", "c", "d")
    assert archive.gate_gain() == pytest.approx(0.11)
    assert archive.judged(SEED.id, {"e": 1.0}).common == ("a", "b", "c", "d", "e")


def test_the_best_need_not_be_the_last() -> None:
    third = {key: value - 0.05 for key, value in HIGH.items()}
    archive = start().accept(SECOND, HIGH).accept(THIRD, third)
    assert archive.best().policy is SECOND


def test_equal_versions_go_to_the_earlier() -> None:
    turned = dict(zip(HIGH, [0.51, 0.42, 0.33, 0.58], strict=True))
    assert start().accept(SECOND, HIGH).accept(THIRD, turned).best().policy is SECOND


def test_noise_alone_leaves_the_seed_the_best() -> None:
    noisy = {"a": 0.90, "b": 0.10, "c": 0.80, "d": -0.30}
    archive = start().accept(SECOND, noisy)
    assert archive.estimates() == (pytest.approx(0.3625),) * 2
    assert archive.best().policy is SEED


def test_estimates_are_shrunk_by_the_error_of_paired_differences() -> None:
    # two versions: differences 0.12, 0.08, 0.11, 0.13; the variance of each mean is half of theirs
    variance = sum((x - 0.11) ** 2 for x in (0.12, 0.08, 0.11, 0.13)) / 3 / 4 / 2
    expected = shrink([0.35, 0.46], [variance**0.5] * 2)
    assert start().accept(SECOND, HIGH).estimates() == pytest.approx(expected)


def test_a_noisier_version_is_shrunk_more() -> None:
    keys = [f"u{n}" for n in range(8)]
    seed = dict.fromkeys(keys, 0.4)
    steady = {key: 0.5 + 0.01 * (n % 2) for n, key in enumerate(keys)}
    wild = {key: 0.31 + 0.4 * (n % 2) for n, key in enumerate(keys)}  # mean 0.51 against 0.505
    assert start(seed).accept(SECOND, steady).accept(THIRD, wild).best().policy is SECOND


def test_without_common_clusters_the_last_accepted_is_the_best() -> None:
    archive = start().accept(SECOND, {"x": 0.1, "y": 0.2})
    assert archive.best().policy is SECOND
    assert archive.gate_gain() is None


def test_a_chosen_version_is_the_best_whatever_the_estimates_say() -> None:
    archive = start().accept(SECOND, HIGH).accept(THIRD, LOW).choose(THIRD.id)
    assert archive.best().policy is THIRD
    assert archive.gate_gain() == 0.0
    assert archive.judged(SEED.id, {"e": 0.5}).best().policy is THIRD
    with pytest.raises(ValueError, match="no accepted version"):
        start().choose(SECOND.id)


def test_the_best_keeps_the_limit_of_tokens_as_long_as_any_version_does() -> None:
    limits = Constraints(answer_tokens=800)
    dear = Archive((Version(SEED, LOW),), constraints=limits).measured(SEED.id, 900.0)
    assert dear.best().policy is SEED
    entered = dear.accept(SECOND, {}, 700.0)
    assert entered.best().policy is SECOND
    assert entered.gate_gain() is None
    judged = entered.judged(SECOND.id, LOW).accept(THIRD, HIGH, 900.0)
    assert judged.best().policy is SECOND
    assert judged.gate_gain() == 0.0
    assert judged.choose(THIRD.id).best().policy is SECOND


def test_tokens_are_those_of_the_first_minibatch() -> None:
    archive = start().measured(SEED.id, 900.0).measured(SEED.id, 950.0)
    assert archive.version(SEED.id).tokens == 900.0


def test_an_archive_holds_each_policy_once_and_never_nothing() -> None:
    with pytest.raises(ValueError, match="each policy once"):
        start().accept(SEED, HIGH)
    with pytest.raises(ValueError, match="holds a seed"):
        Archive(())
    with pytest.raises(ValueError, match="no accepted version"):
        start().judged(SECOND.id, HIGH)


@pytest.mark.parametrize(
    ("gate", "test", "expected"),
    [(0.1, 0.075, 0.25), (0.1, 0.0, 1.0), (0.1, 0.2, -1.0), (0.0, 0.1, None), (-0.1, 0.1, None)],
)
def test_shrinkage_is_the_missing_share_of_the_gain(gate, test, expected) -> None:
    assert shrinkage(gate, test) == (None if expected is None else pytest.approx(expected))


def test_shrinkage_of_unknown_gains_is_unknown() -> None:
    assert shrinkage(None, 0.1) is None
    assert shrinkage(0.1, None) is None
