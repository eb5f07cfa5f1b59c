"""What a candidate does worse: by states, on answers that both gave."""

from __future__ import annotations

from feedback.changes import blame_changes
from feedback.records import Diagnosis, Stage, StateTrace, TraceStage


def said(question: int, stage: Stage, *states: str, traced: bool = False) -> Diagnosis:
    trace = tuple(StateTrace(state, TraceStage.LOST) for state in states) if traced else ()
    return Diagnosis("u1", 0, question, 4, stage, failed_states=states, trace=trace)


def test_worst_first_and_only_what_changed() -> None:
    theirs = [
        said(0, Stage.WRITE, "tea", "pet"),
        said(1, Stage.RIGHT),
        said(2, Stage.RIGHT),
        said(3, Stage.READ, "home", traced=True),
    ]
    ours = [
        said(0, Stage.WRITE, "pet"),
        said(1, Stage.READ, "cup", traced=True),
        said(2, Stage.WRITE, "cup"),
        said(3, Stage.READ, "home"),
    ]
    assert list(blame_changes(ours, theirs).items()) == [("cup", 2), ("tea", -1)]


def test_answers_that_one_side_lacks_do_not_count() -> None:
    assert blame_changes([said(0, Stage.WRITE, "tea")], [said(1, Stage.WRITE, "pet")]) == {}


def test_a_right_answer_blames_nothing() -> None:
    assert blame_changes([said(0, Stage.RIGHT, "tea")], [said(0, Stage.RIGHT)]) == {}
