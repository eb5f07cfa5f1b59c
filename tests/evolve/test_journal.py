"""The journal replays every whole line, exactly, and refuses what is not its own run."""

import errno
import json
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.journal import FILE, SCHEMA, Journal, read_header
from policies.errors import RunFolderError

HEADER = {"options": {"budget": 60, "env": "a.json", "later_rounds": 2}, "environment": "12ab"}
EVENTS = [("rollout", "p:u1", {"n": [1, 2]}), ("verdict", "gen-001.0", {"accepted": True})]

text = st.text(st.characters(codec=None), max_size=6)
json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
events = st.lists(st.tuples(text, text, json_data), max_size=6)


def never():
    raise AssertionError("this was journaled already")


def begin(folder, happened=EVENTS):
    with Journal(folder, HEADER, resume=False) as journal:
        return [journal.once(kind, key, lambda d=data: d) for kind, key, data in happened]


def resumed(folder, header=HEADER):
    return Journal(folder, header, resume=True)


@settings(max_examples=50)
@given(events, st.data())
def test_cut_at_any_byte_it_replays_the_whole_lines_and_goes_on_to_the_same_bytes(happened, data):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        first = begin(folder, happened)
        path = folder / FILE
        whole = path.read_bytes()
        header = whole.index(b"\n") + 1
        cut = data.draw(st.integers(header, len(whole)))
        path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n") - 1
        with resumed(folder) as journal:
            again = [
                journal.once(kind, key, never if number < kept else lambda d=data: d)
                for number, (kind, key, data) in enumerate(happened)
            ]
            assert not journal.replaying
        assert again == first
        assert path.read_bytes() == whole


@settings(max_examples=50)
@given(events)
def test_a_fresh_event_is_handed_back_as_it_will_be_read(happened):
    with tempfile.TemporaryDirectory() as place:
        made = begin(Path(place), happened)
        with resumed(Path(place)) as journal:
            assert [journal.once(kind, key, never) for kind, key, _ in happened] == made


def test_tuples_come_back_as_lists_at_once(tmp_path):
    assert begin(tmp_path, [("a", "b", (1, (2,)))]) == [[1, [2]]]


def test_every_line_is_json_and_in_order(tmp_path):
    begin(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()]
    assert [(line["kind"], line["key"], line["data"]) for line in lines] == [
        ("run", "header", {"schema": SCHEMA, **HEADER}),
        *EVENTS,
    ]


def test_what_making_raises_is_not_journaled(tmp_path):
    with Journal(tmp_path, HEADER, resume=False) as journal:
        before = (tmp_path / FILE).read_bytes()
        with pytest.raises(ZeroDivisionError):
            journal.once("a", "b", lambda: 1 / 0)
        assert (tmp_path / FILE).read_bytes() == before
        assert journal.once("a", "b", lambda: 1) == 1


def test_it_says_what_comes_next(tmp_path):
    begin(tmp_path)
    with resumed(tmp_path) as journal:
        assert journal.replaying
        assert journal.next_is("rollout", "p:u1")
        assert not journal.next_is("rollout", "p:u")
        assert not journal.next_is("verdict", "gen-001.0")
        journal.once("rollout", "p:u1", never)
        journal.once("verdict", "gen-001.0", never)
        assert not journal.replaying
        assert not journal.next_is("verdict", "gen-001.0")


def test_events_in_another_order_are_refused(tmp_path):
    begin(tmp_path)
    with (
        resumed(tmp_path) as journal,
        pytest.raises(RunFolderError, match=r"line 2 .* is rollout p:u1 and not rollout p:u2"),
    ):
        journal.once("rollout", "p:u2", dict)


@pytest.mark.parametrize(
    ("old", "new"), [(b"p:u1", b"p:u2"), (b"[1, 2]", b"[1, 3]"), (b"}, ", b", "), (b": ", b" ")]
)
def test_a_changed_line_is_refused_by_number(tmp_path, old, new):
    begin(tmp_path)
    path = tmp_path / FILE
    header, changed, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, changed.replace(old, new, 1), *rest]))
    with (
        resumed(tmp_path) as journal,
        pytest.raises(RunFolderError, match=r"line 2 .* changed or damaged; restore"),
    ):
        journal.once("rollout", "p:u1", never)


def test_a_second_process_is_refused(tmp_path):
    begin(tmp_path)
    with (
        resumed(tmp_path),
        pytest.raises(RunFolderError, match="in use by another; wait"),
    ):
        resumed(tmp_path)
    with resumed(tmp_path):
        pass


