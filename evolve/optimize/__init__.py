"""Proposals and choice."""
