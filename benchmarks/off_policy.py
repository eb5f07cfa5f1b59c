"""Ranks memory configurations on-policy and off-policy: do replayed conversations pick the same?

``python -m benchmarks.off_policy`` lets fresh users live through the configurations of the
published table, and replays to each of them the conversations that one other policy had with the
same users: the plain model without written memory (``native``), and the base configuration. The
seeds' assistants ask users nothing, so the same is done for assistants that ask about what their
memory does not show them. It prints memory scores, ranks and changes of rank, and exits with 1 if a
claim fails.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from benchmarks.memory import Ground, ground_of
from benchmarks.offline_table import BASE, table_policies
from benchmarks.report import Claim, Report, close, parser, shown
from benchmarks.rollouts import bound_all, live_all, pooled, workers
from evolve.gym.recorded import Conversation
from evolve.gym.rollout import live, replay
from evolve.gym.sample import make_users
from evolve.gym.sample_bank import read_bank
from evolve.gym.users import User, users_of
from evolve.lm.models import ModelSpec
from evolve.stats import Interval
from evolve.tables import Table
from evolve.workers import Workers, WorldSpec
from feedback.diagnosis import diagnose
from feedback.records import ChatMessage, Diagnosis, Rollout, message_position
from policies.policy import Policy

USERS, QUICK_USERS = 60, 4
RECORDERS = ("native", BASE)
FEWEST = 10  # configurations that are ranked


@dataclass(frozen=True, slots=True)
class ReplaysTask:
    """One user's conversations with one policy, replayed to many.

    Attributes:
        spec: The world.
        recorder: Has the conversations.
        policies: They are replayed to these.
        user: Has them.
    """

    spec: WorldSpec
    recorder: Policy
    policies: tuple[Policy, ...]
    user: User

    def __call__(self) -> list[tuple[Diagnosis, ...]]:
        """Record, then replay; the diagnoses of each policy.

        Raises:
            RuntimeError: A rollout failed, for which the offline model gives no reason.
        """
        world = self.spec.build()
        recorded = conversations_of(live(self.recorder, self.user, world))
        found = []
        for policy in self.policies:
            rollout = replay(policy, self.user, recorded, world)
            if rollout.failure is not None:
                raise RuntimeError(f"{policy.name} on {self.user.id}: {rollout.failure}")
            found.append(diagnose(rollout, self.user.truth()))
        return found


def conversations_of(rollout: Rollout) -> list[Conversation]:
    """What was said, per period and session, as ``replay`` takes it."""
    periods: list[dict[int, list[ChatMessage]]] = []
    for message in rollout.messages:
        period, session, _, _ = message_position(message.id)
        while len(periods) <= period:
            periods.append({})
        periods[period].setdefault(session, []).append(message)
    return [tuple(map(tuple, sessions.values())) for sessions in periods]


def replay_all(
    recorder: Policy,
    policies: Mapping[str, Policy],
    users: Sequence[User],
    spec: WorldSpec,
    pool: Workers,
) -> dict[str, list[Diagnosis]]:
    """Name of each policy to its answers after the recorder's conversations."""
    tasks = [ReplaysTask(spec, recorder, tuple(policies.values()), user) for user in users]
    by_policy = zip(*pool.run(tasks), strict=True)
    return {
        name: [diagnosis for of_user in found for diagnosis in of_user]
        for name, found in zip(policies, by_policy, strict=True)
    }


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Place of each by score, 1 for the highest; of equals the earlier one comes first."""
    order = sorted(scores, key=lambda name: -scores[name])
    return {name: order.index(name) + 1 for name in scores}


def agreement(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Kendall's tau: share of the pairs that are ordered alike less share ordered otherwise."""
    pairs = list(combinations(one, 2))
    signs = [(one[a] - one[b]) * (other[a] - other[b]) for a, b in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)


def rank_table(
    title: str, on: Mapping[str, Interval], off: Mapping[str, Mapping[str, Interval]]
) -> Table:
    """A row per configuration, best on-policy first.

    Args:
        title: Of the table.
        on: Configuration to its memory score on-policy.
        off: Recorder to the same off-policy.
    """
    places = ranks(_means(on))
    replayed = {recorder: ranks(_means(scores)) for recorder, scores in off.items()}
    columns = ["configuration", "on-policy", "rank"]
    for recorder in off:
        columns += [f"replayed from {recorder}", "rank", "change"]
    rows = []
    for name in sorted(on, key=places.__getitem__):
        row = [name, shown(on[name]), str(places[name])]
        for recorder, scores in off.items():
            place = replayed[recorder][name]
            change = places[name] - place
            row += [shown(scores[name]), str(place), f"{change:+d}" if change else "0"]
        rows.append(tuple(row))
    return Table(f"{title}: memory scores and ranks", tuple(columns), tuple(rows))


