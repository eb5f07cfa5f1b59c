"""The command that exports: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json

import pytest

from evolve.agents.own import declare_agent
from evolve.export import main
from evolve.exporting.formats import FORMATS, is_export
from evolve.journal import read_header
from policies.policy import read_policy, write_policy
from tests.evolve.results.conftest import made, run  # noqa: F401  # fixtures


def test_what_is_lost_is_on_screen_and_in_the_file(run, tmp_path, capsys):  # noqa: F811
    out = tmp_path / "mem0.json"
    assert main([str(run), "--format", "mem0", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    file = json.loads(out.read_text(encoding="utf-8"))
    assert "max_memory_tokens 2000  not expressed" in said
    assert "max_memory_tokens 2000" in file["mnemotune"]["not_expressed"]
    assert "left out of write_prompt: 'Answer with one JSON object" in said
    stand_in = "tuned to the offline stand-in, which is not an LLM (run mine)"
    assert f"policy: {stand_in}" in said
    assert file["mnemotune"]["tuned_to"] == stand_in
    env = read_header(run)["options"]["env"]
    assert f"evolve.eval --policy {run}/best.yaml --against awi --env {env} --model openai/" in said


def test_nothing_is_written_among_the_files_of_a_run(run, capsys):  # noqa: F811
    for place in (run / "x.yaml", run / "policies" / "x.yaml"):
        assert main([str(run), "--format", "yaml", "-o", str(place)]) == 2
        assert not place.exists()
        assert "inside" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["", ".", "file/x"])
def test_a_place_that_cannot_be_written_is_one_sentence(run, tmp_path, place, capsys, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main([str(run), "--format", "openai", "-o", place]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: The export must be written, but ")
    assert error.count("\n") == 1


def test_a_name_that_is_too_long_is_one_sentence(tmp_path, capsys):
    assert main(["x" * 300, "--format", "yaml", "-o", str(tmp_path / "x.yaml")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_of_a_memory_system_of_ones_own_is_exported_with_its_class(
    tmp_path, capsys, monkeypatch
):
    name = "evolve.agents.example:UserWords"
    write_policy(declare_agent(name), tmp_path / "words.yaml")
    monkeypatch.setattr("policies.declared._DECLARED", {})  # as in another process
    out = str(tmp_path / "words.md")
    command = [str(tmp_path / "words.yaml"), "--format", "openai", "-o", out]
    assert main(command) == 2
    assert "add --agent with this name" in capsys.readouterr().err
    assert main([*command, "--agent", name]) == 0
    assert "left to your code" in capsys.readouterr().out


def test_only_an_earlier_export_of_the_format_is_replaced(tmp_path, capsys):
    seed, out = "policies/seeds/awe.yaml", tmp_path / "x"
    for format_name in FORMATS:
        out.unlink(missing_ok=True)
        command = [seed, "-o", str(out), "--format"]
        for word in ("written", "replaced"):
            assert main([*command, format_name]) == 0
            assert capsys.readouterr().out.endswith(f"{word}: {out}\n")
        text = out.read_text(encoding="utf-8")
        assert [one for one in FORMATS if is_export(text, one)] == [format_name]
    assert main([*command, "yaml"]) == 2
    assert "-o names a new file, or an earlier export as yaml" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == text


def test_a_seed_of_the_package_is_not_overwritten(capsys):
    seed = "policies/seeds/awe.yaml"
    assert main(["policies/seeds/awi.yaml", "--format", "yaml", "-o", seed]) == 2
    assert "Files of Mnemotune itself" in capsys.readouterr().err
    assert read_policy(seed).architecture == "awe"
