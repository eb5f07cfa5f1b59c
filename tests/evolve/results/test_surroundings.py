"""What a run folder does not hold itself: found where it was, or said to be gone."""

import pytest

from evolve.agents.own import declare_agent
from evolve.config import Options
from evolve.folder import SEED
from evolve.results.surroundings import find_seed
from policies import declared
from policies.errors import AgentError
from policies.policy import write_policy

NAME = "evolve.agents.example:UserWords"


def test_the_seed_of_a_memory_system_of_ones_own(tmp_path, monkeypatch):
    seed = declare_agent(NAME)
    write_policy(seed, tmp_path / SEED)
    monkeypatch.setattr(declared, "_DECLARED", {})  # as another process finds it
    header, options = {"seed_policy": seed.id}, Options(60, policy=NAME, agent=NAME)
    assert find_seed(tmp_path, options, header) == seed
    gone = Options(60, policy="no.such:Thing", agent="no.such:Thing")
    with pytest.raises(AgentError, match=r"no\.such"):
        find_seed(tmp_path, gone, header)
