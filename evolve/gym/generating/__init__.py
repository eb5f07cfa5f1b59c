"""A model writes an environment: users, their states, questions and what they say, all checked."""
