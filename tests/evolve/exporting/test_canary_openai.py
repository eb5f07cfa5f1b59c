"""What an export for chat APIs does: OpenAI's own client sends it to a server on loopback."""

from __future__ import annotations

from evolve.exporting.formats import FORMATS
from evolve.exporting.origin import find_origin
from tests.evolve.exporting.conftest import CANARY, REPLY_CANARY
from tests.evolve.lm.chat_server import ChatServer, says


def test_instructions_and_settings_are_in_the_request(policy, tmp_path):
    from openai import OpenAI

    path = tmp_path / "system.md"
    path.write_text(FORMATS["openai"](policy, find_origin(policy, None)).text, encoding="utf-8")
    with (
        ChatServer(lambda *_: says("hello")) as server,
        OpenAI(base_url=server.base, api_key="sk-none") as client,
    ):
        messages = [
            {"role": "system", "content": path.read_text(encoding="utf-8")},
            {"role": "user", "content": "hello"},
        ]
        client.chat.completions.create(model="gpt-4.1-mini", messages=messages)
    (system, _) = server.bodies[0]["messages"]
    assert CANARY in system["content"]
    assert REPLY_CANARY in system["content"]
    assert "at most the 3 notes" in system["content"]
    assert "{{" not in system["content"].partition("-->")[2]
