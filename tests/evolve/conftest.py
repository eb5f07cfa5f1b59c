"""A tiny valid environment and files of a published run of it; scripted people and workers."""

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from evolve.budget import Ledger
from evolve.evaluate import Evaluator
from evolve.gym.people import Choice, Period, Question, Session, User
from evolve.gym.rollout import Span
from evolve.journal import FILE, Journal
from evolve.lm.base import Completion, Request, count_tokens
from evolve.lm.models import ModelSpec
from evolve.offpolicy import ReplayTask
from evolve.workers import BoundTask, LiveTask, WorldSpec
from feedback.records import Answer, Compared, Rollout, StateProbe, Usage

Json = list[dict[str, object]]


def _period(day: int, drink: str, updates: dict[str, object]) -> dict[str, object]:
    return {
        "period_start": None if day == 1 else f"2024-01-{day:02d}",
        "period_end": f"2024-01-{day + 1:02d}",
        "period_summary": None,
        "sessions": [
            {
                "event": None,
                "exposed_states": {"drink": drink},
                "query": f"Which {drink} shop is near?",
                "messages": [],
                "session_time": f"2024-01-{day:02d} 09:00:00",
            },
            {"query": "What else?", "session_time": f"2024-01-{day + 1:02d} 09:00:00"},
        ],
        "state": {"drink": drink, "pet": "cat"},
        "updates": updates,
    }


def _user(user_id: str) -> dict[str, object]:
    return {
        "id": user_id,
        "start_time": "2024-01-01",
        "user_profile": {"uuid": user_id, "name": "Ann", "age": 40, "likes": ["tea", "cats"]},
        "state_schema": {"drink": ["tea", "coffee"], "pet": ["cat", "dog"]},
        "periods": [
            _period(1, "tea", {"drink": {"old": None, "new": "tea"}, "pet": {"new": "cat"}}),
            _period(11, "coffee", {"drink": {"old": "tea", "new": "coffee"}}),
            _period(21, "coffee", {}),
        ],
        "qas": [
            {
                "query": "What shall I drink with my pet?",
                "required_info": ["drink", "pet"],
                "answer_choices": [
                    {"state": ["tea", "cat"], "answer": "Tea, near the cat.", "type": "x"},
                    {"state": ["coffee", "cat"], "answer": "Coffee, near the cat."},
                    {"state": ["coffee", "dog"], "answer": "Coffee, near the dog."},
                ],
            },
            {
                "query": "Which cup?",
                "required_info": ["drink"],
                "answer_choices": [
                    {"state": ["tea"], "answer": "The thin one."},
                    {"state": ["coffee"], "answer": "The thick one."},
                ],
            },
        ],
    }


@pytest.fixture(scope="session")
def tiny() -> Callable[[], Json]:
    """Makes a fresh copy of a valid file's content: two users, three periods, two questions."""
    content = [_user("ann"), _user("bob")]
    return lambda: copy.deepcopy(content)


def _probe(user, period: int, question) -> dict[str, object]:
    state = user["periods"][period]["state"]
    return {
        "query": "which?",
        "raw_response": "{}",
        "results": [
            {
                "info_type": name,
                "json_error": False,
                "answer_state": state[name],
                "response_state": state[name],
                "score": 1.0,
            }
            for name in question["required_info"]
        ],
    }


def _answered(values: list[str], position: int) -> dict[str, object]:
    return {
        "answer": position,
        "answer_state": values,
        "raw_response": "{}",
        "response": position + 1,
        "response_state": values,
        "json_error": False,
        "scores": {"accuracy": 1.0},
    }


def _talk(period) -> list[list[dict[str, str]]]:
    return [
        [
            {"role": "user", "content": f"[Current Time: {s['session_time']}]\n{s['query']}"},
            {"role": "assistant", "content": "There is one."},
        ]
        for s in period["sessions"]
    ]


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def tiny_run(tmp_path, tiny) -> Path:
    """A folder with env.json, its run ``published`` and upper bounds; everything is right."""
    users = tiny()
    _write(tmp_path / "env.json", users)
    for user in users:
        folder = tmp_path / "runs" / "published" / user["id"]
        periods, questions = range(len(user["periods"])), user["qas"]
        right = [
            [[user["periods"][p]["state"][name] for name in q["required_info"]] for q in questions]
            for p in periods
        ]
        answers = [[_answered(values, 0) for values in row] for row in right]
        _write(folder / "overall_results.json", answers)
        probes = [[_probe(user, p, q) for q in questions] for p in periods]
        _write(folder / "diagnosis_results.json", probes)
        none, one = [[0] * len(questions)] * len(periods), [[1] * len(questions)] * len(periods)
        counts = {"write_failure": none, "read_failure": none, "memory_success": one}
        _write(folder / "diagnosis_metrics.json", counts)
        for p in periods:
            _write(folder / "interactions" / f"period_{p:02d}.json", _talk(user["periods"][p]))
        bounds = [
            [_answered(c["state"], i) for i, c in enumerate(q["answer_choices"])] for q in questions
        ]
        _write(tmp_path / "runs" / f"upperbound_{user['id']}.json", bounds)
    return tmp_path


@pytest.fixture
def edit() -> Callable[[Path, str, object], None]:
    """Replaces what a path such as ``0.1.score`` names in a JSON file; ``...`` removes it."""

    def change(path: Path, steps: str, new: object) -> None:
        content = json.loads(path.read_text())
        *outer, last = [int(step) if step.isdigit() else step for step in steps.split(".")]
        node = content
        for step in outer:
            node = node[step]
        if new is ...:
            del node[last]
        else:
            node[last] = new
        path.write_text(json.dumps(content))

    return change


