"""The form of a rewritten text."""

import pytest

from policies.errors import RejectedTextError
from policies.text_form import check_form, form_of

ASKS = 'Answer with JSON only, {"label": "value"}.\n{{memories}}'


@pytest.mark.parametrize(
    ("parent", "new", "reason"),
    [
        (ASKS, "Write down what matters.\n{{memories}}", "no longer asks for a JSON object"),
        (ASKS, "Answer with JSON only.\n{{memories}}", "no longer asks for a JSON object"),
        (ASKS, f"{ASKS} {{{{ memories }}}}", "which is no placeholder"),
        (ASKS, f"{ASKS} {{memories}}", "which is no placeholder"),
        (ASKS, f"{ASKS} {{{{user name}}}}", "which is no placeholder"),
        ("Plain words.", "Plain {{words}.", "which is no placeholder"),
    ],
)
def test_refused_with_the_reason(parent, new, reason):
    with pytest.raises(RejectedTextError, match=reason):
        check_form(parent, new)


@pytest.mark.parametrize(
    ("parent", "new"),
    [
        (ASKS, 'A json object such as {"type": "fact"} and no more.\n{{memories}}'),
        ("Plain words.", 'Now with {"braces"}.'),
        ("Odd {{x y}} words.", "Odd {{x y}} words stay."),
    ],
)
def test_taken(parent, new):
    check_form(parent, new)


def test_the_form_is_asked_for_by_a_word_and_shown_by_braces():
    assert form_of(ASKS) == {"json", "{"}
    assert form_of("JSON, please.") == {"json"}
    assert form_of("{{memories}} {") == set()
