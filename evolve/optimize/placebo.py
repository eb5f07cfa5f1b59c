"""The placebo: as many remembered types as a strategy would add, made of random words.

What it gains, mere extra slots buy. Everything else is left as the strategy proposes it, settings
and other texts included.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import replace

from evolve.optimize.base import (
    Proposal,
    ProposalContext,
    Proposer,
    RejectedRewriteError,
    Verdict,
)
from evolve.seeding import derive
from policies.errors import RejectedTextError
from policies.languages import script
from policies.text_rules import RewriteRules, check_rewrite
from policies.words import words

_LIST = "memory_types"
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")

# Nouns of stone, sky, ships, heraldry and print: nothing that people tell an assistant about.
_NOUNS = (
    "basalt gneiss feldspar obsidian moraine isthmus archipelago fjord tundra geyser stalactite"
    " meteor nebula parallax equinox perihelion quasar pulsar aurora zenith nadir eclipse comet"
    " halyard bowsprit capstan keel rudder mizzen binnacle gunwale ballast rigging anchor buoy"
    " chevron escutcheon griffin wyvern rampart portcullis gargoyle buttress obelisk parapet moat"
    " serif ligature colophon vellum parchment glyph rune cuneiform papyrus watermark"
    " isotope lattice prism solenoid gyroscope flywheel sprocket crankshaft piston camshaft rivet"
)
_NOUNS_ZH = (
    "玄武岩 花岗岩 冰川 峡湾 苔原 间歇泉 钟乳石 流星 星云 彗星 极光 日食 桅杆 船舵 锚链 浮标 吊桥"
    " 石碑 城垛 羊皮纸 楔形文 水印 同位素 棱镜 陀螺 飞轮 活塞 铆钉 经纬仪 罗盘"
)


class PlaceboProposer:
    """Another proposer's proposals, with random words for every remembered type that it adds.

    Args:
        inner: What proposes; it observes every verdict.
        rules: What texts must obey, random ones too.
        seed: Of the run.
    """

    def __init__(self, inner: Proposer, rules: RewriteRules, seed: int) -> None:
        self._inner = inner
        self._rules = rules
        self._seed = seed

    def propose(self, context: ProposalContext) -> Proposal:
        """The inner proposal, its new types replaced.

        Raises:
            RejectedRewriteError: The inner proposal, or the text of random words, breaks a rule.
            MnemotuneError: The model failed.
        """
        try:
            proposal = self._inner.propose(context)
        except RejectedRewriteError as error:
            raise RejectedRewriteError(str(error), _renamed(error.proposal)) from error
        proposal = _renamed(proposal)
        if _LIST not in proposal.texts:
            return proposal
        draw = random.Random(derive(self._seed, "placebo", context.seed))
        text = _with_random_types(proposal.texts[_LIST], context, draw)
        proposal = replace(proposal, texts={**proposal.texts, _LIST: text})
        try:
            check_rewrite(context.parent.texts[_LIST], text, self._rules)
        except RejectedTextError as error:
            raise RejectedRewriteError(str(error), proposal) from error
        return proposal

    def observe(self, verdict: Verdict) -> None:
        """Pass it on."""
        self._inner.observe(verdict)


def _renamed(proposal: Proposal) -> Proposal:
    return replace(proposal, operator=f"placebo:{proposal.operator.removeprefix('rewrite:')}")


def _with_random_types(text: str, context: ProposalContext, draw: random.Random) -> str:
    """The list, with random words on every line that no version had before."""
    versions = (context.parent, *context.versions)
    known = {line.strip() for v in versions for line in v.texts[_LIST].split("\n")}
    chinese = script(words(context.parent.texts[_LIST])) == "Chinese"
    used = set(known)
    room = 2 * len(context.parent.texts[_LIST].encode())  # as a rewrite may grow
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() in known:
            lines.append(line)
            continue
        marker = found[0] if (found := _BULLET.match(line)) else ""
        wanted = line[len(marker) :].strip()
        new = next(t for t in _random_types(wanted, chinese, draw) if marker + t not in used)
        used.add(marker + new)
        if len("\n".join([*lines, marker + new]).encode()) <= room:
            lines.append(marker + new)
    return "\n".join(lines)


def _random_types(wanted: str, chinese: bool, draw: random.Random) -> Iterator[str]:
    """Random names, each of about as many words and letters as the one to replace."""
    nouns, gap = (_NOUNS_ZH.split(), "") if chinese else (_NOUNS.split(), " ")
    count = min(3, max(1, len(wanted) // 4 if chinese else len(wanted.split())))
    for drawing in itertools.count():
        several = min(3, count + drawing // 20)  # one more word once short names are used up
        drawn = [gap.join(draw.sample(nouns, several)) for _ in range(16)]
        # Not longer than the real one where possible, so that the same limit holds both.
        yield min(drawn, key=lambda name: (len(name) > len(wanted), abs(len(name) - len(wanted))))
