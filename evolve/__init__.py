"""The loop: environments, agents, optimization."""
