"""``python -m evolve.diagnose``: diagnose a published run's files, with its scores and counts."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from evolve.cli import CommandParser, run_command
from evolve.gym.reference import load_bounds, read_counts, read_run
from evolve.gym.users import load_users
from evolve.tables import Table, number, print_tables, short_names
from evolve.terminal import say
from feedback.diagnosis import count_states, diagnose
from feedback.records import Diagnosis
from feedback.scores import Scores, score, scores_by_period, scores_by_user

_REPRODUCED = {True: "yes", False: "NO", None: "no such file"}


@dataclass(frozen=True, slots=True)
class Report:
    """What there is to say of a published run.

    Attributes:
        total: All answers pooled.
        users: By user id.
        periods: By period, pooled over users.
        reproduced: User id to whether the published counts are ours; None without such a file.
    """

    total: Scores
    users: Mapping[str, Scores]
    periods: Mapping[int, Scores]
    reproduced: Mapping[str, bool | None]


def make_report(run: Path, env: Path, upper_bounds: Path | None) -> Report:
    """Read and diagnose a published run.

    Args:
        run: Folder with a folder per user.
        env: The environment file that it was made with.
        upper_bounds: Folder with ``upperbound_USER.json``, if there is one.

    Raises:
        UserError: A file is missing, odd, or does not fit the others.
    """
    users = {user.id: user for user in load_users(env)}
    diagnoses: list[Diagnosis] = []
    reproduced: dict[str, bool | None] = {}
    rollouts = read_run(run, tuple(users.values()))
    for rollout in rollouts:
        # Published files hold no memory, so there is nothing to trace, whatever the file exposes.
        truth = replace(users[rollout.user].truth(), traceable=False)
        diagnoses += diagnose(rollout, truth)
        published = read_counts(run / rollout.user)
        ours = count_states(rollout, truth)
        reproduced[rollout.user] = None if published is None else published == ours
    bounds = None
    if upper_bounds is not None:
        bounds = load_bounds(upper_bounds, [users[rollout.user] for rollout in rollouts])
    return Report(
        total=score(diagnoses, bounds),
        users=scores_by_user(diagnoses, bounds),
        periods=scores_by_period(diagnoses, bounds),
        reproduced=reproduced,
    )


def tables_of(report: Report) -> tuple[Table, ...]:
    """The report as tables."""
    short = short_names(report.users)
    named = [(short[user], scores) for user, scores in report.users.items()]
    named.append(("all", report.total))
    bounded = report.total.upper is not None
    stages = Table(
        "Answers by stage; probed states that could not be read",
        (
            "user",
            *("answers", "right", "(lucky)", "write", "read", "utilization", "format"),
            "unparsable states",
        ),
        tuple(
            (user, *(str(count) for count in _counts(scores).values())) for user, scores in named
        ),
    )
    per_user = Table(
        "Scores",
        ("user", "accuracy", "random", "upper bound", "memory score"),
        tuple((user, *_scores(scores, bounded)) for user, scores in named),
    )
    per_period = Table(
        "Scores by period, users pooled",
        ("period", "answers", "accuracy", "random", "upper bound", "memory score"),
        tuple(
            (str(period), str(scores.n), *_scores(scores, bounded))
            for period, scores in report.periods.items()
        ),
    )
    counts = Table(
        "Published counts per state (diagnosis_metrics.json)",
        ("user", "reproduced"),
        tuple((short[user], _REPRODUCED[same]) for user, same in report.reproduced.items()),
    )
    return stages, per_user, per_period, counts


def to_json(report: Report) -> str:
    """The report as JSON: the tables' counts and every attribute of ``Scores``, not rounded."""

    def full(scores: Scores) -> dict[str, object]:
        return {"counts": _counts(scores), **asdict(scores)}

    content = {
        "all": full(report.total),
        "users": {user: full(scores) for user, scores in report.users.items()},
        "periods": [full(scores) for scores in report.periods.values()],
        "reproduced": dict(report.reproduced),
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; status 1 where published counts are there and are not reproduced."""
    options = _parser().parse_args(argv)
    report = make_report(options.reference_run, options.env, options.upper_bounds)
    if options.json:
        say(to_json(report))
    else:
        print_tables(tables_of(report))
    return int(False in report.reproduced.values())


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.diagnose",
        description="Diagnose the answers of a published AMemGym run: right, or the first stage "
        "that failed. Exit status 1 if its diagnosis_metrics.json is not reproduced.",
    )
    parser.add_argument(
        "--reference-run",
        metavar="DIR",
        type=Path,
        required=True,
        help="folder of the run, with one folder per user in it",
    )
    parser.add_argument(
        "--env",
        metavar="FILE",
        type=Path,
        required=True,
        help="environment file (data.json) that the run was made with",
    )
    parser.add_argument(
        "--upper-bounds",
        metavar="DIR",
        type=Path,
        help="folder with upperbound_USER.json files; without it, no memory score",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser


def _counts(scores: Scores) -> dict[str, int]:
    rates = {
        "right": scores.accuracy,
        "lucky": scores.lucky,
        "write": scores.write,
        "read": scores.read,
        "utilization": scores.utilization,
        "format": scores.format,
    }
    counts = {name: round((rate or 0.0) * scores.n) for name, rate in rates.items()}
    return {"answers": scores.n, **counts, "unparsable_states": scores.probe_format_errors}


def _scores(scores: Scores, bounded: bool) -> tuple[str, ...]:
    return (
        number(scores.accuracy, 5),
        number(scores.random, 5),
        number(scores.upper, 5),
        number(scores.memory, 4, missing="undefined" if bounded else "-"),
    )


if __name__ == "__main__":
    sys.exit(run_command(main))
