"""What tests of exports share: a policy that differs from every seed, and where it came from."""

from __future__ import annotations

import json

import pytest

from evolve.exporting.formats import FORMATS
from evolve.exporting.origin import find_origin
from policies.policy import seed_policy
from tests.evolve.results.conftest import made, run  # noqa: F401  # fixtures

CANARY = "- canary in the mine: which bird the user keeps below the ground"
REPLY_CANARY = "Whistle before you speak."


@pytest.fixture
def policy():
    """Of architecture awe, with words that stand nowhere else."""
    seed = seed_policy("awe")
    return seed.derive(
        texts={
            "memory_types": f"{seed.texts['memory_types']}{CANARY}\n",
            "reply_prompt": f"{REPLY_CANARY}\n{seed.texts['reply_prompt']}",
        },
        settings={"top_k": 3},
    )


@pytest.fixture
def export(policy):
    """An export as JSON; of the policy with the canary unless another is given."""

    def export(format_name, other=None):
        chosen = other or policy
        return json.loads(FORMATS[format_name](chosen, find_origin(chosen, None)).text)

    return export
