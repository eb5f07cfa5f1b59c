from __future__ import annotations

import numpy as np

from benchmarks.locomo import DEFAULTS, held_out, largest, measure_all, retriever_tables
from evolve.locomo.reading import dialogues_of
from evolve.locomo.retrieval import SCORERS, Finder
from tests.evolve.locomo.conftest import long_dialogue


def dialogues():
    return dialogues_of([long_dialogue(f"talk-{number}", 3) for number in range(3)], "f")


def test_retrievers_stand_side_by_side_others_among_them():
    def nothing(queries, entries):
        return np.zeros((len(queries), len(entries)))

    some = dialogues()
    finder = Finder(some, {"bm25": SCORERS["bm25"], "none": nothing}, {})
    recall, categories = retriever_tables(finder, ("bm25", "none"), 0)
    assert [row[0] for row in recall.rows] == ["bm25", "none"]
    at_5 = [float(row[1].split()[0]) for row in recall.rows]
    assert at_5[0] > at_5[1]
    assert "multi-hop (9)" in categories.columns


def test_settings_are_picked_without_the_dialogue_that_they_are_tried_on():
    some, seen = dialogues(), []

    def pick(finder, number):
        seen.append({found.dialogue for found in finder.find(DEFAULTS)})
        return {**DEFAULTS, "top_k": number + 1}

    way = held_out(some, Finder(some), pick)
    names = {dialogue.id for dialogue in some}
    assert [names - of for of in seen] == [{dialogue.id} for dialogue in some]
    assert [settings["top_k"] for settings in way.chosen] == [1, 2, 3]
    assert [found.dialogue for found in way.found] == [n for d in some for n in [d.id] * 15]


def test_the_largest_number_of_entries_keeps_the_limit():
    finder = Finder(dialogues())
    picked = largest(100)(finder, 0)
    assert 1 < picked["top_k"] < 10


def test_a_report_tells_what_was_left_out():
    report = measure_all(dialogues(), (200,), 4)
    assert [table.title for table in report.tables][-1].startswith("Held-out dialogues")
    assert len(report.claims) == 1
    assert "54 questions of 3 dialogues; 9 without evidence" in report.notes[0]
