"""The stand-in of rehearsals passes every check, and takes nothing but steps."""

from __future__ import annotations

import pytest

from evolve.gym.generating.author import Author
from evolve.gym.generating.brief import Brief
from evolve.gym.generating.kinds import make_kinds
from evolve.gym.generating.rehearsed import Rehearsed, step_of
from evolve.gym.generating.users import make_user
from evolve.lm.base import Message, Request
from evolve.lm.meter import Meter


@pytest.mark.parametrize("brief", [Brief("a", periods=2, questions=2), Brief("a", questions=20)])
def test_nothing_of_it_is_mended(brief):
    meter = Meter(Rehearsed())
    author = Author(meter, brief, 0)
    make_user(author, make_kinds(author), "u")
    calls = {role: used.calls for role, used in meter.usage}
    # One check for everything that is written, as nothing is written twice.
    assert calls["generate"] == calls["check"]


def test_a_request_of_no_step_is_refused():
    request = Request("generate", (Message("system", "a"), Message("user", "b")))
    with pytest.raises(ValueError, match="of no step"):
        step_of(request)
