"""Whole runs with a real model, its provider played: dollars, their end, resuming, the tables."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from evolve import money
from evolve.config import Options
from evolve.display import PlainDisplay
from evolve.estimate import Estimate, Estimator
from evolve.eval import main as eval_main
from evolve.gym.sample import make_users
from evolve.journal import FILE
from evolve.lm import allowance, client
from evolve.lm.offline import OfflineLM
from evolve.lm.provider import Reply
from evolve.means import Means
from evolve.policy_run import Watch, policy_run
from evolve.prepare import prepare
from evolve.roles import Models
from policies.errors import BudgetTooSmallError, ModelError, RunFolderError

MODELS = Models("openai/x", price=(0.4, 1.6))
MEANS = Means(concurrency=4)


class Played:
    """A provider whose models say what the offline model says."""

    sent = 0

    def __init__(self, spec, lost=None):
        self._lm = OfflineLM()

    def takes(self, request):
        pass

    def send(self, request):
        Played.sent += 1
        done = self._lm.complete(request)
        return Reply(done.text, "x-1", done.prompt_tokens, done.completion_tokens, 0, False, 0.01)


@pytest.fixture(autouse=True)
def provider(monkeypatch, tmp_path):
    monkeypatch.setattr(client, "Provider", Played)
    monkeypatch.chdir(tmp_path)
    Played.sent = 0


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    users = make_users(3, 12, explicitness=1.0)
    for user in users:
        user |= {"periods": user["periods"][:4], "qas": user["qas"][:4]}
    path = tmp_path_factory.mktemp("env") / "env.json"
    path.write_text(json.dumps(users))
    return str(path)


def run(options: Options, folder: Path, estimate: Estimate | None = None, resume: bool = False):
    watch = Watch(PlainDisplay(), lambda: False)
    return policy_run(options, folder, MEANS, watch, resume=resume, estimate=estimate)


def events(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / FILE).read_text().splitlines()]


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {"run.log", "calls.jsonl", "summary.json"}
    }


def spent(folder: Path) -> float:
    lines = (folder / "calls.jsonl").read_text().splitlines()
    return sum(json.loads(line)["dollars"] for line in lines)


def test_a_model_that_says_the_same_finds_the_same(env, tmp_path, capsys):
    called = run(Options(42, env, models=MODELS), tmp_path / "runs" / "run")
    out = capsys.readouterr().out
    offline = run(Options(42, env), tmp_path / "others" / "run")
    assert {n: t.scores for n, t in called.tested.items()} == {
        n: t.scores for n, t in offline.tested.items()
    }
    summary, without = (
        json.loads((tmp_path / name / "run" / "summary.json").read_text())
        for name in ("runs", "others")
    )
    assert summary.keys() - without.keys() == {"models", "paid"}
    assert summary["usage"] == without["usage"]
    for role, paid in summary["paid"].items():
        used = summary["usage"].get(role) or summary["bound_usage"][role]
        assert paid["calls"] + paid["cached"] == used["calls"]
    assert sum(paid["calls"] for paid in summary["paid"].values()) == Played.sent
    dollars = sum(paid["dollars"] for paid in summary["paid"].values())
    assert dollars == pytest.approx(spent(tmp_path / "runs" / "run"))
    assert "\nmodel openai/x\n" in out
    assert "stand-in" not in out
    assert f"rollouts, ${dollars:.2f}\nrole " in out
    assert "dollars  seconds  prefix sent before\nanswer " in out


@pytest.fixture(scope="module")
def generous(env):
    """The estimate for a plan that costs far more than the budgets of these tests."""
    return Estimator(prepare(Options(60, env, models=MODELS), MEANS), MEANS).of(60)


def test_evolution_ends_with_its_dollars_and_the_end_is_scored(env, tmp_path, generous, capsys):
    folder = tmp_path / "runs" / "run"
    options = Options("$0.8", env, models=MODELS)
    outcome = run(options, folder, generous)
    out = capsys.readouterr().out
    assert 0 < spent(folder) <= 0.8
    assert "the budget is spent: a call of at most $" in out
    assert not outcome.cut
    assert {len({d.user for d in t.diagnoses}) for t in outcome.tested.values()} == {4}
    assert out.count("50% of the budget of $0.80 is spent") == 1
    assert re.search(r"^Spent: \$0\.\d\d of \$0\.80, [\d.]+ of 60 rollouts$", out, re.M)
    kinds = [event["kind"] for event in events(folder)]
    assert kinds[:2] == ["run", "terms"]
    assert kinds.count("exhausted") == 1
    assert all(e["data"].get("failure") is None for e in events(folder) if e["kind"] == "rollout")
    whole = files(folder)
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    at = kinds.index("exhausted")
    for kept in (at + 1, at + 4, len(lines)):  # as a kill leaves it
        (folder / FILE).write_bytes(b"".join(lines[:kept]))
        before = Played.sent
        run(options, folder, resume=True)
        assert files(folder) == whole
        assert Played.sent == before  # all of it is in the log of calls
    (folder / FILE).write_bytes(b"".join(lines[:1]))
    with pytest.raises(BudgetTooSmallError):  # killed before its terms: they are settled now
        run(options, folder, resume=True)


def test_dollars_that_end_while_the_end_is_scored(env, tmp_path, generous):
    folder = tmp_path / "runs" / "run"
    hasty = replace(generous, kept={"dollars": 0.05})
    outcome = run(Options("$0.5", env, models=MODELS), folder, hasty)
    assert outcome.cut
    assert outcome.line == "test users: the budget ended before any of them was scored"
    assert spent(folder) <= 0.5
    assert (folder / "summary.json").exists()
    whole = files(folder)
    run(Options("$0.5", env, models=MODELS), folder, resume=True)
    assert files(folder) == whole


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ("2100calls", "a call asked, 0 of "),
        ("1800ktokens,$50,900", "a call of at most "),
        ("60,2100calls,90min", "a call asked, 0 of "),
    ],
)
def test_calls_and_tokens_hold_and_the_end_is_scored(env, tmp_path, generous, budget, reason):
    folder = tmp_path / "runs" / "run"
    outcome = run(Options(budget, env, models=MODELS), folder, generous)
    lines = (folder / "calls.jsonl").read_text().splitlines()
    tokens = sum(
        call["prompt_tokens"] + call["completion_tokens"] for call in map(json.loads, lines)
    )
    if "tokens" in budget:
        assert tokens <= 1_800_000
    else:
        assert Played.sent <= 2100
        assert (folder / "sent").stat().st_size == Played.sent == len(lines)
    assert not outcome.cut
    assert {len({d.user for d in t.diagnoses}) for t in outcome.tested.values()} == {4}
    ended = [event["data"] for event in events(folder) if event["kind"] == "exhausted"]
    assert len(ended) == 1
    assert ended[0].startswith(reason)
    whole, before = files(folder), Played.sent
    run(Options(budget, env, models=MODELS), folder, resume=True)
    assert (files(folder), Played.sent) == (whole, before)


def test_tries_before_a_kill_count_after_it(env, tmp_path, generous):
    folder = tmp_path / "runs" / "run"
    options = Options("2100calls", env, models=MODELS)
    run(options, folder, generous)
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    (folder / FILE).write_bytes(b"".join(lines[:5]))
    (folder / "calls.jsonl").write_bytes(b"")  # as if none of the replies had reached the disk
    before = Played.sent
    assert run(options, folder, resume=True).cut
    assert Played.sent == 2100
    assert before < 2100


def test_minutes_end_a_run_and_time_is_kept_for_the_end(env, tmp_path, monkeypatch):
    now, ticks = [0.0], threading.Lock()

    def tick(self, request):
        with ticks:
            now[0] += 1.0
        return send(self, request)

    send = Played.send
    monkeypatch.setattr(Played, "send", tick)
    for module in (money, allowance):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    folder = tmp_path / "runs" / "run"
    outcome = run(Options("60,40min", env, models=MODELS), folder)
    (reason,) = (e["data"] for e in events(folder) if e["kind"] == "exhausted")
    assert "time" in reason
    assert not outcome.cut
    assert now[0] <= 40 * 60 + MEANS.concurrency
    assert next(e["data"] for e in events(folder) if e["kind"] == "terms") == {
        "rollouts": 60,
        "kept": {},
    }
    whole = files(folder)
    run(Options("60,40min", env, models=MODELS), folder, resume=True)
    assert files(folder) == whole


def test_a_budget_that_ends_before_any_test_user_is_told_without_empty_tables(
    env, tmp_path, capsys
):
    options = Options("60,0.00001min", env, models=MODELS)
    outcome = run(options, tmp_path / "runs" / "run")
    assert outcome.line == "test users: the budget ended before any of them was scored"
    out = capsys.readouterr().out
    assert "\nno candidate was judged: the budget is spent: time is up: " in out
    assert "Candidates (" not in out
    assert "Test users" not in out


def test_minutes_of_the_offline_model(env, tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(money, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def lived(self, lived, *, replayed):
        now[0] += 60.0
        look(self, lived, replayed=replayed)

    look = money.Purse.look
    monkeypatch.setattr(money.Purse, "look", lived)
    folder = tmp_path / "runs" / "run"
    outcome = run(Options("60min", env), folder)
    (reason,) = (e["data"] for e in events(folder) if e["kind"] == "exhausted")
    assert reason.startswith("time is up: 60 minutes, ")
    assert not outcome.cut
    assert now[0] < 60 * 60


def test_a_name_is_free_again_after_a_wrong_key(env, tmp_path, monkeypatch):
    def refuse(self, request):
        Played.sent += 1
        raise ModelError("wrong key")

    folder = tmp_path / "runs" / "run"
    with monkeypatch.context() as patched:
        patched.setattr(Played, "send", refuse)
        with pytest.raises(ModelError, match="wrong key"):
            run(Options("42,9999calls", env, models=MODELS), folder)
    assert Played.sent == 1
    assert (folder / "sent").stat().st_size == 1
    run(Options(42, env, models=MODELS, seed=1), folder)
    assert not (folder / "sent").exists()
    with pytest.raises(RunFolderError, match="holds a run"):
        run(Options(42, env, models=MODELS), folder)


def test_dollars_that_buy_nothing_leave_nothing(env, tmp_path):
    with pytest.raises(BudgetTooSmallError, match=r"but \$0\.01 does not; give --budget '\$"):
        run(Options("$0.01", env, models=MODELS), tmp_path / "runs" / "run")
    assert not (tmp_path / "runs").exists()
    assert Played.sent == 0


def test_a_shared_cache_pays_for_a_second_run(env, tmp_path, monkeypatch):
    means = Means(concurrency=4, cache=tmp_path / "shared")
    watch = Watch(PlainDisplay(), lambda: False)
    options = Options(42, env, models=MODELS)
    policy_run(options, tmp_path / "one" / "run", means, watch)
    before = Played.sent
    policy_run(options, tmp_path / "two" / "run", means, watch)
    assert Played.sent == before
    assert spent(tmp_path / "two" / "run") == 0
    assert files(tmp_path / "one" / "run") == files(tmp_path / "two" / "run")


def test_a_policy_is_scored_with_a_real_model(env, tmp_path, capsys):
    line = ["--policy", "awi", "--env", env, "--users", "1", "--model", "openai/x"]
    line += ["--user-model", "offline", "--price", "0.4,1.6", "--cache", str(tmp_path / "shared")]
    assert eval_main([*line, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert notes[0] == "model openai/x, user offline"
    assert "stand-in" in notes[1]
    assert notes[-1].startswith(f"{Played.sent} calls, 0 more answered by earlier replies; $0.0")
    assert eval_main(line) == 0
    out = capsys.readouterr().out
    assert f"\n0 calls, {Played.sent} more answered by earlier replies; $0.00" in out
    assert f"\nSpent: 0 calls, {Played.sent} more answered by earlier replies; $0.00\n" in out
    rows = [line.split() for line in out.partition("\nSpent: ")[2].splitlines()[2:]]
    assert sum(int(row[2]) for row in rows if row[2] != "-") == Played.sent
    assert sum(int(row[1]) for row in rows if row[2] != "-") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["shared"]


def test_a_model_that_cannot_be_read_is_told_of_once(env, tmp_path, monkeypatch, capsys):
    def thinks(self, request):
        reply = send(self, request)
        return replace(reply, text="<think> so") if request.task == "answer" else reply

    send = Played.send
    monkeypatch.setattr(Played, "send", thinks)
    run(Options(42, env, models=MODELS), tmp_path / "runs" / "run")
    out = capsys.readouterr().out
    assert out.count("warning: 64 of 64 answers of the parent's minibatch could not be read") == 1
    assert ", format 1.00 (4 train users)" in out
    line = ["--policy", "awi", "--against", "awi", "--env", env, "--users", "1"]
    assert eval_main([*line, "--model", "openai/x"]) == 0
    out = capsys.readouterr().out
    assert out.count("warning: 16 of 16 answers of awi-seed ") == 1


def test_a_run_that_has_ended_prints_itself_once_more_wherever_its_server_is(env, tmp_path, capsys):
    folder = tmp_path / "runs" / "run"
    there, moved = (replace(MODELS, api_base=f"http://127.0.0.1:{port}/v1") for port in (2, 1))
    run(Options(42, env, models=there), folder)
    ended = (folder / "summary.json").read_bytes()
    assert "--api-base was" not in capsys.readouterr().out
    before = Played.sent
    run(Options(42, env, models=moved), folder, resume=True)
    said = "--api-base was http://127.0.0.1:2/v1 when the run began and is now http://127.0.0.1:1/"
    assert capsys.readouterr().out.count(said) == 1
    assert (folder / "summary.json").read_bytes() == ended
    assert Played.sent == before
    (folder / "summary.json").unlink()
    run(Options(42, env, models=there), folder, resume=True)
    assert json.loads((folder / "summary.json").read_bytes())["test"] == json.loads(ended)["test"]
