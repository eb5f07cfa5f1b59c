"""Markdown as HTML that can do no harm."""

import pytest

from evolve.results.markdown import to_html


def test_headings_tables_and_lists():
    html = to_html("# Title\n\n| a | b |\n| --- | --- |\n| 1 | `x` |\n\n- one\n  - two\n")
    for part in ("<h1>Title</h1>", "<td>1</td>", "<code>x</code>", "<li>two</li>"):
        assert part in html


@pytest.mark.parametrize(
    "said",
    [
        "<script>alert(1)</script>",
        '<img src="http://a/b.png">',
        "![image](http://a/b.png)",
        "[link](http://a/b)",
        "<http://a/b>",
        "[ref]\n\n[ref]: http://a/b",
        "&lt;b&gt;",
    ],
)
def test_what_was_said_stays_text(said):
    html = to_html(f"- said: {said}\n")
    assert [part for part in ("<script", "<img", "<a ", "<b>") if part in html] == []
    assert "said: " in html
