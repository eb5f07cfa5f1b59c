"""Which model a policy was tuned to: its file, the run folder around it, and what came before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.exporting.origin import UNTUNED, find_origin
from evolve.journal import FILE, event_line
from policies.policy import seed_policy, write_policy

SEED = seed_policy("awe")


@pytest.fixture
def run_folder(tmp_path):
    """Makes a run's folder, with its header and what it began with."""

    def make(name, seed=SEED, **options):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        header = {"schema": 2, "run": name, "options": options}
        (folder / FILE).write_bytes(event_line("run", "header", header))
        write_policy(seed, folder / "seed.yaml")
        return folder

    return make


def evolved(run):
    child = SEED.derive(settings={"top_k": 7})
    return replace(child, lineage=replace(child.lineage, run=run))


def test_a_policy_of_no_run():
    assert find_origin(SEED, None).sentence == UNTUNED


@pytest.mark.parametrize(
    ("options", "sentence", "real"),
    [
        ({"model": "offline"}, "tuned to the offline stand-in, which is not an LLM (run a)", False),
        ({}, "tuned to the offline stand-in, which is not an LLM (run a)", False),
        ({"model": "openai/x", "user_model": "openai/x"}, "tuned to openai/x (run a)", True),
        (
            {"model": "openai/x", "user_model": "offline"},
            "tuned to openai/x (run a), with users played by the offline stand-in, which is not an"
            " LLM",
            False,
        ),
    ],
)
def test_the_run_tells_who_played(run_folder, options, sentence, real):
    folder = run_folder("a", **options)
    origin = find_origin(evolved("a"), folder / "policies" / "gen-001.yaml")
    assert (origin.sentence, origin.real) == (sentence, real)
    assert find_origin(evolved("a"), folder) == origin


def test_what_a_run_began_with_counts(run_folder):
    run_folder("a", model="offline")
    real = {"model": "openai/x", "user_model": "openai/x"}
    folder = run_folder("b", seed=evolved("a"), **real)
    origin = find_origin(evolved("b"), folder)
    assert "tuned to openai/x (run b); before that tuned to the offline stand-in" in origin.sentence
    assert not origin.real
    own = run_folder("c", seed=evolved("c"), **real)
    assert find_origin(evolved("c"), own).real


def test_a_run_that_is_not_here_may_have_been_anything(tmp_path):
    origin = find_origin(evolved("gone"), tmp_path / "best.yaml")
    assert origin.sentence.startswith("tuned by run gone, whose folder is not here: perhaps to")
    assert not origin.real


def test_the_file_itself_says_it(tmp_path):
    said = replace(evolved("gone"), scores={"tuned_to": "tuned to openai/x (run gone)"})
    origin = find_origin(said, tmp_path)
    assert (origin.sentence, origin.real) == ("tuned to openai/x (run gone)", True)
