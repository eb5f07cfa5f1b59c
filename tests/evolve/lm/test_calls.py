"""The log of paid calls: cache, record, shared by threads, processes and runs."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from evolve.lm.allowance import Cost
from evolve.lm.base import Message, Request
from evolve.lm.calls import FILE, SHARED_FILE, Call, CallLog, Spend, request_key
from policies.errors import OutsideFailureError, RunFolderError

ROOT = Path(__file__).parents[3]
REQUEST = Request("reply", (Message("user", "Hi"),), seed=5)


def key_of(number: int) -> str:
    return request_key("m", None, Request("reply", (Message("user", str(number)),)))


def call(number: int = 0, role: str = "reply", dollars: float | None = 0.25) -> Call:
    return Call(key_of(number), role, "m", "m-1", f"text {number}\n€", 10, 2, 4, dollars, 1.5)


class Payer:
    """Pays for calls and counts them."""

    def __init__(self, error: Exception | None = None, delay: float = 0.0) -> None:
        self.paid = 0
        self._error = error
        self._delay = delay

    def of(self, made: Call) -> Callable[[], object]:
        @contextmanager
        def pay() -> Iterator[Call]:
            self.paid += 1
            time.sleep(self._delay)
            if self._error is not None:
                raise self._error
            yield made

        return pay


def ask(log: CallLog, payer: Payer, number: int = 0, role: str = "reply") -> Call:
    return log.once(key_of(number), role, payer.of(call(number, role)))


def test_the_key_is_all_that_is_sent() -> None:
    same = request_key("m", None, REQUEST)
    assert same == request_key("m", None, Request("answer", REQUEST.messages, seed=9)), (
        "role and, without a temperature, seed"
    )
    others = [
        request_key("n", None, REQUEST),
        request_key("m", "http://x", REQUEST),
        request_key("m", None, Request("reply", (Message("system", "Hi"),))),
        request_key("m", None, Request("reply", REQUEST.messages, max_tokens=5)),
        *(request_key("m", None, Request("reply", REQUEST.messages, s, 1024, 1.0)) for s in (1, 2)),
    ]
    assert len({same, *others}) == len(others) + 1


def test_the_same_request_is_paid_once(tmp_path: Path) -> None:
    payer = Payer()
    with CallLog(tmp_path) as log:
        first, again = ask(log, payer), ask(log, payer, role="answer")
        assert (payer.paid, first, again) == (1, call(), call())
        assert log.spent() == {
            "answer": Spend(cached=1),
            "reply": Spend(1, 10, 2, 0.25, 1.5),
        }
        assert log.cost() == Cost(12, 0.25)


def test_a_resumed_run_has_paid_what_is_in_its_folder(tmp_path: Path) -> None:
    payer = Payer()
    for _ in range(2):
        with CallLog(tmp_path) as log:
            assert ask(log, payer) == call()
    with CallLog(tmp_path) as log:
        assert log.spent() == {"reply": Spend(1, 10, 2, 0.25, 1.5)}
    assert payer.paid == 1


def test_a_log_without_a_folder_ends_with_it() -> None:
    payer = Payer()
    with CallLog() as log:
        ask(log, payer)
        ask(log, payer)
    assert payer.paid == 1


def test_failures_are_not_kept(tmp_path: Path) -> None:
    with CallLog(tmp_path) as log:
        with pytest.raises(OutsideFailureError):
            ask(log, Payer(OutsideFailureError("x")))
        assert ask(log, Payer()) == call()
        assert log.spent()["reply"].calls == 1


@pytest.mark.parametrize("error", [None, OutsideFailureError("x")])
def test_threads_that_ask_the_same_pay_once(error: Exception | None) -> None:
    payer = Payer(error, delay=0.2)

    def run(_: int) -> object:
        try:
            return ask(log, payer)
        except OutsideFailureError as failure:
            return str(failure)

    with CallLog() as log, ThreadPoolExecutor(32) as pool:
        assert set(pool.map(run, range(32))) == {"x" if error else call()}
    assert payer.paid == 1


def test_an_interrupt_of_the_one_who_pays_leaves_the_others_to_pay() -> None:
    with CallLog() as log, ThreadPoolExecutor(1) as pool:
        started = threading.Event()

        @contextmanager
        def interrupted() -> Iterator[Call]:
            started.set()
            time.sleep(0.1)
            raise KeyboardInterrupt
            yield

        def wait_and_ask() -> Call:
            started.wait()
            return ask(log, Payer())

        other = pool.submit(wait_and_ask)
        with pytest.raises(KeyboardInterrupt):
            log.once(key_of(0), "reply", interrupted)
        assert other.result() == call()


def test_an_unpriced_call_leaves_no_sum(tmp_path: Path) -> None:
    with CallLog(tmp_path) as log:
        payer = Payer()
        ask(log, payer)
        log.once(key_of(1), "reply", payer.of(call(1, dollars=None)))
        ask(log, payer, 2)
        assert (log.cost().dollars, log.spent()["reply"].dollars) == (None, None)
        assert log.spent()["reply"].calls == 3


def test_a_torn_last_line_is_cut_and_a_damaged_one_paid_again(tmp_path: Path) -> None:
    payer = Payer()
    with CallLog(tmp_path) as log:
        for number in range(3):
            ask(log, payer, number)
    file = tmp_path / FILE
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"?" + lines[1] + lines[2][:-20])
    with CallLog(tmp_path) as log:
        for number in range(3):
            assert ask(log, payer, number) == call(number)
        assert log.spent()["reply"].calls == 3
    assert payer.paid == 5


@pytest.mark.parametrize(
    "changes",
    [
        *({"key": key} for key in ("zz", "abc", "", None, 5)),
        *({"role": role} for role in ([1], {}, None, 5)),
        *({name: odd} for name in ("text", "model", "version") for odd in (None, 5)),
        *({"prompt_tokens": odd} for odd in ("x", -1, 1.5, True, 10**400, None)),
        *({"dollars": odd} for odd in ("x", float("nan"), float("inf"), -1.0, 10**400, True)),
        *({"seconds": odd} for odd in (None, "1", float("nan"))),
        {"shared": 1},
        {"more": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("shared", [False, True])
def test_a_damaged_line_is_skipped(tmp_path: Path, changes: dict, shared: bool) -> None:
    line = json.dumps({**asdict(call(1)), **changes})
    file = tmp_path / (SHARED_FILE if shared else FILE)
    file.write_text(f"{line}\n{json.dumps(asdict(call()))}\n")
    payer = Payer()
    with CallLog(None if shared else tmp_path, tmp_path if shared else None) as log:
        assert [ask(log, payer, number).text for number in (0, 1)] == [call().text, call(1).text]
        assert log.cost() == Cost(12 if shared else 24, 0.25 if shared else 0.5)
    assert payer.paid == 1


@pytest.mark.parametrize("nested", ["[", '{"a":'])
def test_a_line_without_end_is_skipped(tmp_path: Path, nested: str) -> None:
    (tmp_path / FILE).write_text(nested * 200_000 + "\n" + json.dumps(asdict(call())) + "\n")
    with CallLog(tmp_path) as log:
        assert log.cost() == Cost(12, 0.25)


def test_a_key_counts_once_and_what_two_processes_paid_twice(tmp_path: Path) -> None:
    line = json.dumps(asdict(call())) + "\n"
    (tmp_path / FILE).write_text(line + line.replace("text 0", "other"))
    with CallLog(tmp_path) as log:
        assert log.cost() == Cost(12, 0.25)
        log.bring([call()], {})
        assert ask(log, Payer()) == call()
        paid = log.cost()
    with CallLog(tmp_path) as log:
        assert log.cost() == paid == Cost(24, 0.5)


def test_what_another_process_tore_is_cut_before_the_next_line(tmp_path: Path) -> None:
    payer = Payer()
    with CallLog(tmp_path) as log:
        ask(log, payer)
        with (tmp_path / FILE).open("ab") as file:
            file.write(b'{"key": "tor')
        ask(log, payer, 1)
    with CallLog(tmp_path) as log:
        assert [ask(log, payer, number) for number in (0, 1)] == [call(0), call(1)]
    assert payer.paid == 2


def test_runs_share_replies_and_each_keeps_its_own(tmp_path: Path) -> None:
    payer, shared = Payer(), tmp_path / "cache"
    with CallLog(tmp_path / "a", shared) as a, CallLog(tmp_path / "b", shared) as b:
        ask(a, payer)
        assert ask(b, payer, role="answer").text == call().text
        assert b.spent() == {"answer": Spend(cached=1)}
        assert b.cost() == Cost(0, 0.0)
    with CallLog(tmp_path / "b") as b:  # without the shared folder
        ask(b, payer)
        assert b.spent() == {"answer": Spend(cached=1), "reply": Spend(cached=1)}
    assert payer.paid == 1
    assert len((shared / SHARED_FILE).read_bytes().splitlines()) == 1


WRITER = """
import sys
from contextlib import contextmanager
from pathlib import Path
from tests.evolve.lm.test_calls import Payer, ask
from evolve.lm.calls import CallLog

