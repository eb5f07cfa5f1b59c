"""When messages leave the window."""

from hypothesis import given
from hypothesis import strategies as st

from evolve.agents.buffer import Buffer
from feedback.records import ChatMessage


def messages(count):
    return [ChatMessage(f"0.0.{n // 2}.{'ua'[n % 2]}", "user", str(n)) for n in range(count)]


@given(
    write_every=st.sampled_from((2, 4, 8)),
    window=st.integers(0, 8).map(lambda n: 2 * n),
    pushes=st.lists(st.integers(0, 9), max_size=12),
)
def test_the_oldest_leave_when_window_and_batch_are_full(write_every, window, pushes):
    buffer, said, gone = Buffer(write_every, window), messages(sum(pushes)), []
    start = 0
    for size in pushes:
        due = buffer.push(said[start : start + size])
        start += size
        assert all(len(batch) == write_every for batch in due)
        gone += [message for batch in due for message in batch]
        # Nothing is lost, doubled or moved, and what stays never fills window and batch.
        assert [*gone, *buffer.messages] == said[:start]
        assert len(buffer.messages) < write_every + window
        assert len(gone) == write_every * max(0, (start - window) // write_every)


def test_by_hand():
    buffer, said = Buffer(2, 4), messages(8)
    assert buffer.push(said[:5]) == []
    assert buffer.push(said[5:6]) == [(said[0], said[1])]
    assert buffer.messages == tuple(said[2:6])
    assert buffer.push(said[6:]) == [(said[2], said[3])]
    assert buffer.push([]) == []


def test_without_a_window_every_full_batch_leaves():
    buffer, said = Buffer(4, 0), messages(9)
    assert buffer.push(said) == [tuple(said[:4]), tuple(said[4:8])]
    assert buffer.messages == (said[8],)
