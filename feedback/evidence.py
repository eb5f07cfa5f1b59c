"""The evidence for one loss, in lines: what was said, held, shown and answered."""

from __future__ import annotations

import re
from itertools import takewhile

from feedback.losses import Loss
from feedback.reading import FLOOR
from feedback.records import ChatMessage, Entry, TraceStage, Write
from feedback.trace import revealing_turns

OLDER_VALUE = "An older value also stood in the context."

_QUOTE = 400  # characters of a user's message
_QUESTION = 120  # characters of a question
_CHOICE = 100  # characters of a choice
_LEAD = 20  # characters quoted of a long beginning that two choices share
_FACT = 90  # characters of an entry
_FACTS = 4  # entries listed of a write or a context
_TURNS = 2  # revealing turns quoted, the latest
_TIME = re.compile(r"\[[^\]\n]*?(\d{4}-[\d: .T/-]+)\]\s*")  # a session's first message starts so


def evidence_lines(loss: Loss) -> tuple[str, ...]:
    """A Markdown list item of several lines; the same loss gives the same lines."""
    scene, answer = loss.scene, loss.answer
    turns = (
        revealing_turns(loss.state, answer.period, scene.index, scene.truth)
        if scene.truth.traceable
        else ()
    )
    lines = [f"- {loss.stage}: user {scene.truth.user}, period {answer.period}"]
    lines += [f"said in {_when(turn)}" for turn in turns[-_TURNS:]]
    if not turns:
        lines.append(_unsaid(loss))
    lines += _written(loss, turns)
    lines += _shown(loss, turns)
    lines.append(_answered(loss))
    if loss.older_shown:
        lines.append(OLDER_VALUE)
    return (lines[0], *(f"  - {line}" for line in lines[1:]))