def agreement_table(
    title: str, on: Mapping[str, Interval], off: Mapping[str, Mapping[str, Interval]]
) -> Table:
    """How far each recorder's replays order the configurations as living does."""
    means = _means(on)
    best = max(means, key=means.__getitem__)
    rows = []
    for recorder, scores in off.items():
        replayed = _means(scores)
        chosen = max(replayed, key=replayed.__getitem__)
        moved = sum(ranks(means)[name] != ranks(replayed)[name] for name in means)
        tau, lost = agreement(means, replayed), means[best] - means[chosen]
        rows.append((recorder, f"{tau:.2f}", str(moved), chosen, f"{lost:.3f}"))
    columns = ("replayed from", "tau", "ranks changed", "chosen off-policy", "lost by the choice")
    return Table(f"{title}: what replays would have chosen", columns, tuple(rows))


def asking(policies: Mapping[str, Policy]) -> dict[str, Policy]:
    """The same policies with assistants that ask about the types of the sample's states."""
    types = ", ".join(
        name.replace("_", " ") for own in read_bank("a").schema.values() for name in own
    )
    made = {}
    for name, policy in policies.items():
        text = f"Where it fits, ask about: {types}.\n{policy.texts['reply_prompt']}"
        made[name] = policy.derive({"reply_prompt": text}, name=name)
    return made


def measure(count: int, seed: int, pool: Workers) -> Report:
    """Rank all configurations both ways on fresh users."""
    spec = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), seed, 1, 2)
    users = users_of(make_users(seed, count), "sample")
    ground = ground_of(users, bound_all(users, spec, pool), seed)
    tables: list[Table] = []
    claims: list[Claim] = []
    silent = table_policies()
    for title, policies in (("Asking nothing", silent), ("Asking", asking(silent))):
        lived = {name: pooled(one) for name, one in live_all(policies, users, spec, pool).items()}
        off = {r: replay_all(policies[r], policies, users, spec, pool) for r in RECORDERS}
        on, scores = _scored(ground, lived), {r: _scored(ground, off[r]) for r in RECORDERS}
        tables += [rank_table(title, on, scores), agreement_table(title, on, scores)]
        claims += _claims(title, lived, off)
    notes = (
        f"{count} fresh users of variant a. A replay lets memory observe what another policy's"
        " conversation revealed and asks the same questions; nothing is said anew. A positive"
        " change is a better rank off-policy than on-policy. The stand-in's replies depend on what"
        " memory shows it only where they are told to ask.",
    )
    return Report(tuple(tables), tuple(claims), notes)


def _claims(
    title: str,
    lived: Mapping[str, Sequence[Diagnosis]],
    off: Mapping[str, Mapping[str, Sequence[Diagnosis]]],
) -> list[Claim]:
    own = zip(lived[BASE], off[BASE][BASE], strict=True)
    changed = sum((a.stage, a.failed_states) != (b.stage, b.failed_states) for a, b in own)
    same = "a policy's own conversations, replayed to it, give its own answers"
    return [
        Claim(f"{title}: {FEWEST} configurations or more: {len(lived)}", len(lived) >= FEWEST),
        Claim(f"{title}: {same}: {changed} of {len(lived[BASE])} differ", changed == 0),
    ]


def _means(scores: Mapping[str, Interval]) -> dict[str, float]:
    return {name: score.mean for name, score in scores.items()}


def _scored(ground: Ground, answers: Mapping[str, Sequence[Diagnosis]]) -> dict[str, Interval]:
    return {name: ground.memory(ground.right(found)) for name, found in answers.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Rank memory configurations on-policy and off-policy.")
    options_of.add_argument("--users", type=int, metavar="N", help=f"fresh users ({USERS})")
    options_of.add_argument("--seed", type=int, default=211, help="of users and world (211)")
    options_of.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    options = options_of.parse_args(arguments)
    count = options.users or (QUICK_USERS if options.quick else USERS)
    with workers(options.jobs) as pool:
        found = measure(count, options.seed, pool)
    return close(found, options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
