"""One isolated mem0 store: in memory, asked through our models, silent, without the network."""

from __future__ import annotations

import logging
import os
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from policies.errors import ConfigError

Messages = Sequence[Mapping[str, str]]
Extract = Callable[[Messages], str]
"""From the messages of mem0's extraction prompt to a reply in its form."""

_NAME = "mnemotune"  # of our model and embedder among mem0's providers
_DIGITS = 6  # of a similarity: what single precision tells apart
_SPARE = 50  # entries that may be as similar as the last one asked for
_USER = "user"  # a store serves one rollout, so all in it is this user's


class Mem0Store:
    """A fresh mem0 memory that shares nothing with any other.

    Vectors are kept by qdrant in this process, messages by SQLite in memory. Of mem0's three
    signals for retrieval only the vectors are used: keywords need fastembed and entities spaCy,
    which both fetch a model from the network, and a run must not depend on what else is installed.

    Args:
        extract: Answers mem0's extraction prompt; what it raises passes through ``add``.

    Raises:
        ConfigError: The package mem0ai is missing.
    """

    def __init__(self, extract: Extract) -> None:
        load_mem0()
        self._memory = _open(extract)
        weakref.finalize(self, self._memory.close)

    def add(
        self, messages: Messages, instructions: str, *, infer: bool
    ) -> tuple[tuple[str, str], ...]:
        """Write messages: as what is extracted from them, or each as it is.

        Args:
            messages: Each with role and content.
            instructions: mem0's ``custom_instructions``.
            infer: Whether the model extracts.

        Returns:
            Id and text of every memory that was made; of a known one no second is made.
        """
        failure = import_module("mem0.exceptions").LLMError
        self._memory.custom_instructions = instructions
        try:
            made = self._memory.add([dict(one) for one in messages], user_id=_USER, infer=infer)
        except failure as error:
            raise error.__cause__ or error from None
        return tuple((one["id"], one["memory"]) for one in made["results"])

    def search(self, query: str, top_k: int, threshold: float) -> tuple[str, ...]:
        """Ids of the memories that are like a query, best first.

        Args:
            query: Nothing is like an empty one.
            top_k: How many at most.
            threshold: Least cosine similarity, 0 to 1.
        """
        if not query.strip():
            return ()
        found = self._memory.search(
            query, filters={"user_id": _USER}, top_k=top_k, threshold=threshold
        )
        return tuple(one["id"] for one in found["results"])


class Extractor:
    """A model as mem0 calls one.

    Args:
        config: Of mem0; holds an ``Extract`` as its model.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    def generate_response(self, messages: Messages, **asked: object) -> str:
        """Answer the extraction prompt."""
        reply: str = self.config.model(messages)
        return reply


class Embedder:
    """An embedder as mem0 calls one: hashed n-grams, which need no service."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of one text."""
        return self.embed_batch([text])[0]

    def embed_batch(
        self, texts: Sequence[str], memory_action: str | None = None
    ) -> list[list[float]]:
        """Vectors of several."""
        from evolve.lm.vectors import vectors

        rows: list[list[float]] = vectors(texts).tolist() if texts else []
        return rows


class SteadyVectors:
    """A vector store of mem0's whose order depends on what is in it, and on nothing else.

    The last bits of a similarity depend on where in memory its vectors lie, so that equally similar
    entries would come in another order every time. Here such bits are rounded away, and of entries
    as similar as each other the newest comes first.

    Args:
        inner: The store itself.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._numbers: dict[str, int] = {}

    def insert(
        self, vectors: list[list[float]], payloads: list[dict[str, Any]], ids: list[str]
    ) -> None:
        """Keep vectors under their ids."""
        self._inner.insert(vectors=vectors, payloads=payloads, ids=ids)
        for one in ids:
            self._numbers[one] = len(self._numbers)

    def search(
        self, query: str, vectors: list[float], top_k: int, filters: dict[str, str]
    ) -> list[Any]:
        """The most similar entries, best first."""
        found = self._inner.search(
            query=query, vectors=vectors, top_k=top_k + _SPARE, filters=filters
        )
        for one in found:
            one.score = round(one.score, _DIGITS)
        found.sort(key=lambda one: (-one.score, -self._numbers[one.id]))
        return list(found[:top_k])

    def keyword_search(self, query: str, top_k: int, filters: dict[str, str]) -> None:
        """None: there are no keywords."""


def check_installed() -> None:
    """See that mem0 is there, without the seconds that its import takes.

    Raises:
        ConfigError: The package mem0ai is missing.
    """
    if find_spec("mem0") is None:
        raise ConfigError(
            "Architecture mem0 needs the package mem0ai, which is not installed; install it with "
            "make extras, in the project's folder."
        )


@lru_cache(maxsize=1)
def load_mem0() -> None:
    """Import mem0, its telemetry off, and make it known to it who plays its model and embedder.

    Raises:
        ConfigError: The package mem0ai is missing.
    """
    check_installed()
    os.environ["MEM0_TELEMETRY"] = "False"
    # Whatever it logs reaches us as an exception, or says that an optional package is missing.
    logging.getLogger("mem0").setLevel(logging.CRITICAL)
    before = os.environ.get("MEM0_DIR")
    with tempfile.TemporaryDirectory(prefix="mnemotune-") as home:
        os.environ["MEM0_DIR"] = home  # where it writes a file as it is imported, and never again
        try:
            main = import_module("mem0.memory.main")
        finally:
            os.environ.pop("MEM0_DIR")
            if before is not None:
                os.environ["MEM0_DIR"] = before
    # Where somebody imported it before, too.
    for module in (main, import_module("mem0.memory.telemetry")):
        vars(module)["MEM0_TELEMETRY"] = False
    factory = import_module("mem0.utils.factory")
    factory.LlmFactory.register_provider(_NAME, f"{__name__}.{Extractor.__name__}")
    factory.EmbedderFactory.provider_to_class[_NAME] = f"{__name__}.{Embedder.__name__}"
    spacy = vars(import_module("mem0.utils.spacy_models"))
    spacy["_load_failed_full"] = spacy["_load_failed_lemma"] = True  # as where it is not installed


def _open(extract: Extract) -> Any:
    """A memory of its own."""
    from evolve.lm.vectors import DIMENSIONS

    # These two refuse providers of one's own, which the factories behind them accept.
    llm = import_module("mem0.llms.configs").LlmConfig
    embedder = import_module("mem0.embeddings.configs").EmbedderConfig
    store = {"path": ":memory:", "embedding_model_dims": DIMENSIONS}
    config = import_module("mem0.configs.base").MemoryConfig(
        llm=llm.model_construct(provider=_NAME, config={"model": extract}),
        embedder=embedder.model_construct(provider=_NAME, config={}),
        vector_store={"provider": "qdrant", "config": store},
        history_db_path=":memory:",
    )
    memory = import_module("mem0.memory.main").Memory(config)
    memory.vector_store._bm25_encoder = False  # as where fastembed is not installed
    memory.vector_store = SteadyVectors(memory.vector_store)
    return memory
