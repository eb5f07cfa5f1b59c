"""Feedback: what failures say."""
