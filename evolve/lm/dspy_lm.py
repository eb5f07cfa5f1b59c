"""A dspy engine for any Mnemotune model, so that rewrites run through dspy and are counted as such.

dspy is imported when a rewrite is asked for, never before (0.8 s, 60 MB). It gets no cache, no
retries, no history and no credentials: the model behind the engine owns all of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evolve.lm.base import CAPS, LM, Message, Request
from policies.errors import MnemotuneError, RejectedTextError

MOST_TOKENS = CAPS["rewrite"]
TEMPERATURE = 1.0  # a real model must not repeat itself; reasoning models take no other


class RewriteEngine:
    """What ``dspy.LM("name", engine=...)`` takes: passes prompts on as role ``rewrite``.

    Args:
        lm: The model that answers.
        seed: Of the rewrite; a second prompt of the same rewrite, as when dspy asks again for JSON,
            differs by its text.
    """

    def __init__(self, lm: LM, seed: int) -> None:
        self._lm = lm
        self._seed = seed

    def complete(self, request: Any) -> Any:
        """Answer a ``dspy.lm15.Request`` with a ``dspy.lm15.Response``.

        Raises:
            RejectedTextError: The reply was cut off at ``MOST_TOKENS``.
            MnemotuneError: Whatever the model raises.
        """
        from dspy import lm15

        done = self._lm.complete(
            Request(
                task="rewrite",
                messages=tuple(_messages(request)),
                seed=self._seed,
                max_tokens=MOST_TOKENS,
                temperature=TEMPERATURE,
            )
        )
        if done.completion_tokens >= MOST_TOKENS:
            raise RejectedTextError(f"the rewrite was cut off after {MOST_TOKENS} tokens")
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant(done.text),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=done.prompt_tokens, output_tokens=done.completion_tokens),
        )


def ask(lm: LM, seed: int, program: Callable[[], str | None]) -> str | None:
    """Run a dspy program with a model, in this thread and for this call only.

    Args:
        lm: The model.
        seed: Of all calls that the program makes.
        program: Calls dspy modules and returns the text that they give.

    Returns:
        What the program returns.

    Raises:
        RejectedTextError: dspy could not read the reply, in its own format or as JSON.
        MnemotuneError: Whatever the model raises, as it raised it.
    """
    import dspy
    from dspy.utils.exceptions import AdapterParseError, LMError

    engine = RewriteEngine(lm, seed)
    model = dspy.LM("mnemotune", engine=engine, cache=False, num_retries=0)
    try:
        with dspy.context(
            lm=model, adapter=dspy.ChatAdapter(), disable_history=True, trace=None, callbacks=[]
        ):
            return program()
    except AdapterParseError as error:
        named = " and ".join(error.signature.output_fields)
        raise RejectedTextError(f"the rewriter's reply has no {named} that can be read") from error
    except LMError as error:
        # dspy wraps what an engine raises; callers know the model's own errors.
        if not isinstance(error.__cause__, MnemotuneError):
            raise
        failure = error.__cause__
    raise failure


def _messages(request: Any) -> list[Message]:
    """A ``dspy.lm15.Request`` as chat messages; rewrites are text only."""
    system = request.system
    messages = [Message("system", _text(system))] if system else []
    return messages + [Message(message.role, _text(message.parts)) for message in request.messages]


def _text(parts: Any) -> str:
    return parts if isinstance(parts, str) else "".join(part.text for part in parts)
