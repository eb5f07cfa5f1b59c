"""LoCoMo: recorded conversations of two people, questions about them, and the turns that answer."""
