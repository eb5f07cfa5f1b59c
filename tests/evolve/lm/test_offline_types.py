"""The stand-in where it is told questions alone: it remembers what they speak of."""

from evolve.lm.offline import OfflineLM
from evolve.optimize.types_proposer import rewrite_types

OLD = "- anything at all that may matter one day\n"


def test_what_questions_speak_of_is_added_and_words_of_most_are_not():
    asked = [
        "Which option suits my breakfast habits?",
        "Which option suits my garden tools?",
        "Which option suits my winter coat?",
    ]
    said = "\n".join(f"- asked: {question}\n  remembered: nothing" for question in asked)
    new = rewrite_types(OfflineLM(), 0, OLD, said)
    assert {"breakfast habits", "garden tools", "winter coat"} & {
        line.removeprefix("- ") for line in new.splitlines()
    }
    assert "option" not in new


def test_headings_come_first_where_there_are_any():
    said = "### diet_style: 1 of 2 answers wrong\n- asked: Which garden tools?"
    assert rewrite_types(OfflineLM(), 0, "- anything at all that may matter\n", said).endswith(
        "- diet style\n"
    )
