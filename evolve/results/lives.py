"""Lives of scope ``user``: how each was lived, and the policy that it ended with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evolve.codec import from_data
from evolve.learning import Learned, ended_with
from evolve.results.journal_lines import Lines
from policies.policy import Policy

_KIND = "life"


class Lives(Mapping[str, Learned]):
    """Lives by user id, each parsed anew when it is asked for.

    Args:
        lines: Where they stand.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._places = {_user(line.key): line for line in lines.others if line.kind == _KIND}

    def __getitem__(self, user: str) -> Learned:
        """A user's life.

        Raises:
            KeyError: The user has none.
            RunFolderError: Its line was changed or damaged.
        """
        return from_data(Learned, self._lines.data(self._places[user]))

    def __iter__(self) -> Iterator[str]:
        """Users in the order in which their lives are journaled."""
        return iter(self._places)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._places)


def own_policies(seed: Policy, lines: Lines, header: Mapping[str, Any]) -> dict[str, Policy]:
    """User id to the policy that the user's life ended with.

    Args:
        seed: That they all began with.
        lines: Of the journal.
        header: Of the journal.
    """
    run, environment = header["run"], header["environment"]
    return {
        _user(key): ended_with(seed, data["lists"], run, environment)
        for key, data in lines.of(_KIND)
    }


def _user(key: str) -> str:
    """The user in a key, which is ``POLICY:USER:LEVEL``."""
    return key.split(":", 1)[1].rsplit(":", 1)[0]