def shortened(text: str, limit: int) -> str:
    """A text on one line, cut to a number of characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _when(turn: ChatMessage) -> str:
    found = _TIME.match(turn.content)
    time = f", {found.group(1).strip()}" if found else ""
    return f'{turn.id}{time}: "{shortened(_TIME.sub("", turn.content, count=1), _QUOTE)}"'


def _unsaid(loss: Loss) -> str:
    truth, period = loss.scene.truth, loss.answer.period
    began = truth.write_period(loss.state, period)
    what = "it never changed" if began == 0 else f"it changed in period {began}"
    if truth.traceable:
        return f"never said from period {began} to {period}; {what}"
    return f"{what}; which turn told it is not known"


def _written(loss: Loss, turns: tuple[ChatMessage, ...]) -> list[str]:
    index, period = loss.scene.index, loss.answer.period
    writes: dict[int, Write] = {}
    for turn in turns[-_TURNS:]:
        for write in index.written_in.get(turn.id, ()):
            if write.period <= period:
                writes[write.number] = write
    lines = []
    for number in sorted(writes):
        write = writes[number]
        what = _facts(list(index.made_in.get(number, ()))) or "nothing"
        if write.format_error is not None:
            what = f"nothing, as the reply could not be read ({shortened(write.format_error, 80)})"
        among = f" ({loss.competing} told facts competed)" if loss.competing is not None else ""
        lines.append(f"write {number} of period {write.period} made: {what}{among}")
    if turns and not writes and not index.keeps_history:
        lines.append("not written to memory")
    if loss.stage == TraceStage.LOST:
        lines += _lost(loss, turns)
    return lines


def _lost(loss: Loss, turns: tuple[ChatMessage, ...]) -> list[str]:
    """How the latest copy went."""
    index, period = loss.scene.index, loss.answer.period
    gone = [
        entry
        for turn in turns
        for entry in index.by_source.get(turn.id, ())
        if entry.retired is not None and index.writes[entry.retired].period <= period
    ]
    if not gone:
        return ["it fell out of the history that fits"] if index.keeps_history else []
    about = [entry for entry in gone if _likeness(loss, entry) >= FLOOR]
    last = max(about or gone, key=lambda entry: (entry.retired, entry.id))
    write = index.writes[last.retired or 0]
    heirs = [e for e in index.made_in.get(write.number, ()) if e.label == last.label]
    by = f" by {_facts(heirs)}" if last.label and heirs else ""
    return [f"{_facts([last])} was retired in period {write.period} ({last.retired_because}){by}"]


def _shown(loss: Loss, turns: tuple[ChatMessage, ...]) -> list[str]:
    index, answer = loss.scene.index, loss.answer
    shown = [index.entries[i] for i in answer.context.entries if i in index.entries]
    live = sum(index.live(entry, answer.period) for entry in loss.scene.rollout.entries)
    seen = []
    if live or shown:
        seen.append(f"{len(shown)} of {live} memories")
    if answer.context.messages:
        raw = any(turn.id in answer.context.messages for turn in turns)
        among = ", that turn among them" if raw else ""
        seen.append(f"{len(answer.context.messages)} messages{among}")
    line = f"the answer was shown {' and '.join(seen) or 'nothing'}"
    told = {turn.id for turn in turns}
    about = [
        entry
        for entry in _nearest_first(loss, shown)
        if _likeness(loss, entry) >= FLOOR or (not entry.label and told & set(entry.sources))
    ]
    if about:
        return [f"{line}; about it: {_facts(about)}"]
    return [f"{line}; none of the memories resembles it" if shown else line]


def _answered(loss: Loss) -> str:
    answer, truth = loss.answer, loss.scene.truth
    asked = f'asked "{shortened(truth.queries[answer.question], _QUESTION)}"'
    choices = truth.choices[answer.question]
    right = choices[answer.right_choice]
    if answer.chosen is None:
        replied = f'{asked}, replied "{shortened(answer.reply, 80)}", which names no choice'
        return f'{replied}; right was "{shortened(right, _CHOICE)}"'
    wrong, right = _told_apart(choices[answer.chosen], right)
    chose = f'{asked}, chose "{wrong}" where "{right}" was right'
    probe = loss.probe
    if probe is None:
        return chose
    if probe.right:
        return f"{chose}, though the probe said {_plain(probe.truth)}, which is true"
    if probe.unknown:
        said = "that it does not know"
    else:
        said = "nothing readable" if probe.reply is None else _plain(probe.reply)
    return f"{chose}; the probe said {said}, true is {_plain(probe.truth)}"


def _told_apart(one: str, other: str) -> tuple[str, str]:
    """Two choices, shortened; of a long beginning that they share only the end is left."""
    lines = [" ".join(text.split()) for text in (one, other)]
    pairs = zip(*lines, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if shared > _CHOICE // 2:
        lead = lines[0][shared - _LEAD : shared]
        lead = lead.partition(" ")[2] or lead  # from the beginning of a word
        lines = [f"…{lead}{line[shared:]}" for line in lines]
    return shortened(lines[0], _CHOICE), shortened(lines[1], _CHOICE)


def _nearest_first(loss: Loss, entries: list[Entry]) -> list[Entry]:
    loss.scene.reader.read([(entry.label, entry.text) for entry in entries])  # in one batch
    return sorted(entries, key=lambda entry: (-round(_likeness(loss, entry), 6), entry.id))


def _likeness(loss: Loss, entry: Entry) -> float:
    (reading,) = loss.scene.reader.read([(entry.label, entry.text)])
    return reading.resemblance[loss.state]


def _facts(entries: list[Entry]) -> str:
    shown = []
    for entry in entries[:_FACTS]:
        fact = shortened(_TIME.sub("", entry.text), _FACT)
        shown.append(f"[{entry.label}: {fact}]" if entry.label else f"[{fact}]")
    more = f" and {len(entries) - _FACTS} more" if len(entries) > _FACTS else ""
    return " ".join(shown) + more


def _plain(value: str) -> str:
    return f'"{value}"'
