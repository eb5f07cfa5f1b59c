"""The environment: users, simulated conversations, rollouts."""
