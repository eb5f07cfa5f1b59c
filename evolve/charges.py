"""What is scored as one job, and how new jobs are lived and charged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from evolve.gym.probes import ProbeMode
from evolve.gym.rollout import Span, World, share
from evolve.gym.users import User
from evolve.probing import Probing
from feedback.records import Rollout
from policies.policy import Policy

Key = tuple[str, str, int | None, bool]
_WHOLE = Span()


@dataclass(frozen=True, slots=True)
class Job:
    """One (policy, user) pair to score, and how much of the user's life is needed.

    Attributes:
        policy: Lives.
        user: With this user.
        span: How much of it; how it is probed is settled when it is reserved.
        single: Whether each question has a probe of its own whatever was found, as reports need.
    """

    policy: Policy
    user: User
    span: Span = _WHOLE
    single: bool = False

    @property
    def key(self) -> Key:
        """What makes two jobs the same."""
        return self.policy.id, self.user.id, self.span.periods, self.span.answers_only

    @property
    def life(self) -> tuple[str, ...]:
        """What makes two rollouts the same but for their answers; of answers alone nothing does."""
        if self.span.answers_only:
            return (*map(str, self.key),)
        policy = self.policy
        texts = (text for name, text in policy.texts.items() if name != "answer_prompt")
        settings = (f"{name}={value!r}" for name, value in sorted(policy.settings.items()))
        return policy.architecture, self.user.id, str(self.span.periods), *texts, *settings

    @property
    def name(self) -> str:
        """The key as the journal writes it."""
        periods = "" if self.span.periods is None else f":{self.span.periods}"
        return f"{self.policy.id}:{self.user.id}{periods}{':a' * self.span.answers_only}"


@dataclass(frozen=True, slots=True)
class Reserved:
    """A new job whose place is settled.

    Attributes:
        job: The job.
        probes: How it is probed.
        charge: In rollouts.
    """

    job: Job
    probes: ProbeMode
    charge: Fraction

    @property
    def span(self) -> Span:
        """What is lived."""
        return replace(self.job.span, probes=self.probes)


class Charges:
    """Settles how new jobs are probed, and what they are charged.

    Two policies that differ in the answer prompt alone live the same life, of which only the
    answers are new: the request cache answers all other calls of the second. So it is probed as the
    first was, singly where that was probed both ways.

    Args:
        probing: Decides.
        world: Tells how long lives are.
    """

    def __init__(self, probing: Probing, world: World) -> None:
        self._probing, self._world = probing, world
        self._lives: dict[tuple[str, ...], ProbeMode] = {}

    def settle(self, new: Sequence[Job], modes: Sequence[ProbeMode] = ()) -> list[Reserved]:
        """How new jobs are lived if they are reserved now, in this order.

        Args:
            new: None of them is known.
            modes: How they are probed, where that was settled before.
        """
        varying = self._parted(new)[1]
        fresh = iter(self._probing.modes([job.policy for job in varying]))
        lives, reserved = dict(self._lives), list[Reserved]()
        for place, job in enumerate(new):
            before = self._before(job, lives)
            probes: ProbeMode = before or "single"
            if before is None and _may_vary(job):
                probes = next(fresh)
            probes = modes[place] if modes else probes
            charge = self._share(job, probes, known=before is not None)
            reserved.append(Reserved(job, probes, charge))
            lives[job.life] = _again(probes)
        return reserved

    def most(self, new: Sequence[Job]) -> Fraction:
        """What new jobs are charged at most, in whatever parts and order they are reserved.

        What joint probes would save does not count: they may be given up in between.
        """
        fixed, varying = self._parted(new)
        total = sum((self._share(*one) for one in fixed), start=Fraction(0))
        for architecture in sorted({job.policy.architecture for job in varying}):
            jobs = [job for job in varying if job.policy.architecture == architecture]
            looks = {job.policy.id for job in jobs if self._probing.is_new(job.policy.id)}
            lives = [(job.user, job.span) for job in jobs]
            total += self._bound(architecture, lives, len(looks))
        return total

    def most_of_new(self, lives: Sequence[tuple[User, Span]]) -> Fraction:
        """What a policy that is yet to be proposed is charged at most.

        Args:
            lives: Users, and how much of their lives is needed.
        """
        bounds = [self._bound(one, lives, 1) for one in self._probing.architectures]
        return max(bounds, default=self._bound("", lives, 0))

    def begin(self, reserved: Iterable[Reserved]) -> None:
        """Jobs are reserved."""
        for one in reserved:
            self._probing.begin(one.job.policy, one.probes)

    def end(self, one: Reserved, rollout: Rollout) -> None:
        """A rollout is in the journal."""
        self._probing.end(one.job.policy, one.probes, rollout)
        if rollout.failure is None:
            self._lives[one.job.life] = _again(one.probes)

    def _parted(self, new: Sequence[Job]) -> tuple[list[tuple[Job, ProbeMode, bool]], list[Job]]:
        """Jobs whose charge is fixed, with whether their life is known; and those that may vary."""
        fixed, varying, lives = list[tuple[Job, ProbeMode, bool]](), list[Job](), dict(self._lives)
        for job in new:
            known = self._before(job, lives) is not None
            lives.setdefault(job.life, "single")
            if known or not _may_vary(job):
                fixed.append((job, "single", known))
            else:
                varying.append(job)
        return fixed, varying

    def _before(self, job: Job, lives: dict[tuple[str, ...], ProbeMode]) -> ProbeMode | None:
        """How the job's life was probed that was lived before; None where it was not."""
        before = lives.get(job.life)
        return None if job.single and before == "joint" else before

    def _share(self, job: Job, probes: ProbeMode, known: bool) -> Fraction:
        span = replace(job.span, probes=probes, answers_only=known or job.span.answers_only)
        return share(job.user, self._world, span)

    def _bound(self, architecture: str, lives: Sequence[tuple[User, Span]], looks: int) -> Fraction:
        """Lives with single probes; and as many of the dearest as may be probed both ways.

        Args:
            architecture: Of the policies that live them.
            lives: Users, and how much of their lives is needed.
            looks: Policies of which none was probed both ways.
        """
        charges = [self._as("single", *life) for life in lives]
        if not self._probing.may_save(architecture):
            return sum(charges, start=Fraction(0))
        more = [self._as("both", *life) - one for life, one in zip(lives, charges, strict=True)]
        both = self._probing.left(architecture) + looks
        return sum(charges + sorted(more, reverse=True)[:both], start=Fraction(0))

    def _as(self, probes: ProbeMode, user: User, span: Span) -> Fraction:
        return share(user, self._world, replace(span, probes=probes))


def _may_vary(job: Job) -> bool:
    return not job.single and not job.span.answers_only


def _again(probes: ProbeMode) -> ProbeMode:
    """How the same life is probed another time."""
    return "single" if probes == "both" else probes
