"""Scores policies on dialogues: what they find without a model, and with one how they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from evolve.connecting import connected, find_site, make_workers
from evolve.gym.rollout import Span
from evolve.locomo.dialogues import Dialogue
from evolve.locomo.differences import over_dialogues
from evolve.locomo.retrieval import Finder, Found
from evolve.locomo.scoring import Scored, score_rollout
from evolve.locomo.users import users_of
from evolve.means import Means
from evolve.money import Paid
from evolve.roles import Models
from evolve.stats import Interval
from evolve.workers import LiveTask, WorldSpec
from feedback.records import Rollout
from feedback.scores import tokens_per_answer
from policies.errors import AllFailedError
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Answered:
    """How one policy answers.

    Attributes:
        scored: Its answers on the dialogues that failed for no policy.
        tokens: Prompt and completion tokens of write and answer calls, per answer.
    """

    scored: tuple[Scored, ...]
    tokens: float


@dataclass(frozen=True, slots=True)
class Answers:
    """How all policies answer.

    Attributes:
        answered: Policy id to its answers.
        failures: Rollouts that failed; their dialogues are left out for every policy.
        paid: What the calls cost.
    """

    answered: Mapping[str, Answered]
    failures: tuple[Rollout, ...]
    paid: Paid | None


def find_evidence(
    policies: Sequence[Policy], dialogues: Sequence[Dialogue]
) -> dict[str, tuple[Found, ...]]:
    """Id of every policy that keeps raw turns to what it finds; nobody answers anything.

    Empty where no question names its evidence.
    """
    if not any(question.evidence for dialogue in dialogues for question in dialogue.questions):
        return {}
    finder = Finder(dialogues)
    raw = {policy.id: policy for policy in policies if policy.architecture == "rag"}
    return {name: finder.find(policy.settings) for name, policy in raw.items()}


def answer_all(
    policies: Sequence[Policy],
    dialogues: Sequence[Dialogue],
    spec: WorldSpec,
    models: Models,
    means: Means,
) -> Answers:
    """Let every policy hear every dialogue and answer its questions.

    Raises:
        AllFailedError: No dialogue is left that failed for no policy.
    """
    users = users_of(dialogues)
    tasks = [
        LiveTask(spec, policy, user, Span(answers_only=policy.architecture == "none"))
        for policy in {policy.id: policy for policy in policies}.values()
        for user in users
    ]
    with ExitStack() as stack:
        connection = stack.enter_context(connected(models, means, None))
        workers = make_workers(stack, spec, find_site(stack, means), connection)
        rollouts = list(workers.run(tasks))
        paid = None if connection is None else Paid.of(connection)
    failures = tuple(rollout for rollout in rollouts if rollout.failure is not None)
    failed = {rollout.user for rollout in failures}
    if failed >= {user.id for user in users}:
        raise AllFailedError(
            "Scores need a dialogue on which no rollout failed, but all failed, the first for this "
            f"reason: {failures[0].failure}; mend it and evaluate again."
        )
    questions = {user.id: user.questions for user in users}
    by_id = {dialogue.id: dialogue for dialogue in dialogues}
    lived: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        if rollout.user not in failed:
            lived.setdefault(rollout.policy, []).append(rollout)
    answered = {
        policy: Answered(
            tuple(s for r in whole for s in score_rollout(r, by_id[r.user], questions[r.user])),
            tokens_per_answer(whole),
        )
        for policy, whole in lived.items()
    }
    return Answers(answered, failures, paid)


def f1_difference(one: Sequence[Scored], other: Sequence[Scored], seed: int) -> Interval:
    """Mean paired difference in F1 over questions, with dialogues drawn whole.

    Args:
        one: Answers of a policy.
        other: Answers of what it is compared with, to the same questions.
        seed: Of the run.
    """
    pairs = zip(one, other, strict=True)
    return over_dialogues(((mine.dialogue, mine.f1 - theirs.f1) for mine, theirs in pairs), seed)
