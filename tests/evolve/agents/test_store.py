"""The life of entries, and the limit of memory."""

from hypothesis import given
from hypothesis import strategies as st

from evolve.agents.store import Store
from evolve.lm.base import count_tokens

LIMIT = 200


def size(entry):
    return count_tokens(f"{entry.label}: {entry.text}")


def test_an_entry_says_where_it_comes_from(batch_of):
    store = Store(LIMIT)
    for number in range(2):
        batch = batch_of(number)
        made = store.add(batch, "drink", f"tea {number}", batch.ids)
        store.close(batch, (made.id,))
    first, second = store.entries
    assert (second.id, second.label, second.text) == (1, "drink", "tea 1")
    assert (second.sources, second.written, second.period, second.session) == (
        ("0.1.0.u",),
        *(1, 0, 1),
    )
    assert store.live == store.entries
    assert [write.batch for write in store.writes] == [first.sources, second.sources]


def test_a_retired_entry_stays_with_its_reason(batch_of):
    store = Store(LIMIT)
    made = store.add(batch_of(0), "drink", "tea", ("0.0.0.u",))
    store.close(batch_of(0), (made.id,))
    before = store.version
    store.retire(made.id, "superseded")
    store.close(batch_of(1), ())
    assert store.live == ()
    assert store.tokens == 0
    assert (store.entries[0].retired, store.entries[0].retired_because) == (1, "superseded")
    assert store.version != before


def test_over_the_limit_the_entry_longest_without_update_goes(batch_of):
    store = Store(LIMIT)
    for number, letters in enumerate((300, 300, 100)):  # 75, 75 and 25 tokens and the label's
        batch = batch_of(number)
        store.close(batch, (store.add(batch, "n", "x" * letters, batch.ids).id,))
    assert [entry.id for entry in store.live] == [0, 1, 2]
    refreshed = store.add(batch_of(3), "n", "x" * 300, ("0.0.0.u",))
    store.retire(0, "superseded")
    store.close(batch_of(3), (refreshed.id,))
    added = store.add(batch_of(4), "n", "y" * 200, ("0.4.0.u",))
    store.close(batch_of(4), (added.id,))
    assert [entry.id for entry in store.live] == [2, 3, 4]
    assert store.entries[1].retired_because == "max_memory_tokens"
    assert store.entries[1].retired == 4


def test_an_entry_larger_than_memory_leaves_nothing(batch_of):
    store = Store(LIMIT)
    for number, letters in enumerate((40, 4000)):
        batch = batch_of(number)
        store.close(batch, (store.add(batch, "n", "x" * letters, batch.ids).id,))
    assert store.live == ()
    assert store.tokens == 0


WRITES = st.lists(  # entries that a write adds, by length, and live entries that it retires
    st.tuples(st.lists(st.integers(0, 500), max_size=3), st.lists(st.integers(0, 9), max_size=2))
)


@given(writes=WRITES)
def test_tokens_add_up_and_stay_within_the_limit(batch_of, writes):
    store = Store(LIMIT)
    for number, (lengths, places) in enumerate(writes):
        batch, before = batch_of(number), store.live
        gone = {before[place].id for place in places if place < len(before)}
        for entry_id in sorted(gone):
            store.retire(entry_id, "superseded")
        made = [store.add(batch, "", "茶" * length, batch.ids) for length in lengths]
        store.close(batch, tuple(entry.id for entry in made))
        assert store.tokens == sum(map(size, store.live)) <= LIMIT
        # What had to go was the oldest: nothing older than a survivor was kept in its place.
        rest = [entry for entry in (*before, *made) if entry.id not in gone]
        assert [e.id for e in store.live] == [e.id for e in rest[len(rest) - len(store.live) :]]
        if len(store.live) < len(rest):
            assert store.tokens + size(rest[-len(store.live) - 1]) > LIMIT
        assert all(e.retired is None for e in store.live)
        assert len(store.writes) == number + 1
