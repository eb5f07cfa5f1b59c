"""``python -m evolve.check_agent package:Class``: try a memory system of one's own."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from evolve.cli import CommandParser, limit_threads, run_command
from evolve.terminal import say

if TYPE_CHECKING:
    from evolve.agents.contract import Trial
    from evolve.gym.people import User
    from evolve.lm.base import LM
    from policies.policy import Policy
    from policies.settings import Setting, SettingValue

BROKEN = 1  # exit status
LONGEST = 86_400  # seconds
# Ctrl-C ends such a process at once; what is said of it is said by the one that waits.
_ALONE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "from evolve.check_agent import check; sys.exit(check(sys.argv[1]))"
)
_SESSIONS = 12  # of the conversation that an agent is tried with
_ADDED = "\n\nMind the colour of the sky."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; status 1 where the contract is broken."""
    return run_command(lambda: _run(_parser().parse_args(argv)))


def check(name: str) -> int:
    """The same in this process and without a limit of time, for the agent of that name."""
    return run_command(lambda: _check(name))


def _run(options: argparse.Namespace) -> int:
    """Check the agent in a process of its own, as only that can be ended wherever it hangs."""
    from evolve.ranges import check_range
    from policies.errors import AgentError

    check_range("timeout", options.timeout, 1, LONGEST)
    command = [sys.executable, "-c", _ALONE, options.agent]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        status = subprocess.run(
            command, env=environ, timeout=options.timeout, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        raise AgentError(
            f"The check of an agent must end within --timeout, but importing {options.agent}, or "
            f"one of its methods, was at work after {options.timeout} s; find what does not end, "
            "or give it more time."
        ) from None
    if status < 0:
        raise AgentError(
            f"The check of an agent must come to its end, but the process of {options.agent} was "
            f"ended by signal {-status}; mend what ends it, or give it more memory."
        )
    return status


def _check(name: str) -> int:
    limit_threads()
    from evolve.agents.contract import CHECKS, breaches
    from evolve.agents.own import declare_agent
    from evolve.config import SAMPLE, environment_path
    from evolve.gym.users import load_users
    from evolve.inputs import STAND_IN
    from evolve.lm.offline import OfflineLM
    from evolve.tables import Table, print_tables
    from policies.errors import MnemotuneError

    policy = declare_agent(name)
    user, lm = load_users(environment_path(SAMPLE))[0], OfflineLM()
    trial = trial_of(policy, user, lm)
    say(STAND_IN)
    found: dict[str, str] = {}
    for rule in CHECKS:
        found |= {rule: "kept", **breaches(trial, (rule,))}
    found["a whole life is lived"] = _life(policy, user, lm) or "kept"
    found = {rule: _in_short(result, name) for rule, result in found.items()}
    title, rows = f"The contract of {name}", tuple(_told_once(found))
    print_tables([Table(title, ("check", "result"), rows)])
    if set(found.values()) != {"kept"}:
        return BROKEN
    try:
        idle = idle_parts(policy, user, lm)
    except MnemotuneError as error:
        say(f"broken by another text or setting: {_in_short(str(error), name)}")
        return BROKEN
    for part in idle:
        say(
            f"note: {part} changes nothing that is asked or shown, yet a run would change it, in "
            f"vain; heed it, or leave it out of the class's {part.split()[1]}s"
        )
    return 0


def _told_once(found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Rows of the table; a mistake that breaks several checks is told with the first."""
    told: dict[str, str] = {}
    for name, result in found.items():
        first = told.setdefault(result, name)
        yield name, result if result == "kept" or first == name else f"as: {first}"


def _in_short(told: str, name: str) -> str:
    """What breaks a check in one line, which names files below this folder from here."""
    from evolve.agents.own import without_advice

    return without_advice(" ".join(told.split()), name).replace(
        f" in {os.getcwd()}{os.sep}", " in "
    )


def trial_of(policy: Policy, user: User, lm: LM) -> Trial:
    """What an agent of a policy is tried with: the first sessions of a user, without follow-ups."""
    from evolve.agents.common import Speaker
    from evolve.agents.contract import Trial
    from evolve.agents.registry import make_agent
    from evolve.gym.questions import answer_query, choice_order, probe_query
    from evolve.gym.simulate import SimulatedUser
    from feedback.records import ChatMessage

    places = [
        (period, session)
        for period in range(len(user.periods))
        for session in range(len(user.periods[period].sessions))
    ]
    simulated = SimulatedUser(user, 0)
    messages = []
    for period, session in places[:_SESSIONS]:
        said = simulated.open(period, session)
        messages += [said, ChatMessage(f"{period}.{session}.0.a", "assistant", "I see.")]
    queries = (
        answer_query(0, user, 0, choice_order(0, user, 0, places[_SESSIONS][0])),
        probe_query(0, user, 0),
    )
    return Trial(
        lambda asked: make_agent(Speaker(policy, asked, seed=7)),
        lm,
        tuple(messages),
        simulated.open(*places[_SESSIONS]),
        queries,
    )


def idle_parts(policy: Policy, user: User, lm: LM) -> list[str]:
    """Texts and settings of a policy that make no difference to what its agent asks and shows."""
    from policies.settings import applicable

    def behaviour(one: Policy) -> object:
        trial = trial_of(one, user, lm)
        agent, heard = trial.lived()
        return trial.asked(agent), heard.requests, agent.entries

    usual = behaviour(policy)
    changed = {
        f"the text {name}": [policy.derive(texts={name: text + _ADDED})]
        for name, text in policy.texts.items()
    } | {
        f"the setting {setting.name}": [
            policy.derive(settings={setting.name: value}) for value in _others(setting, policy)
        ]
        for setting in applicable(policy.architecture)
    }
    return [
        name for name, others in changed.items() if all(behaviour(one) == usual for one in others)
    ]


def _others(setting: Setting, policy: Policy) -> list[SettingValue]:
    """Values that a setting may have and has not: all choices, or both ends of its range."""
    values = setting.values or (setting.low, setting.high)
    return [value for value in values if value != policy.settings[setting.name]]


def _life(policy: Policy, user: User, lm: LM) -> str | None:
    """Why a rollout with the stand-in failed, or None."""
    from evolve.gym.rollout import World, live
    from policies.errors import MnemotuneError

    try:
        return live(policy, user, World(lm, lm, seed=0)).failure
    except MnemotuneError as error:
        return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.check_agent",
        description="Try a memory system of your own against the contract of memory agents, with "
        "the offline model, a deterministic stand-in that is not an LLM.",
        epilog="Exit status 1 where something breaks the contract, 2 where the check does not end.",
    )
    parser.add_argument("agent", metavar="package:Class", help="the class, as for --agent")
    parser.add_argument(
        "--timeout",
        type=int,
        default=300,
        metavar="S",
        help="seconds after which an agent that hangs is given up (300)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