def _person(name: str, periods: int, questions: int) -> User:
    """Has one state, whose value ``b`` is right from the second period on."""
    schema = {"drink": ("a", "b")}
    lived = tuple(
        Period(
            None,
            None,
            (Session("Hello.", f"2024-01-{period + 1:02d} 09:00:00", None),),
            {"drink": "b" if period else "a"},
            frozenset({"drink"} if period == 1 else ()),
        )
        for period in range(periods)
    )
    choices = tuple(Choice((value,), f"the {value}") for value in schema["drink"])
    asked = tuple(Question(f"Which one, {n}?", ("drink",), choices) for n in range(questions))
    return User(name, "", schema, lived, asked)


@pytest.fixture(scope="session")
def people() -> Callable[..., tuple[User, ...]]:
    """Makes users of one session a period, who ask the same questions."""

    def make(count: int, periods: int = 4, questions: int = 4) -> tuple[User, ...]:
        return tuple(_person(f"u{number:03d}", periods, questions) for number in range(count))

    return make


class Killed(BaseException):
    """What a scripted kill raises: nothing may catch it."""


class ScriptedWorkers:
    """Plays rollouts instead of living them, and keeps the name of each.

    Attributes:
        right: Policy id to (user, period, question) to whether it answers right; others never do.
        failures: (policy id, user id) to kind and reason of a failed rollout.
        tokens: Policy id to the prompt tokens of a rollout of it; 10 for others.
        differing: Policy id to the probes of a rollout that a joint one contradicts; 0 for others.
        ran: Names of all tasks that were run.
        probed: How the states of each rollout among them were probed.
        lives: Tasks after which the next one is killed; None for no kill.
    """

    def __init__(self) -> None:
        self.right: dict[str, Callable[[str, int, int], bool]] = {}
        self.failures: dict[tuple[str, str], tuple[str, str]] = {}
        self.tokens: dict[str, int] = {}
        self.differing: dict[str, int] = {}
        self.ran: list[str] = []
        self.probed: list[str] = []
        self.lives: int | None = None

    def run(self, tasks):
        for task in tasks:
            if self.lives is not None:
                if self.lives == 0:
                    raise Killed
                self.lives -= 1
            if isinstance(task, ReplayTask):
                self.ran.append(task.name)
                span = Span(periods=len(task.recorded))
                yield self._rollout(LiveTask(task.spec, task.policy, task.user, span))
            elif isinstance(task, BoundTask):
                self.ran.append(task.user.id)
                yield self._bounds(task.user), (("bound", Usage(1, 2, 3)),)
            else:
                self.ran.append(f"{task.policy.id}:{task.user.id}")
                self.probed.append(task.span.probes)
                yield self._rollout(task)

    @staticmethod
    def _bounds(user: User) -> dict[tuple[str, int, int], float]:
        places = itertools.product(range(len(user.periods)), range(len(user.questions)))
        return {(user.id, period, question): 1.0 for period, question in places}

    def _rollout(self, task: LiveTask) -> Rollout:
        user, key = task.user, (task.policy.id, task.user.id)
        kind, reason = self.failures.get(key, (None, None))
        periods = range(len(user.periods) if task.span.periods is None else task.span.periods)
        answers = tuple(
            self._answer(task, period, question)
            for period, question in itertools.product(periods, range(len(user.questions)))
        )
        usage = (("answer", Usage(len(answers), self.tokens.get(task.policy.id, 10), 1)),)
        shown = () if kind else answers
        lived = Rollout(*key, (), (), (), shown, usage, failure=reason, failure_kind=kind)
        if task.span.probes != "both":
            return lived
        differing = self.differing.get(task.policy.id, 0)
        return replace(lived, joint=Compared(len(shown), differing))

    def _answer(self, task: LiveTask, period: int, question: int) -> Answer:
        truth = task.user.periods[period].state["drink"]
        right_choice = ("a", "b").index(truth)
        right = self.right.get(task.policy.id, lambda *_: False)(task.user.id, period, question)
        probes = () if task.span.answers_only else (StateProbe("drink", truth, truth),)
        return Answer(
            period, question, 2, right_choice, right_choice if right else 1 - right_choice, probes
        )


@pytest.fixture
def scripted_workers() -> type[ScriptedWorkers]:
    return ScriptedWorkers


@pytest.fixture(scope="session")
def killed() -> type[Killed]:
    return Killed


class ScriptedLM:
    """A model that says what a function of the request says, and keeps the requests."""

    name = "scripted"

    def __init__(self, script: Callable[[Request], str]) -> None:
        self._script = script
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        text = self._script(request)
        prompt = sum(count_tokens(message.content) for message in request.messages)
        return Completion(text, prompt, count_tokens(text))

    def asked(self, task: str) -> list[Request]:
        return [request for request in self.requests if request.task == task]


@pytest.fixture(scope="session")
def scripted() -> Callable[[Callable[[Request], str]], ScriptedLM]:
    """Makes a model that answers with what a function says; what that raises, it raises."""
    return ScriptedLM


@pytest.fixture
def evaluator_on(tmp_path) -> Iterator[Callable[..., Evaluator]]:
    """Makes evaluators with these workers, on a journal that a later one of the test resumes."""
    with ExitStack() as stack:

        def make(workers, budget=1000, stopping=lambda: False) -> Evaluator:
            stack.close()
            folder = tmp_path / "run"
            resume = (folder / FILE).exists()
            journal = stack.enter_context(Journal(folder, {}, resume=resume))
            spec = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 0, 1, 2)
            ledger = Ledger(Fraction(budget))
            return Evaluator(journal, ledger, workers, spec, stopping, lambda lived: None)

        yield make
