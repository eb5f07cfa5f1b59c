"""The copy of a search in a database."""

import sys

import optuna
import pytest

from evolve.optimize.base import Verdict
from evolve.optimize.mirror import Mirror, check_url
from policies.errors import ConfigError
from policies.policy import seed_policy

SEED = seed_policy("awe")


def verdict(candidate, operator="search", difference=0.25, incumbent="seed"):
    known = {} if difference is None else {"tokens_per_answer": 900.0}
    return Verdict(
        candidate,
        incumbent,
        SEED.settings,
        operator,
        False,
        "minibatch",
        "why",
        difference,
        **known,
    )


@pytest.fixture
def said():
    return []


@pytest.fixture
def mirror(tmp_path, said):
    def make(url=f"sqlite:///{tmp_path}/a.db", name="mine", owner="me"):
        return Mirror(url, name, owner, said.append)

    make.url = f"sqlite:///{tmp_path}/a.db"
    return make


def trials(url, name="mine"):
    storage = optuna.storages.RDBStorage(url)
    study = optuna.load_study(study_name=name, storage=storage)
    found = [(t.user_attrs["candidate"], *t.values, t.params) for t in study.trials]
    storage.remove_session()
    storage.engine.dispose()
    return found


def test_a_run_without_trials_is_there(mirror, said):
    with mirror():
        pass
    assert trials(mirror.url) == []
    assert said == []


def test_trials_hold_gains_over_the_seed_and_all_settings(mirror, said):
    with mirror() as mirrored:
        mirrored.observe(verdict("a", "rewrite:answer_prompt", 0.25))
        mirrored.observe(verdict("b", incumbent="a", difference=0.5))
        mirrored.observe(verdict("c", difference=None))
    ((candidate, gain, tokens, params),) = trials(mirror.url)
    assert (candidate, gain, tokens) == ("b", 0.75, 900.0)
    assert {name.removesuffix(".on") for name in params} == set(SEED.settings)
    assert said == []


def test_a_resumed_run_adds_what_is_missing(mirror):
    for count in (1, 3):
        with mirror() as mirrored:
            for candidate in "abc"[:count]:
                mirrored.observe(verdict(candidate))
    assert [trial[0] for trial in trials(mirror.url)] == ["a", "b", "c"]


def test_runs_share_a_database_and_a_name_belongs_to_one(mirror, said):
    for name, owner in (("mine", "me"), ("yours", "you"), ("mine", "you")):
        with mirror(name=name, owner=owner) as mirrored:
            mirrored.observe(verdict(owner))
    assert [trials(mirror.url, name)[0][0] for name in ("mine", "yours")] == ["me", "you"]
    assert len(said) == 1
    assert "(its study mine is that of another run)" in said[0]


def test_a_database_that_is_down_costs_one_line_and_gets_the_rest_at_the_end(
    tmp_path, said, mirror
):
    url = f"sqlite:///{tmp_path}/later/a.db"
    with mirror(url) as mirrored:
        mirrored.observe(verdict("a"))
        mirrored.observe(verdict("b"))
        assert said == [
            f"warning: the search is not mirrored to {url} (unable to open database file); nothing "
            "else depends on it, and what is missing is tried again at the end"
        ]
        (tmp_path / "later").mkdir()
    assert said[1:] == [f"the search is mirrored to {url} after all"]
    assert [trial[0] for trial in trials(url)] == ["a", "b"]


def test_urls():
    assert check_url("sqlite:///x.db") == ("sqlite:///x.db", False)
    for url in ("x", "nothing://host/db", "postgresql://me:secret@host:port/db"):
        with pytest.raises(ConfigError, match="--storage must be the URL of a database") as error:
            check_url(url)
        assert "secret" not in str(error.value)


def test_a_missing_library_is_named_and_a_password_is_not_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match="install it with make extras") as error:
        check_url("postgresql://me:secret@host/db")
    assert "secret" not in str(error.value)
