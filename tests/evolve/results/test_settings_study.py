"""What a run says of settings: paired effects, Optuna's study, importance, the front."""

from dataclasses import replace

import pytest
import yaml

from evolve.results.run_record import diagnoses, read_run
from evolve.results.settings_study import (
    changed_settings,
    effects,
    importance,
    study,
    trade_off,
    trials,
)


@pytest.fixture(scope="module")
def record(searched):
    return read_run(searched)


def test_effects_are_paired_with_what_a_candidate_was_compared_with(record):
    names = changed_settings(record)
    assert names
    frame = effects(record, names)
    assert set(frame["setting"]) == set(names)
    known = {one.name: one for one in record.candidates}
    for _, row in frame.iterrows():
        one = known[row["candidate"]]
        incumbent = record.policies[one.verdict.incumbent]
        assert row["value_before"] == incumbent.settings[row["setting"]]
        assert row["value_after"] == one.policy.settings[row["setting"]]
    rates = frame.groupby(["setting", "candidate"])[["rate_before", "rate_after"]].sum()
    assert rates.to_numpy().ravel() == pytest.approx(1.0)
    difference = frame[frame["measure"] == "accuracy"].drop_duplicates("candidate")
    for _, row in difference.iterrows():
        if known[row["candidate"]].verdict.accepted:
            continue  # the best is known on test users, too
        told = known[row["candidate"]].verdict.minibatch_difference
        assert row["change"] == pytest.approx(told)


def test_nothing_is_said_of_settings_without_the_environment(record):
    gone = replace(record, users=None, field=None)
    assert effects(gone, changed_settings(gone)).empty
    assert trade_off(gone).empty


def test_the_study_holds_what_was_tried_with_other_settings(record):
    found = study(record)
    tokens = {trial.values[1] for trial in found.trials}
    told = {one.verdict.tokens_per_answer for one in record.candidates} - {None}
    assert tokens & told
    assert len(found.trials) > 3
    table = trials(found)
    assert list(table["difference"]) == sorted(table["difference"], reverse=True)
    tried = [dict(one.policy.settings) for one in record.candidates] + [dict(record.best.settings)]
    assert all(dict(row) in tried for row in table[list(record.seed.settings)].to_dict("records"))
    frame = importance(found)
    assert frame["importance"].sum() == pytest.approx(1.0)
    assert list(frame["importance"]) == sorted(frame["importance"], reverse=True)
    assert set(frame["setting"]) == set(record.seed.settings)
    assert set(frame["trials"]) == {len(found.trials)}


def test_of_few_trials_nothing_is_important(record):
    assert importance(study(replace(record, candidates=record.candidates[:1]))).empty


def test_the_front_is_that_which_the_run_wrote(record):
    told = yaml.safe_load((record.folder / "pareto.yaml").read_text())["front"]
    frame = trade_off(record)
    ahead = frame[frame["front"]]
    assert list(ahead["policy"]) == [one["policy"] for one in told]
    assert list(ahead["accuracy"]) == pytest.approx([one["accuracy"] for one in told], abs=1e-6)
    assert list(ahead["tokens"]) == pytest.approx(
        [one["tokens_per_answer"] for one in told], abs=1e-3
    )
    assert list(ahead["clusters"]) == [one["clusters"] for one in told]
    assert list(frame["policy"][frame["best"]]) == [record.best.id]
    assert diagnoses(record, record.best.id, "gate")
