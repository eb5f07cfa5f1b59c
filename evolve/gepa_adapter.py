"""What the gepa package needs to know of policies: how one is scored, and what its failures say.

A component is one text of the policy, an example one user, and its score the accuracy of one
rollout. Rollouts are paid through the evaluator like those of every strategy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from evolve.book import changed
from evolve.evaluate import Evaluator, Job, Scored
from evolve.field import Field, Part
from evolve.gym.users import User
from evolve.lm.base import LM, Message, Request
from evolve.lm.dspy_lm import MOST_TOKENS, TEMPERATURE
from feedback.digest import Case, Feedback, build_feedback
from feedback.records import Diagnosis, Stage
from policies.errors import PolicyFileError
from policies.placeholders import required
from policies.policy import Policy

ROLES: Mapping[str, str] = {
    "memory_types": "the types of information about the user that are written down, one per bullet",
    "write_prompt": "how new messages are turned into notes on the user",
    "reply_prompt": "how the assistant replies to the user's messages",
    "answer_prompt": "how the assistant answers a question for the user from what it remembers",
}
"""Text of a policy to what it is for, as a model is told that is to improve it."""
_NOTHING = "No wrong answer was blamed on these instructions."


@dataclass(frozen=True, slots=True)
class Example:
    """One example of gepa's.

    Attributes:
        user: Lives the policy.
        part: Whose answers count: those for learning, or those for validation.
    """

    user: User
    part: Part


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What is known of one example.

    Attributes:
        example: The example.
        policy: What was lived; None where the texts make no policy.
        scored: The rollout; None likewise.
        diagnoses: Those that count.
    """

    example: Example
    policy: Policy | None
    scored: Scored | None
    diagnoses: tuple[Diagnosis, ...]


class PolicyAdapter:
    """Gepa's view of a run.

    Gepa logs what most of its parts raise and goes on. So what was raised here is kept, and raised
    again by whatever gepa asks for next.

    Args:
        evaluator: Scores and pays.
        field: Which answers count.
        seed: The policy whose settings all candidates have.

    Attributes:
        failure: What was raised, if anything.
        propose_new_texts: None: gepa proposes in its own way. It must be there.
    """

    propose_new_texts = None

    def __init__(self, evaluator: Evaluator, field: Field, seed: Policy) -> None:
        self.failure: Exception | None = None
        self._evaluator, self._field, self._seed = evaluator, field, seed

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep what is raised within, and do nothing more once something was."""
        if self.failure is not None:
            raise self.failure
        try:
            yield
        except Exception as error:
            self.failure = error
            raise

    def policy(self, candidate: Mapping[str, str]) -> Policy:
        """The policy of gepa's texts.

        Raises:
            PolicyFileError: They make none.
        """
        return changed(self._seed, candidate, self._seed.name, self._seed.lineage)

    def evaluate(
        self, batch: list[Example], candidate: dict[str, str], capture_traces: bool = False
    ) -> Any:
        """Score a candidate on examples; texts that make no policy, and failures of it, score 0.

        A rollout that failed for outside reasons says nothing of the candidate: it scores as the
        others of its batch do in the mean.
        """
        from gepa.core.adapter import EvaluationBatch

        with self.keeping():
            seen = self._lived(batch, candidate)
            known = [_accuracy(one) for one in seen]
            there = [score for score in known if score is not None]
            mean = sum(there) / len(there) if there else 0.0
            scores = [mean if score is None else score for score in known]
            outputs = [one.example.user.id for one in seen]
            return EvaluationBatch(
                outputs=outputs, scores=scores, trajectories=seen if capture_traces else None
            )

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """What gepa shows the model that is to improve a text: one record per example."""
        with self.keeping():
            return {
                name: [self._record(one, name) for one in eval_batch.trajectories]
                for name in components_to_update
            }

    def _lived(self, batch: Sequence[Example], candidate: Mapping[str, str]) -> list[Trajectory]:
        try:
            policy = self.policy(candidate)
        except PolicyFileError:
            return [Trajectory(example, None, None, ()) for example in batch]
        span = self._field.span
        scored = self._evaluator.score([Job(policy, e.user, span(e.user)) for e in batch])
        return [
            Trajectory(example, policy, one, tuple(self._field.select(one.diagnoses, example.part)))
            for example, one in zip(batch, scored, strict=True)
        ]

    def _record(self, one: Trajectory, name: str) -> dict[str, Any]:
        right = sum(d.stage is Stage.RIGHT for d in one.diagnoses)
        inputs = {"Instructions": f"{name}: {ROLES[name]}"}
        kept = sorted(required(self._seed.architecture, name))
        if kept:
            inputs["Placeholders to keep"] = ", ".join(f"{{{{{p}}}}}" for p in kept)
        return {
            "Inputs": inputs,
            "Generated Outputs": f"{right} of {len(one.diagnoses)} questions answered right",
            "Feedback": _said(one, name),
        }


def proposed(lm: LM, policy: Policy, feedback: Feedback, seed: int) -> dict[str, str]:
    """New texts as one iteration of gepa proposes them, for an estimate of what that calls.

    Args:
        lm: The rewriter.
        policy: The parent.
        feedback: On it; shown as that of one example.
        seed: Of this proposal, and of which text it is for.
    """
    from gepa.proposer.reflective_mutation.reflection_lm import StatelessReflectionLM

    names = [name for name in policy.texts if name in feedback.texts]
    name = names[seed % len(names)]
    said = feedback.texts.get(name, "").strip() or _NOTHING
    record = {"Inputs": f"{name}: {ROLES[name]}", "Feedback": said}
    asked = StatelessReflectionLM(lambda prompt: reflect(lm, prompt, seed))
    return dict(asked.reflect(dict(policy.texts), {name: [record]}, [name])[0].new_texts)


def reflect(lm: LM, prompt: str | list[dict[str, Any]], seed: int) -> str:
    """What the rewriter replies to gepa's own prompt.

    Args:
        lm: The rewriter.
        prompt: As gepa words it; gepa reads the reply, too.
        seed: Of this reply.
    """
    content = prompt if isinstance(prompt, str) else "\n\n".join(m["content"] for m in prompt)
    request = Request(
        task="rewrite",
        messages=(Message("user", content),),
        seed=seed,
        max_tokens=MOST_TOKENS,
        temperature=TEMPERATURE,
    )
    return lm.complete(request).text


def _accuracy(one: Trajectory) -> float | None:
    """Share of right answers; None where the rollout failed for outside reasons."""
    if one.scored is not None and one.scored.rollout.failure_kind == "outside":
        return None
    right = sum(diagnosis.stage is Stage.RIGHT for diagnosis in one.diagnoses)
    return right / len(one.diagnoses) if one.diagnoses else 0.0


def _said(one: Trajectory, name: str) -> str:
    """The feedback of one rollout to one text."""
    if one.policy is None or one.scored is None:
        return "The instructions could not be used: a placeholder is missing or unknown."
    rollout = one.scored.rollout
    if rollout.failure is not None:
        return f"The assistant failed: {rollout.failure}"
    if not rollout.answers:  # of a candidate that was turned down once, and forgotten
        return _NOTHING
    case = Case(rollout, one.example.user.truth(), one.diagnoses)
    return build_feedback(one.policy, [case]).texts.get(name, "").strip() or _NOTHING
