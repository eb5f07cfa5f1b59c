"""Two policies side by side."""

from evolve.results.side_by_side import Row, as_html, rows_of
from policies.policy import seed_policy


def plain(row: Row) -> tuple[str | None, str | None]:
    sides = (row.before, row.after)
    left, right = (None if side is None else "".join(t for t, _ in side) for side in sides)
    return left, right


def test_lines_that_resemble_each_other_stand_side_by_side():
    rows = rows_of("one\na line of words\nlast", "one\nnew\na line of other words\nlast")
    assert [plain(row) for row in rows] == [
        ("one", "one"),
        (None, "new"),
        ("a line of words", "a line of other words"),
        ("last", "last"),
    ]
    assert [row.changed for row in rows] == [False, True, True, False]
    assert rows[2].before == (("a line of ", False), ("words", False))
    assert ("other ", True) in rows[2].after


def test_a_line_without_a_likeness_is_gone():
    assert [plain(row) for row in rows_of("abc\nend", "end")] == [("abc", None), ("end", "end")]


def test_all_of_both_texts_is_kept():
    before, after = (
        seed_policy("awe").texts["write_prompt"],
        seed_policy("awi").texts["write_prompt"],
    )
    sides = list(zip(*(plain(row) for row in rows_of(before, after)), strict=True))
    assert ["\n".join(line for line in side if line is not None) for side in sides] == [
        before,
        after,
    ]


def test_the_page_shows_settings_and_texts_that_differ_and_escapes_them():
    seed = seed_policy("awe")
    text = seed.texts["answer_prompt"] + "\n<b>& more</b>"
    shown = as_html(seed, seed.derive({"answer_prompt": text}, {"top_k": 7}))
    assert ">30</del>" in shown or f">{seed.settings['top_k']}</del>" in shown
    assert ">7</ins>" in shown
    assert "&lt;b&gt;&amp; more&lt;/b&gt;" in shown
    assert "<b>answer_prompt</b>" in shown
    assert "<b>write_prompt</b>" not in shown
    assert "lines unchanged" in shown


def test_equal_policies_have_nothing_to_show():
    seed = seed_policy("awe")
    assert "<del" not in as_html(seed, seed)
