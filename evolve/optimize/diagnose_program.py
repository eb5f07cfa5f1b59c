"""The dspy side of diagnosing: how a model is asked for causes of failures, and for settings.

Importing this module imports dspy; ``evolve.optimize.diagnose_and_set`` does so when it first asks.
"""

from __future__ import annotations

import dspy

# Given by name: python -OO drops the docstring that dspy would take it from.
_INSTRUCTIONS = """\
Choose better settings for the memory of an assistant.

Study the log of what went wrong: at which step facts were lost, and in which answers. Say what
causes most of it. Then change the settings that act on those causes, one or several, by as much as
it takes. Do not repeat what was tried and not kept. Reply with the changed settings alone, as one
JSON object of names and values."""


class DiagnoseFailures(dspy.Signature):  # type: ignore[misc]  # dspy is untyped
    """Name causes of failures and new settings; asked in the words of ``_INSTRUCTIONS``."""

    settings: str = dspy.InputField(desc="each with its present value, what it may be and means")
    tried: str = dspy.InputField(desc="earlier changes and what became of them, the latest last")
    failure_log: str = dspy.InputField(desc="how the assistant fared with the present settings")
    root_causes: str = dspy.OutputField(desc="what causes most of the failures, briefly")
    new_settings: str = dspy.OutputField(desc="a JSON object of changed settings to new values")


class Diagnoser(dspy.Module):  # type: ignore[misc]
    """Names causes of failures and settings that act on them."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(DiagnoseFailures.with_instructions(_INSTRUCTIONS))

    def forward(self, settings: str, tried: str, failure_log: str) -> dspy.Prediction:
        """A prediction with ``root_causes`` and ``new_settings``."""
        return self.predict(settings=settings, tried=tried, failure_log=failure_log)
