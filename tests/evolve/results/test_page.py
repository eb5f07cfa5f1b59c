"""The page of a run: whole, needing nothing else, and safe whatever was said."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest

from evolve.results import page as module
from evolve.results.failures import Failures
from evolve.results.page import page_of
from evolve.results.run_record import read_run

NASTY = "</script><script>alert(1)</script><img src=http://a/b.png onerror=alert(2)>"


@pytest.fixture(scope="module")
def record(made):
    return read_run(made / "runs" / "mine")


@pytest.fixture(scope="module")
def html(record):
    return page_of(record)


@pytest.fixture
def quick(monkeypatch):
    """Leaves out the figures, which take most of the time."""
    monkeypatch.setattr(module, "charts_of", lambda *_: {})


def data_of(html):
    packed = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    return json.loads(packed[1])


def without_failures(html):
    return re.sub(r'<script type="application/json".*?</script>', "", html, flags=re.S)


def test_it_asks_for_nothing_else(html):
    plain = without_failures(html)
    assert set(re.findall(r"https?://[^\"'\s<>]+", plain)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(
        r"<link (?!rel=\"icon\" href=\"data:,\")|@import|<iframe|<img|\bsrc=", plain
    )
    places = re.findall(r'(?:href|url)(?:="|\()([^")]*)', plain)
    assert all(place.startswith(("#", "data:,")) for place in places)


def test_it_lets_no_script_run_but_its_own(html):
    scripts = re.findall(r"<script>(.*?)</script>", html, re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in html


def test_it_has_every_part(html, record):
    for part in ("results", "lineage", "generations", "failures", "spent", "configuration"):
        assert f'<section id="{part}">' in html
    for one in record.candidates:
        assert html.count(f'id="{one.name}"') == 1
        assert html.count(f'href="#{one.name}"') == 1
    assert "a deterministic stand-in" in html
    assert "Feedback that it was made from" in html
    assert html.count("<figure>") >= 3
    assert data_of(html)["policies"][:2] == ["seed", "best"]


def test_the_same_run_gives_the_same_page(html, record):
    assert page_of(record) == html


def test_names_within_the_page_are_its_own_and_once(html):
    names = re.findall(r'\sid="([^"]+)"', html)
    assert len(names) == len(set(names))


def test_what_users_and_models_said_is_text(record, quick, monkeypatch):
    answers = Failures({"policies": [NASTY], "users": [], "lives": []}, 0, 0)
    monkeypatch.setattr(module, "failures_of", lambda *_: answers)
    first = record.candidates[0]
    nasty = replace(first, verdict=replace(first.verdict, reason=NASTY))
    candidates = (nasty, *record.candidates[1:])
    feedback = {1: f"- said: {NASTY}"}
    html = page_of(replace(record, name=NASTY, candidates=candidates, feedback=feedback))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert data_of(html)["policies"] == [NASTY]


def test_a_run_that_goes_on_has_a_page(record, quick):
    html = page_of(replace(record, summary=None))
    assert "has not ended" in html
    assert '<section id="spent">' not in html
    assert '<section id="failures">' in html


def test_a_run_that_has_just_begun_has_a_page(record):
    bare = replace(
        record, summary=None, candidates=(), rollouts={}, feedback={}, versions=(record.seed,),
        best=record.seed, bounds={},
    )  # fmt: skip
    html = page_of(bare)
    assert '<section id="configuration">' in html
    assert '<section id="lineage">' not in html


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"users": None, "field": None}, "is gone or was changed"),
        ({"redacted": True}, "was removed from this run"),
    ],
)
def test_without_what_was_said_there_is_no_browser_of_failures(record, quick, changed, said):
    html = page_of(replace(record, **changed))
    assert said in html
    assert '<section id="failures">' not in html
    assert '<section id="lineage">' in html


def test_feedback_over_the_limit_and_repeated_is_referred_to(record, quick, monkeypatch):
    monkeypatch.setattr(module, "_FEEDBACK_BYTES", 40)
    feedback = {1: "# first", 2: "# first", 3: "# " + "long " * 20}
    html = page_of(replace(record, feedback=feedback))
    assert "<h1>first</h1>" in html
    assert "The same feedback as for generation 1." in html
    assert "it is in feedback/gen-003.md" in html


def test_a_rollback_and_lost_files_are_said(record, quick):
    html = page_of(replace(record, rollbacks=(record.best.id,), missing=("gen-001.0",)))
    assert "was rolled back to" in html
    assert "candidates whose files are gone are left out: gen-001.0" in html


def test_a_refused_rewrite_stands_in_its_own_generation_with_its_words(record, quick):
    version = record.candidates[0]
    verdict = replace(version.verdict, candidate=version.policy.id, incumbent=version.policy.id)
    refused = replace(
        version,
        name="gen-900.0",
        verdict=replace(verdict, accepted=False, stage="text"),
        proposal={"proposal": {"texts": {"memory_types": "- words that were refused"}}},
    )
    html = page_of(replace(record, candidates=(*record.candidates, refused)))
    after = html.split("Generation 900</h3>")[1]
    assert 'id="gen-900.0"' in after
    assert "words that were refused" in after
    assert f"made from</dt><dd>{version.name}<" in after


def test_a_candidate_says_what_it_was_made_from_and_compared_with(record, quick):
    first, *others = record.candidates
    verdict = replace(first.verdict, accepted=False, stage="gate", incumbent=others[0].policy.id)
    other = replace(others[0].verdict, stage="gate")
    candidates = (replace(others[0], verdict=other), replace(first, verdict=verdict))
    html = page_of(replace(record, candidates=candidates))
    assert f"made from seed, against {others[0].name}" in html
    assert f"<dt>compared with</dt><dd>{others[0].name}</dd>" in html
