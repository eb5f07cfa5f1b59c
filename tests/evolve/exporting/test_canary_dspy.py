"""What an export for dspy does in dspy itself: it loads, and the model sees the instructions."""

from __future__ import annotations

import pytest

from evolve.exporting.formats import FORMATS
from evolve.exporting.origin import find_origin
from evolve.lm.base import Completion
from evolve.lm.dspy_lm import RewriteEngine
from tests.evolve.exporting.conftest import CANARY, REPLY_CANARY


@pytest.fixture
def program():
    """A program as a reader of the guide writes it; nothing of it is Mnemotune's."""
    import dspy

    class Assistant(dspy.Module):
        def __init__(self):
            super().__init__()
            self.write = dspy.Predict("memories, conversation -> notes")
            self.reply = dspy.Predict("memories, conversation, message -> reply")
            self.answer = dspy.Predict("memories, conversation, question -> answer")

    return Assistant()


class Scripted:
    """A model that keeps its prompts and fills every field that could be asked for."""

    def __init__(self):
        self.prompts = []

    def complete(self, request):
        self.prompts.append("\n".join(message.content for message in request.messages))
        text = "".join(f"[[ ## {field} ## ]]\nfine\n\n" for field in ("notes", "reply", "answer"))
        return Completion(text, 1, 1)


def test_the_saved_program_loads_and_runs_with_the_instructions(policy, program, tmp_path):
    import dspy

    path = tmp_path / "program.json"
    path.write_text(FORMATS["dspy"](policy, find_origin(policy, None)).text)
    program.load(path)
    scripted = Scripted()
    model = dspy.LM("canary", engine=RewriteEngine(scripted, 0), cache=False)
    assert program.write(memories="none", conversation="hello", lm=model).notes == "fine"
    assert CANARY in scripted.prompts[-1]
    asked = {"memories": "none", "conversation": "", "message": "hello"}
    assert program.reply(**asked, lm=model).reply == "fine"
    assert REPLY_CANARY in scripted.prompts[-1]
    assert "{{" not in "".join(p.signature.instructions for _, p in program.named_predictors())
