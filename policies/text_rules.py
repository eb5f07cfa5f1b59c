"""What a rewritten text may not do: the rules that reject it, each with its reason.

A rewrite is rejected, and never repaired, if it

- is null, empty or the same as its parent but for white space;
- drops or invents a placeholder, or has braces that only look like one;
- no longer asks for a JSON object, which its parent does, or shows none;
- is longer than 2,000 tokens (UTF-8 bytes / 4) or twice its parent;
- is written mostly in another script or language than its parent (see ``policies.languages``);
- holds a value of the schema that its parent does not hold. Values are compared as whole words,
  with ``_`` and ``-`` as spaces, in any case. Not looked for are values that tell nothing by
  themselves and would reject any text: a single word of at most three letters, a single Chinese or
  Japanese character, numbers alone, and the single words of degree, amount and frequency in
  ``_ORDINARY_LIST`` (high, low, none, weekly, beginner, …). A value whose words all belong to names
  of states, such as ``running`` in ``running_distance``, is no value there;
- copies a run of six words (twelve characters in Chinese or Japanese), punctuation aside, that its
  parent does not have from a question, an answer choice or a user's message. A run whose words all
  belong to names of states is no copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from policies.errors import RejectedTextError
from policies.languages import latin_language, script
from policies.placeholders import names
from policies.text_form import check_form
from policies.words import Phrases, count_tokens, occurrences, phrases, runs, weight, words

MOST_TOKENS = 2000
"""Of a text, so that no rewrite grows without end; imports warn of longer ones."""
_MOST_GROWTH = 2

_NULLS = frozenset({"null", "none", "nil", "nan", "undefined", "n/a", "{}", "[]"})

_ORDINARY_LIST = """
none some many several most much less more all every each either neither both other mixed unknown
false true yes high higher highest low lower lowest medium moderate average normal regular standard
typical small smaller large larger huge tiny short long full half partial limited unlimited minimal
maximal sufficient ample plenty abundant scarce extensive basic simple complex easy hard difficult
beginner intermediate advanced light heavy mild strong weak slow fast quick early late good better
best poor stable steady flexible fixed tight generous manageable never rarely seldom sometimes
occasional occasionally often frequent frequently usually always hourly daily weekly biweekly
monthly quarterly yearly annually
较高 较低 很高 很低 中等 一般 普通 没有 所有 经常 偶尔 很少 从不 每天 每周 每月 每年 简单 复杂 有限
充足 初级 中级 高级 高い 低い なし 少ない 多い 毎日 毎週 毎月
"""
_ORDINARY = frozenset(_ORDINARY_LIST.split())


@dataclass(frozen=True, slots=True)
class RewriteRules:
    """What rewrites are checked against; built once per run.

    Attributes:
        states: Names of states, as phrases of words.
        values: Values that no rewrite may newly hold, as phrases of words.
        forbidden: Runs of words of texts that no rewrite may copy from.
    """

    states: Phrases
    values: Phrases
    forbidden: frozenset[str]

    @classmethod
    def build(
        cls, schemas: Iterable[Mapping[str, Iterable[str]]], forbidden_texts: Iterable[str]
    ) -> Self:
        """Rules for the users of a run.

        Args:
            schemas: Per user or once, state name to its possible values.
            forbidden_texts: Questions, answer choices and users' messages.
        """
        merged = [(state, values) for schema in schemas for state, values in schema.items()]
        telling = (value for _, values in merged for value in values if _tells(value))
        states = phrases(state for state, _ in merged)
        return cls(states, phrases(telling), frozenset()).forbidding(forbidden_texts)

    def forbidding(self, texts: Iterable[str]) -> Self:
        """These rules with more texts that may not be copied from, such as new messages."""
        found = (run for text in texts for run in _runs(words(text)))
        return replace(self, forbidden=self.forbidden.union(found))


def check_rewrite(parent_text: str, new_text: str | None, rules: RewriteRules) -> None:
    """Check a rewritten text against the text that it is to replace.

    Args:
        parent_text: The text that was rewritten.
        new_text: The rewrite; None where a model gave none.
        rules: The rules of the run.

    Raises:
        RejectedTextError: A rule is broken; the message is the reason to record.
    """
    if new_text is None or not new_text.strip() or new_text.strip("\"'` \n").lower() in _NULLS:
        raise RejectedTextError("the rewrite is empty or null")
    if new_text.split() == parent_text.split():
        raise RejectedTextError("the rewrite is the same as its parent")
    _check_placeholders(parent_text, new_text)
    check_form(parent_text, new_text)
    _check_length(parent_text, new_text)
    parent, new = words(parent_text), words(new_text)
    _check_language(_own_words(parent, rules), _own_words(new, rules))
    _check_values(parent, new, rules)
    _check_copies(parent, new, rules)


def _check_placeholders(parent_text: str, new_text: str) -> None:
    before, after = set(names(parent_text)), set(names(new_text))
    for verb, found in (("drops", before - after), ("invents", after - before)):
        if found:
            listed = ", ".join(f"{{{{{name}}}}}" for name in sorted(found))
            raise RejectedTextError(f"the rewrite {verb} the placeholder {listed}")


def _check_length(parent_text: str, new_text: str) -> None:
    before, after = count_tokens(parent_text), count_tokens(new_text)
    if after > MOST_TOKENS:
        raise RejectedTextError(f"the rewrite has {after} tokens, more than {MOST_TOKENS}")
    if after > _MOST_GROWTH * before:
        raise RejectedTextError(
            f"the rewrite has {after} tokens, more than twice the {before} of its parent"
        )


def _check_language(parent: tuple[str, ...], new: tuple[str, ...]) -> None:
    before, after = script(parent), script(new)
    if before == after == "Latin":
        before, after = latin_language(parent) or "", latin_language(new) or ""
    if before and after and before != after:
        raise RejectedTextError(f"the rewrite is mostly {after} and its parent {before}")


def _check_values(parent: tuple[str, ...], new: tuple[str, ...], rules: RewriteRules) -> None:
    known = {parent[start:end] for start, end in occurrences(parent, rules.values)}
    named = _named(new, rules)
    for start, end in occurrences(new, rules.values):
        if new[start:end] not in known and not named.issuperset(range(start, end)):
            raise RejectedTextError(
                f"the rewrite holds the value {_shown(new[start:end])!r}, which its parent does not"
            )


def _check_copies(parent: tuple[str, ...], new: tuple[str, ...], rules: RewriteRules) -> None:
    known = set(_runs(parent))
    named = _named(new, rules)
    for start, end in runs(new):
        run = " ".join(new[start:end])
        copied = run in rules.forbidden and run not in known
        if copied and not named.issuperset(range(start, end)):
            raise RejectedTextError(
                f"the rewrite copies {_shown(new[start:end])!r} from a question, an answer choice"
                " or a user's message"
            )


def _runs(text_words: tuple[str, ...]) -> Iterable[str]:
    return (" ".join(text_words[start:end]) for start, end in runs(text_words))


def _named(text_words: tuple[str, ...], rules: RewriteRules) -> set[int]:
    """Positions of the words that belong to names of states."""
    return {
        position
        for start, end in occurrences(text_words, rules.states)
        for position in range(start, end)
    }


def _own_words(text_words: tuple[str, ...], rules: RewriteRules) -> tuple[str, ...]:
    """The words that are neither placeholders nor names of states, which keep their language."""
    named = _named(text_words, rules)
    return tuple(
        word
        for position, word in enumerate(text_words)
        if position not in named and not word.startswith("{{")
    )


def _tells(value: str) -> bool:
    """Whether a value says something by itself (see the module's docstring)."""
    parts = words(value)
    if all(part.isdigit() for part in parts) or "".join(parts) in _ORDINARY:
        return False
    return len(parts) > 1 or (weight(parts[0]) > 1 and len(parts[0]) > 3)


def _shown(phrase: tuple[str, ...]) -> str:
    """A phrase as people write it: no spaces between Chinese or Japanese characters."""
    shown = ""
    for word in phrase:
        gap = " " if shown and (weight(word) > 1 or weight(shown[-1]) > 1) else ""
        shown += gap + word
    return shown
