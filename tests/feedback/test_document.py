"""The document for a person: where it comes from, what its numbers mean, nothing twice."""

import re

from feedback.document import MEANINGS, TRACE_MEANINGS, Source, document
from feedback.records import TraceStage
from policies.policy import seed_policy

AWE = seed_policy("awe")
NUMBERS = {
    "answers": 40,
    "accuracy": 0.25,
    "stale_live": 3,
    "trace.lost": 0.5,
    "state.diet|style": 0.125,
    "period.0.accuracy": 0.5,
    "period.2.accuracy": 0.25,
    "period.2.lucky": 0.0,
}
EVIDENCE = ["- lost: user a, period 1", '  - said in 0.0.0.u: "no - meat"', "  - shown nothing"]
OTHER = ["- lost: user b, period 1", "  - shown nothing"]


def page(texts=None) -> str:
    texts = texts or {"memory_types": ""}
    source = Source(AWE, ("a", "b"), (0, 2))
    return document(source, NUMBERS, dict.fromkeys(texts, 0.5), texts)


def sections(*texts: str) -> list[str]:
    """What is printed for parts with the given texts."""
    found = page({f"part_{i}": text for i, text in enumerate(texts)})
    return re.split("^## part_.*\n\n", found, flags=re.MULTILINE)[1:]


def test_it_opens_with_where_it_comes_from_and_what_stages_are():
    title, _, source, _, stages, *_ = page().split("\n")
    assert title == f"# Feedback on policy awe-seed ({AWE.id})"
    assert source.startswith("From 40 answers of 2 train users (a, b) in periods 0, 2.")
    assert "later generations with the same parent and users learn from the same" in source
    for word in ("write (", "read (", "utilization (", "format (", "lucky if", "docs/design.md"):
        assert word in stages


def test_numbers_and_steps_have_a_unit_and_a_meaning():
    assert set(TRACE_MEANINGS) == set(TraceStage)
    units = ("count", "share of the answers:", "tokens:", "mean per ")
    assert all(meaning.startswith(units) for meaning in MEANINGS.values())
    lines = page().split("\n")
    for row in (
        "| number | value | meaning |",
        f"| answers | 40 | {MEANINGS['answers']} |",
        f"| accuracy | 0.250 | {MEANINGS['accuracy']} |",
        "| trace | value | meaning |",
        f"| lost | 0.500 | {TRACE_MEANINGS[TraceStage.LOST]} |",
        "| diet\\|style | 0.125 |",
        "| 0 | 0.500 |  |",
        "| 2 | 0.250 | 0.000 |",
    ):
        assert row in lines


def test_a_sentence_above_each_table_says_what_it_is():
    lines = page().split("\n")
    heads = [place for place, line in enumerate(lines) if line.startswith("| --- |")]
    above = [lines[place - 3] for place in heads]
    assert len(above) == 4
    assert "*lost state*" in above[0]
    assert above[1].startswith("Share of all answers")
    assert above[2].startswith("Share of the answers requiring a state")
    assert above[3].startswith("Shares of the answers of each period")


def test_how_parts_and_states_are_counted_is_said_right_before_the_first_part():
    before = page().split("\n## ")[0].rstrip().split("\n")[-1]
    assert "splits each wrong answer over the parts" in before
    assert "counts whole (wrong answer, lost state) pairs" in before


def test_a_part_with_the_text_of_an_earlier_one_refers_to_it():
    text = "\n".join(["### s: 1 of 2 answers wrong (lost 1)", *EVIDENCE])
    first, second, third, fourth = sections(text, "", text, text)
    assert first.rstrip() == text
    assert second.rstrip() == "Nothing is addressed to it."
    assert third.rstrip() == fourth.rstrip() == "The same as for part_0 above."


def test_the_same_evidence_of_a_state_is_printed_once():
    opening = "An older value also stood in the context in 1 of these 3 cases."
    one = [
        "### s: 1 of 4 answers wrong (lost 1)",
        *EVIDENCE,
        "### t: 1 of 4 answers wrong (lost 1)",
    ]
    two = [opening, "### t: 2 of 4 answers wrong (lost 2)", *EVIDENCE, *OTHER]
    more = ["### s: 3 of 4 answers wrong (lost 3)", *EVIDENCE, *OTHER]
    first, second, third = sections(*("\n".join(text) for text in (one, [*two, *more], more)))
    assert first.rstrip().split("\n") == one
    brief = f"{EVIDENCE[0]}: as for part_0 above"
    assert second.rstrip().split("\n") == [*two, more[0], brief, *OTHER]
    assert third.rstrip().split("\n") == [more[0], brief, f"{OTHER[0]}: as for part_1 above"]