start, folder = int(sys.argv[1]), Path(sys.argv[2])
with CallLog(folder) as log:
    for number in range(start, start + 300):
        ask(log, Payer(), number)
"""


def test_processes_append_to_one_log(tmp_path: Path) -> None:
    with CallLog(tmp_path) as log:
        commands = [[sys.executable, "-c", WRITER, str(n), str(tmp_path)] for n in (0, 200)]
        writers = [subprocess.Popen(command, cwd=ROOT) for command in commands]
        for number in range(1000, 1300):
            ask(log, Payer(), number)
        assert [writer.wait() for writer in writers] == [0, 0]
        payer = Payer()
        for number in (*range(500), *range(1000, 1300)):
            assert ask(log, payer, number) == call(number)
        assert payer.paid == 0, "what the others paid is found without opening it again"
        lines = (tmp_path / FILE).read_bytes().splitlines()
        assert {json.loads(line)["key"] for line in lines} >= {
            key_of(number) for number in (*range(500), *range(1000, 1300))
        }
        assert log.spent()["reply"].calls == len(lines)


def test_a_folder_that_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written"):
        CallLog(tmp_path / "file" / "run")
    with pytest.raises(RunFolderError, match="cannot be written"):
        CallLog(tmp_path, tmp_path / "file")


def test_a_reply_is_found_fast_and_stays_on_disk(tmp_path: Path) -> None:
    with CallLog(tmp_path) as log:
        for number in range(500):
            ask(log, Payer(), number)
        began = time.process_time()
        for number in range(500):
            ask(log, Payer(), number)
        assert (time.process_time() - began) / 500 < 0.001