def test_a_process_that_was_killed_holds_no_lock(tmp_path):
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from evolve.journal import Journal\n"
        f"Journal(Path(sys.argv[1]), {HEADER!r}, resume=False)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], check=False)
    with resumed(tmp_path) as journal:
        assert not journal.replaying


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"options": {**HEADER["options"], "budget": 80}}, "--budget was 60 and is now 80;"),
        (
            {"options": {**HEADER["options"], "later_rounds": 3}},
            "--later-rounds was 2 and is now 3;",
        ),
        ({"environment": "34cd"}, "the environment was '12ab' and is now '34cd';"),
        ({"seed_policy": "x"}, "the seed policy was None and is now 'x';"),
        (
            {"environment": "34cd", "options": {**HEADER["options"], "budget": 80}},
            "--budget was 60 and is now 80, the environment was '12ab' and is now '34cd';",
        ),
    ],
)
def test_another_run_is_refused_naming_what_differs(tmp_path, changes, named):
    begin(tmp_path)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(RunFolderError) as error:
        resumed(tmp_path, {**HEADER, **changes})
    assert named in str(error.value)
    assert (tmp_path / FILE).read_bytes() == before


def test_files_may_lie_elsewhere(tmp_path):
    begin(tmp_path)
    with resumed(
        tmp_path, {**HEADER, "options": {**HEADER["options"], "env": "b.json"}}
    ) as journal:
        assert journal.replaying


def test_a_new_run_does_not_go_on_with_an_old_one(tmp_path):
    begin(tmp_path)
    with pytest.raises(RunFolderError, match="holds a run; go on with it by --resume"):
        begin(tmp_path)


NOTHING = [("terms", "budget", {}), ("introduction", "a", 1), ("reserve", "p:u1", {})]


def test_a_new_run_takes_the_place_of_one_that_came_to_nothing(tmp_path):
    begin(tmp_path, NOTHING)
    (tmp_path / "calls.jsonl").touch()
    header = {**HEADER, "environment": "another"}
    with Journal(tmp_path, header, resume=False) as journal:
        assert journal.header == {"schema": SCHEMA, **header}
        assert not journal.replaying
        with pytest.raises(RunFolderError, match="in use by another"):
            begin(tmp_path)
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 1


def test_what_was_paid_keeps_its_place(tmp_path):
    begin(tmp_path, NOTHING)
    (tmp_path / "calls.jsonl").write_text("{}\n")
    with pytest.raises(RunFolderError, match="holds a run; go on with it by --resume"):
        begin(tmp_path)
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 4


@pytest.mark.parametrize("rest", [b"", b'{"kind": "run", "ke'])
def test_a_run_killed_before_its_first_line_is_begun_again(tmp_path, rest):
    (tmp_path / FILE).write_bytes(rest)
    with pytest.raises(RunFolderError, match="nothing was spent: begin it again"):
        resumed(tmp_path)
    begin(tmp_path)
    assert read_header(tmp_path) == {"schema": SCHEMA, **HEADER}


def line(event):
    body = json.dumps(event).encode()[:-1]
    return body + b', "sum": %d}\n' % zlib.crc32(body)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not JSON\n", "line 1 of .* changed or damaged"),
        (line({"kind": "a", "key": "b", "data": {}}), "begins with the run's header"),
        (line({"kind": "run", "key": "header", "data": []}), "begins with the run's header"),
        (
            line({"kind": "run", "key": "header", "data": {"schema": 0, **HEADER}}),
            "has schema 0; resume it with the version that began it",
        ),
    ],
)
def test_what_is_no_journal_of_this_version_is_refused(tmp_path, content, reason):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(RunFolderError, match=reason):
        read_header(tmp_path)
    with pytest.raises(RunFolderError, match=reason):
        resumed(tmp_path)


def test_no_journal_to_resume(tmp_path):
    with pytest.raises(RunFolderError, match=r"cannot be read .No such file"):
        resumed(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match=r"cannot be written .Not a directory"):
        begin(tmp_path / "file" / "run")


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    write, room = os.write, [1000]

    def until_full(file, data):
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(file, data[: room[0]])
        room[0] -= written
        return written

    big = [("rollout", str(number), "x" * 300) for number in range(5)]
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", until_full)
        with pytest.raises(RunFolderError, match=r"No space left on device.; free space"):
            begin(tmp_path, big)
    assert (tmp_path / FILE).stat().st_size == 1000
    with resumed(tmp_path) as journal:
        made = [journal.once(kind, key, lambda d=data: d) for kind, key, data in big]
    assert made == [data for *_, data in big]
