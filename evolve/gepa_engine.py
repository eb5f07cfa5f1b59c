"""The engine ``gepa``: the gepa package evolves the policy's texts by rules of its own.

Its defaults are kept: a parent from the Pareto front over validation users, a minibatch of three
train users, acceptance of what is better there in sum, then all validation users; the best is the
highest average on those. They are the gate users. The budget is our ledger's, and its last word:
what it cannot pay for ends the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evolve.book import FREE_IN_A_ROW, Book
from evolve.codec import from_data, to_data
from evolve.gepa_adapter import Example, PolicyAdapter, reflect
from evolve.lm.meter import Meter
from evolve.money import once_paid
from evolve.optimize.archive import Archive
from evolve.optimize.base import unscored
from evolve.seeding import derive
from evolve.setup import Setup
from evolve.trial import diagnoses_of
from feedback.records import Usage
from feedback.routing import parts_of
from feedback.scores import tokens_per_answer
from policies.errors import BudgetExhaustedError, PolicyFileError
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class _Child:
    """What gepa made of a parent in one iteration.

    Attributes:
        name: As a candidate of the run.
        policy: The policy; the parent's content where the new text makes none.
        parent: What it was made of.
        refused: Why the new text makes no policy, or None.
    """

    name: str
    policy: Policy
    parent: Policy
    refused: str | None


class GepaEngine:
    """A run of gepa's.

    Args:
        setup: What the run is made of.
        archive: The seed.
        rewriter: Is asked what gepa's reflections ask.

    Attributes:
        book: Versions (gepa's pool; the best is the one that it calls so) and candidates.
        reason: Why the run ended.
        mass: Empty: gepa chooses texts in turn.
        screen: None: all candidates go on-policy.
    """

    def __init__(self, setup: Setup, archive: Archive, rewriter: Meter) -> None:
        self.reason = ""
        self.mass: Mapping[str, float] = {}
        self.screen = None
        self._setup = setup
        self._rewriter = rewriter
        self._seed = archive.versions[0].policy
        self.book = Book(setup, archive.choose(self._seed.id))
        self._adapter = PolicyAdapter(setup.evaluator, setup.field, self._seed)
        self._events = Events(self.book, setup, self._adapter)

    def run(self) -> None:
        """Let gepa evolve until the budget is spent, or it repeats itself."""
        try:
            self._optimize()
            if self._adapter.failure is not None:  # gepa only logs some of what it is raised
                raise self._adapter.failure
            self.reason = f"none of the last {self._events.free} iterations had anything to pay for"
        except BudgetExhaustedError as spent:
            self.reason = f"the budget is spent: {spent}"
            self._events.cut()

    def _optimize(self) -> None:
        from gepa.api import optimize

        field, heard, adapter = self._setup.field, self._events, self._adapter
        recorded = all(user.recorded is not None for user in field.train)
        acting = parts_of(self._seed, recorded=recorded)
        loose: dict[str, Any] = {"adapter": adapter, "callbacks": [heard]}  # its types ask for more
        optimize(
            seed_candidate={n: text for n, text in self._seed.texts.items() if n in acting},
            trainset=[Example(user, "train") for user in field.train],
            valset=[Example(user, "gate") for user in field.gate],
            reflection_lm=self._reflect,
            stop_callbacks=lambda _: heard.over or adapter.failure is not None,
            logger=_Silent(),
            seed=derive(self._setup.seed, "strategy", "gepa"),
            **loose,
        )

    def _reflect(self, prompt: str | list[dict[str, Any]]) -> str:
        """Ask the rewriter, once per iteration: its reply is journaled with what it cost."""
        with self._adapter.keeping():
            evaluator, name = self._setup.evaluator, self._events.name

            def ask() -> dict[str, Any]:
                self._rewriter.reset()
                seed = derive(self._setup.seed, "proposal", self._events.iteration)
                reply = reflect(self._rewriter, prompt, seed)
                usage = {role: to_data(spent) for role, spent in self._rewriter.usage}
                return {"reply": reply, "usage": usage}

            data = once_paid(evaluator.journal, "proposal", name, ask)
            for role, usage in data["usage"].items():
                evaluator.spend(role, from_data(Usage, usage))
            return str(data["reply"])


class Events:
    """Takes down what gepa says of its candidates; its methods are gepa's names.

    Args:
        book: Keeps the candidates.
        setup: What the run is made of.
        adapter: Knows policies by gepa's texts, and keeps what is raised here.

    Attributes:
        iteration: Gepa's, from 1.
        free: Iterations in a row in which no rollout had to be paid for.
    """

    def __init__(self, book: Book, setup: Setup, adapter: PolicyAdapter) -> None:
        self.iteration = 0
        self.free = 0
        self._book, self._setup, self._adapter = book, setup, adapter
        self._measured: dict[str, float] = {}
        self._parent = book.archive.versions[0].policy
        self._policies = {0: self._parent}  # by gepa's index
        self._child: _Child | None = None
        self._repeated = False
        self._scores: list[list[float]] = []
        self._spent = setup.evaluator.ledger.spent

    @property
    def name(self) -> str:
        """Of this iteration's candidate."""
        return f"gen-{self.iteration:03d}.0"

    @property
    def over(self) -> bool:
        """Whether gepa repeats itself."""
        return self.free >= FREE_IN_A_ROW

    def on_iteration_start(self, event: Mapping[str, Any]) -> None:
        """A new iteration begins, with no candidate yet."""
        self.iteration += 1
        self._child, self._scores = None, []
        self._spent = self._setup.evaluator.ledger.spent

    def on_candidate_selected(self, event: Mapping[str, Any]) -> None:
        """A parent was chosen."""
        self._parent = self._policies[event["candidate_idx"]]

    def on_evaluation_end(self, event: Mapping[str, Any]) -> None:
        """The parent, or then the candidate, was scored on the minibatch."""
        with self._adapter.keeping():
            self._scores.append(list(event["scores"]))
            if len(self._scores) == 1:
                book, tokens = self._book, self._tokens(self._parent)
                if tokens is not None:
                    book.archive = book.archive.measured(self._parent.id, tokens)
                field, best = self._setup.field, book.archive.best().policy
                scored = self._setup.evaluator.known(best, field.train, field.span)
                if any(one.diagnoses for one in scored):
                    book.show(self.iteration, scored)

    def on_proposal_end(self, event: Mapping[str, Any]) -> None:
        """A parent was given a new text."""
        with self._adapter.keeping():
            self._child = self._made(event["new_instructions"])

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """A member of the pool was scored on all gate users: the seed, or this candidate."""
        with self._adapter.keeping():
            number, book = event["candidate_idx"], self._book
            policy = self._parent if self._child is None else self._child.policy
            self._policies[number] = policy
            gate, self._repeated = self._on_gate(policy), policy.id in book.ids
            if self._repeated:
                book.archive = book.archive.judged(policy.id, gate)
            else:
                book.archive = book.archive.accept(policy, gate, self._tokens(policy))
            if event["is_best_program"]:
                book.archive = book.archive.choose(policy.id)

    def on_candidate_accepted(self, event: Mapping[str, Any]) -> None:
        """The candidate is in the pool."""
        with self._adapter.keeping():
            if self._repeated:
                self._close("duplicate", "equal to a policy of the pool")
                return
            gate = self._on_gate(self._now.policy)
            mean = sum(gate.values()) / len(gate) if gate else 0.0
            better = f"better on the minibatch, accuracy {mean:.4f} on {len(gate)} gate clusters"
            self._close("gate", better, accepted=True)

    def on_candidate_rejected(self, event: Mapping[str, Any]) -> None:
        """The candidate was not better on the minibatch, or its text makes no policy."""
        with self._adapter.keeping():
            if self._now.refused is not None:
                self._close("text", self._now.refused)
            else:
                self._close("minibatch", "not better than its parent on the minibatch")

    def on_iteration_end(self, event: Mapping[str, Any]) -> None:
        """See whether the iteration had to pay for anything."""
        paid = self._setup.evaluator.ledger.spent > self._spent
        self.free = 0 if paid else self.free + 1

    def cut(self) -> None:
        """Close the candidate that the budget left undecided."""
        if self._child is not None and self._child.name not in self._book.judged:
            if self._difference is None:
                self._close("budget", "the budget ended before its minibatch")
            else:
                self._close("gate", "the budget ended before all gate users")

    @property
    def _now(self) -> _Child:
        assert self._child is not None  # gepa accepts and rejects what it proposed
        return self._child

    @property
    def _difference(self) -> float | None:
        """Mean difference to the parent on the minibatch; None before both were scored there."""
        if len(self._scores) < 2:
            return None
        before, after = self._scores
        return (sum(after) - sum(before)) / len(before)

    def _made(self, texts: Mapping[str, str]) -> _Child:
        parent, name = self._parent, self.name
        operator = f"gepa:{'+'.join(texts)}"
        lineage = self._book.lineage(parent, name, operator, None)
        refused = None
        try:
            made = self._adapter.policy({**parent.texts, **texts})
        except PolicyFileError as error:
            made, refused = parent, str(error)
        new_name = f"{parent.architecture}-{name}"
        policy = replace(made, name=new_name, lineage=lineage, scores={})
        return _Child(name, policy, parent, refused)

    def _on_gate(self, policy: Policy) -> dict[str, float]:
        field = self._setup.field
        known = self._setup.evaluator.known(policy, field.gate, field.span)
        return field.accuracies(diagnoses_of(known), "gate")

    def _tokens(self, policy: Policy) -> float | None:
        """Per answer, on the train users that it was scored on."""
        field = self._setup.field
        known = self._setup.evaluator.known(policy, field.train, field.span)
        lived = [one.rollout for one in known if one.rollout.answers]
        if lived:
            self._measured[policy.id] = tokens_per_answer(lived)
        # Gepa may propose a text again; of one that was turned down no transcripts are kept.
        return self._measured.get(policy.id)

    def _close(self, stage: str, reason: str, *, accepted: bool = False) -> None:
        """Give the candidate its verdict."""
        child = self._now
        verdict = replace(
            unscored(child.policy, child.parent, stage, reason),
            accepted=accepted,
            minibatch_difference=None if child.refused else self._difference,
            tokens_per_answer=None if child.refused else self._tokens(child.policy),
        )
        self._book.record(child.name, child.policy, verdict)


class _Silent:
    """A logger that says nothing: a run has its own words and files."""

    def log(self, message: str) -> None:
        """Nothing."""
