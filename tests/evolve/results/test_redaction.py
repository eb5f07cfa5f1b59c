"""After redaction no word of a user is in any file, all numbers are, and nothing can be resumed."""

import json
import re

import pytest

from evolve.folder import LOG, SUMMARY
from evolve.journal import FILE, locked
from evolve.lm.call import Call, decode, encode
from evolve.lm.calls import FILE as CALLS_FILE
from evolve.report import REPORT
from evolve.results.redaction import KINDS, MARK, redact
from evolve.results.run_record import diagnoses, learned_diagnoses, read_run
from feedback.scores import score
from policies.errors import PolicyFileError, RunFolderError
from policies.policy import read_policy
from tests.pages import DESIGN


def words_of(run):
    """Every text that a user, the assistant or a memory made, long enough to be told apart."""
    record = read_run(run)
    found = set()
    for rollout in record.rollouts.values():
        found |= {message.content for message in rollout.messages}
        found |= {entry.text for entry in rollout.entries}
        found |= {value for message in rollout.messages for _, value in message.told}
        found |= {answer.probe_reply for answer in rollout.answers}
    return {text for text in found if len(text) > 12}


def plain(diagnosis):
    return diagnosis.user, diagnosis.period, diagnosis.question, diagnosis.stage, diagnosis.lucky


def test_no_word_stays_and_every_number_does(run, made):
    words, before = words_of(run), read_run(made / "runs" / "mine")
    assert len(words) > 100
    (run / REPORT).write_text(f"<p>{max(words)}</p>")
    (run / "notes.txt").write_text("mine")
    done = redact(run)
    assert FILE in done.changed
    assert done.removed == (LOG, REPORT)
    assert done.unknown == ("notes.txt",)
    contents = {path: path.read_text() for path in run.rglob("*") if path.is_file()}
    escaped = {json.dumps(word, ensure_ascii=False)[1:-1] for word in words}
    for path, content in contents.items():
        assert [word for word in words | escaped if word in content] == [], path
    after = read_run(run)
    assert after.redacted
    assert (after.summary, after.bounds) == (before.summary, before.bounds)
    assert after.policies.keys() == before.policies.keys()
    for policy in after.policies:
        was, now = diagnoses(before, policy), diagnoses(after, policy)
        assert list(map(plain, was)) == list(map(plain, now))
        assert not any(diagnosis.trace for diagnosis in now)
    usage = [rollout.usage for rollout in after.rollouts.values()]
    assert usage == [rollout.usage for rollout in before.rollouts.values()]


def test_feedback_keeps_its_numbers_and_headings(run):
    before = (run / "feedback" / "gen-001.md").read_text()
    redact(run)
    after = (run / "feedback" / "gen-001.md").read_text()
    kept = re.findall(r"^[#|].*$", before, re.M)
    assert re.findall(r"^[#|].*$", after, re.M) == kept
    assert "- said in" in before
    assert "- said in" not in after


def test_it_cannot_be_resumed_and_may_be_redacted_again(run, resume):
    redact(run)
    files = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(RunFolderError, match="what users said was removed"):
        resume(run)
    redact(run)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == files


def test_refused_texts_and_reasons_that_may_quote_go(run, append):
    proposal = {"operator": "rewrite:x", "texts": {"x": "I own a parrot"}, "settings": {}}
    quoting = {"proposal": proposal, "rejected": "it copies 'I own a parrot'", "usage": {}}
    candidate = next((run / "candidates").glob("*.yaml"))
    failed = candidate.read_text().replace("stage: installed", "stage: failed")
    candidate.write_text(failed.replace("installed without a test", "I own a parrot"))
    verdict = {"stage": "text", "reason": "it copies 'I own a parrot'"}
    append(
        run,
        ("proposal", "gen-999.0", quoting),
        ("verdict", "gen-999.0", verdict),
        ("proposal", "gen-999.1", {"reply": "I own a parrot", "usage": {}}),
        ("verdict", "gen-999.1", {"stage": "gate", "reason": "p 0.4"}),
    )
    summary = json.loads((run / SUMMARY).read_text())
    summary["ended"] = "every rollout of the installed policy failed: I own a parrot"
    (run / SUMMARY).write_text(json.dumps(summary))
    call = Call("ab" * 32, "reply", "m", "v", "I own a parrot", 5, 6, 0, 0.25, 1.5)
    (run / CALLS_FILE).write_bytes(encode(call) + b"I own a parrot\n")
    redact(run)
    assert [p for p in run.rglob("*.*") if p.is_file() and "parrot" in p.read_text()] == []
    lines = (run / CALLS_FILE).read_bytes().splitlines()
    assert [(c.text, c.dollars, c.seconds) for c in map(decode, lines)] == [(MARK, 0.25, 1.5)]
    assert b"p 0.4" in (run / FILE).read_bytes()
    assert read_policy(candidate).scores["reason"] == MARK


def test_users_own_lives_are_redacted_too(lives):
    before = read_run(lives)
    was = learned_diagnoses(before)
    said = {m.content for life in before.lives.values() for m in life.rollout.messages}
    redact(lives)
    content = (lives / FILE).read_text()
    assert [text for text in said if json.dumps(text, ensure_ascii=False)[1:-1] in content] == []
    after = read_run(lives)
    assert list(map(plain, learned_diagnoses(after))) == list(map(plain, was))
    found = score(learned_diagnoses(after), after.bounds)
    assert found.accuracy == after.summary["periods"]["all"]["learned"]["accuracy"]
    assert after.own == before.own


def test_a_run_in_use_or_with_unknown_events_is_left_alone(run, append):
    before = (run / FILE).read_bytes()
    with locked(run), pytest.raises(RunFolderError, match="in use by another"):
        redact(run)
    assert (run / FILE).read_bytes() == before
    append(run, ("diary", "of ann", "dear diary"))
    with pytest.raises(RunFolderError, match="does not know 'diary'"):
        redact(run)
    assert (run / FILE).read_bytes().startswith(before)


def test_every_kind_of_event_in_the_design_is_known():
    table = DESIGN.read_text().partition("The kinds:\n\n")[2].partition("\n\n")[0]
    kinds = re.findall(r"^\| `(\w+)` \|", table, re.M)
    assert {"run", "rollback"} < set(kinds) <= KINDS.keys()


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b"null", b'"x"', b"\xff", b"[" * 200_000, b"9" * 5000]
)
def test_what_is_damaged_is_removed_and_the_rest_redacted(run, damage):
    (run / SUMMARY).write_bytes(damage)
    feedback = run / "feedback" / "gen-001.md"
    feedback.write_bytes(b"I own a parrot \xff")
    (run / CALLS_FILE).write_bytes(b"I own a parrot\n")
    done = redact(run)
    assert {SUMMARY, "feedback/gen-001.md"} <= set(done.removed)
    assert not (run / SUMMARY).exists()
    assert not feedback.exists()
    assert (run / CALLS_FILE).read_bytes() == b""


def test_a_full_disk_and_a_damaged_candidate_are_one_sentence(run, monkeypatch):
    def full(path, pieces):
        raise OSError(28, "No space left on device")

    before = (run / FILE).read_bytes()
    with monkeypatch.context() as disk:
        disk.setattr("evolve.results.redaction.write_pieces", full)
        with pytest.raises(RunFolderError, match=r"one in .*mine cannot be"):
            redact(run)
    next((run / "candidates").glob("*.yaml")).write_text("[]")
    with pytest.raises(PolicyFileError):
        redact(run)
    assert (run / FILE).read_bytes() == before
