"""Removes what users said from every file of a run, and keeps its numbers and its policies.

What was said, what memory made of it, what was replied, and texts that may quote any of it give way
to a mark. Of a probe stays whether it was right. Such a run can be read, and never be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolve.codec import from_data, to_data
from evolve.event_lines import event_line
from evolve.folder import BEST, LOG, PARETO, SEED, SUMMARY
from evolve.journal import FILE, REDACTED, ROLLBACK, locked
from evolve.lm.call import decode, encode
from evolve.lm.calls import FILE as CALLS_FILE
from evolve.money import SENT_FILE
from evolve.report import REPORT
from evolve.results.journal_lines import events
from feedback.document import without_evidence
from feedback.records import Answer, ChatMessage, Entry, Rollout, StateProbe, Write
from policies.errors import RunFolderError
from policies.files import write_pieces, write_whole
from policies.policy import policy_to_yaml, read_policy

MARK = "[redacted]"
_OTHER = "[redacted, another]"  # a probe's reply that is not the truth
_QUOTING = {"text", "failed"}  # stages of verdicts whose reason may quote what was said
_FREE = {FILE, BEST, SEED, SUMMARY, CALLS_FILE, SENT_FILE, PARETO}
_MADE = (LOG, REPORT)  # all that they say stands elsewhere, in part in what users said
_FOLDERS = {"policies", "candidates", "feedback"}


@dataclass(frozen=True, slots=True)
class Redacted:
    """What was done.

    Attributes:
        changed: Names of the files that were written anew, by their place in the folder.
        removed: Those that were removed: all that they say stands elsewhere, or damaged.
        unknown: Those that no run writes: they were not looked into.
    """

    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unknown: tuple[str, ...]


def redact(folder: Path) -> Redacted:
    """Redact a run folder; the journal first, so a kill in between leaves a run that says so.

    Raises:
        UserError: The folder is in use, or a file cannot be read or written, or holds an event that
            this version does not know.
    """
    with locked(folder):
        try:
            return _redact(folder)
        except OSError as error:
            which = error.filename or f"one in {folder}"
            raise RunFolderError(
                f"Every file of a run is redacted, but {which} cannot be "
                f"({error.strerror}); mend the folder, and redact it again."
            ) from error


def _redact(folder: Path) -> Redacted:
    for path in sorted(folder.glob("candidates/*.yaml")):
        read_policy(path)  # one that cannot be read is told before anything is changed
    changed, removed = [FILE], []
    write_pieces(folder / FILE, _journal(folder))
    ways: tuple[tuple[str, Callable[[Path], None]], ...] = (
        ("candidates/*.yaml", _candidate),
        ("feedback/*.md", _feedback),
        (SUMMARY, _summary),
        (CALLS_FILE, _calls),
    )
    for pattern, way in ways:
        for path in sorted(folder.glob(pattern)):
            try:
                way(path)
                changed.append(str(path.relative_to(folder)))
            except (ValueError, RecursionError):
                removed.append(path)  # damaged: nobody knows what it holds
    removed += [path for path in sorted(folder.rglob(".*.tmp")) if path.is_file()]
    removed += [folder / name for name in _MADE if (folder / name).is_file()]
    for path in removed:
        path.unlink()
    return Redacted(
        tuple(changed),
        tuple(str(path.relative_to(folder)) for path in removed),
        tuple(_unknown(folder)),
    )


def _unknown(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_file() and str(place) not in _FREE and place.parts[0] not in _FOLDERS:
            yield str(place)


def _journal(folder: Path) -> Iterator[bytes]:
    for kind, key, data in events(folder):
        if kind not in KINDS:
            raise RunFolderError(
                f"A run is redacted by a version that knows all of its events, but this one does "
                f"not know {kind!r} in {folder / FILE}; use the version that wrote it, or purge "
                "the run."
            )
        yield event_line(kind, key, KINDS[kind](data))


def _header(data: Any) -> Any:
    return {**data, REDACTED: True}


def _rollout(data: Any) -> Any:
    return to_data(redacted_rollout(from_data(Rollout, data)))


def _life(data: Any) -> Any:
    return {**data, "rollout": _rollout(data["rollout"])}


def _proposal(data: Any) -> Any:
    """Texts that were refused may have copied what was said; gepa's replies are not checked yet."""
    if "reply" in data:
        return {**data, "reply": MARK}
    if data["rejected"] is None:
        return data
    texts = dict.fromkeys(data["proposal"]["texts"], MARK)
    return {**data, "proposal": {**data["proposal"], "texts": texts}, "rejected": MARK}


def _verdict(data: Any) -> Any:
    return {**data, "reason": MARK} if data["stage"] in _QUOTING else data


def _as_it_is(data: Any) -> Any:
    return data


KINDS: Mapping[str, Callable[[Any], Any]] = {
    "run": _header,
    "rollout": _rollout,
    "life": _life,
    "proposal": _proposal,
    "verdict": _verdict,
    **dict.fromkeys(
        ("introduction", "reserve", "replay", "bounds", "terms", "exhausted", "trial", ROLLBACK),
        _as_it_is,
    ),
}
"""Kind of event to what it says without what users said."""


def redacted_rollout(rollout: Rollout) -> Rollout:
    """A rollout without its words; of a probe stays whether it was right, read and known."""
    return replace(
        rollout,
        messages=tuple(_message(one) for one in rollout.messages),
        writes=tuple(_write(one) for one in rollout.writes),
        entries=tuple(_entry(one) for one in rollout.entries),
        answers=tuple(_answer(one) for one in rollout.answers),
        failure=None if rollout.failure is None else MARK,
    )


def _message(message: ChatMessage) -> ChatMessage:
    told = tuple((state, MARK) for state, _ in message.told)
    return replace(message, content=MARK, told=told)


def _write(write: Write) -> Write:
    return replace(write, format_error=None if write.format_error is None else MARK)


def _entry(entry: Entry) -> Entry:
    return replace(entry, label=MARK if entry.label else "", text=MARK)


def _answer(answer: Answer) -> Answer:
    probes = tuple(_probe(probe) for probe in answer.probes)
    return replace(answer, probes=probes, reply=MARK, probe_reply=MARK)


def _probe(probe: StateProbe) -> StateProbe:
    reply = None if probe.reply is None else MARK if probe.right else _OTHER
    return replace(probe, truth=MARK, reply=reply)


def _candidate(path: Path) -> None:
    policy = read_policy(path)
    if policy.scores.get("stage") in _QUOTING:
        scores = {**policy.scores, "reason": MARK}
        write_whole(path, policy_to_yaml(replace(policy, scores=scores)))


def _feedback(path: Path) -> None:
    write_whole(path, without_evidence(path.read_text(encoding="utf-8")))


def _summary(path: Path) -> None:
    """Why a run ended may quote why a rollout failed.

    Raises:
        ValueError: It is no summary.
    """
    summary = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(summary, dict):
        raise ValueError("a summary is an object")
    before, failed, _ = str(summary.get("ended", "")).partition(" failed: ")
    if failed:
        summary["ended"] = f"{before}{failed}{MARK}"
        write_whole(path, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")


def _calls(path: Path) -> None:
    """Lines that cannot be read are dropped: nobody knows what they hold."""
    with path.open("rb") as file:
        calls = (call for line in file if (call := decode(line)) is not None)
        write_pieces(
            path, (encode(replace(call, text=MARK if call.text else "")) for call in calls)
        )
