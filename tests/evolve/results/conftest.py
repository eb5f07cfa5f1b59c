"""A small run that accepted versions, in its folder: what all that reads runs is tried on."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.config import Options, merge_options
from evolve.display import PlainDisplay
from evolve.event_lines import event_line
from evolve.gym.sample import make_users
from evolve.journal import FILE, read_header
from evolve.means import Means
from evolve.policy_run import Watch, policy_run
from evolve.prepare import prepare
from evolve.user_run import user_run


def _watch() -> Watch:
    return Watch(PlainDisplay(), lambda: False)


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """The folder ``runs`` with one finished run, ``mine``, and its environment beside it."""
    place = tmp_path_factory.mktemp("made")
    users = make_users(5, 12)
    for user in users:
        user |= {"periods": user["periods"][:3], "qas": user["qas"][:3]}
    (place / "env.json").write_text(json.dumps(users))
    options = Options(
        39, env=str(place / "env.json"), policy="awi", strategy="self-evolution", holdout="users"
    )
    policy_run(options, place / "runs" / "mine", Means(), _watch())
    return place


@pytest.fixture
def run(made, tmp_path) -> Path:
    """A copy of that run to change, ``runs/mine``; its environment is the common one."""
    shutil.copytree(made / "runs", tmp_path / "runs")
    return tmp_path / "runs" / "mine"


@pytest.fixture
def lives(made, tmp_path) -> Path:
    """A run of scope ``user``: three users, each with a policy of its own."""
    options = merge_options(
        None,
        {"budget": 6, "env": str(made / "env.json"), "policy": "awi", "scope": "user"},
    )
    folder = tmp_path / "runs" / "own"
    user_run(prepare(options, Means()), folder, Means(), _watch())
    return folder


@pytest.fixture
def resume(capsys) -> Callable[[Path], str]:
    """Resumes a run, and hands back what it says."""

    def go_on(folder: Path) -> str:
        options = merge_options(read_header(folder)["options"], {})
        policy_run(options, folder, Means(), _watch(), resume=True)
        return capsys.readouterr().out

    return go_on


@pytest.fixture
def append() -> Callable[..., None]:
    """Appends events to a run's journal, each ``(kind, key, data)``."""

    def add(folder: Path, *events: tuple[str, str, object]) -> None:
        with (folder / FILE).open("ab") as file:
            file.writelines(event_line(*event) for event in events)

    return add


@pytest.fixture(scope="session")
def searched(made) -> Path:
    """The folder of a finished run that changed texts and settings, on the users of ``made``."""
    folder = made / "searched" / "chance"
    env = str(made / "env.json")
    options = Options(44, env=env, policy="awe", strategy="random", holdout="users")
    policy_run(options, folder, Means(), Watch(PlainDisplay(), lambda: False))
    return folder


@pytest.fixture(scope="session")
def lived(made) -> Path:
    """The folder of a finished run of scope ``user``, on the users of ``made``."""
    folder = made / "lived" / "own"
    given = {"budget": 4, "env": str(made / "env.json"), "policy": "awe", "scope": "user"}
    prepared = prepare(merge_options(None, given), Means())
    user_run(prepared, folder, Means(), Watch(PlainDisplay(), lambda: False))
    return folder
