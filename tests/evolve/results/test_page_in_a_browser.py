"""The page of a run in headless Chromium: it opens quietly, and its parts do what they say."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.results import page as module
from evolve.results.failures import MOST_BYTES, Failures, failures_of
from evolve.results.page import page_of
from evolve.results.run_record import read_run

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MOST_BYTES_OF_ALL = 5_000_000
MOST_SECONDS = 1.0  # of the page's own thread: what else this machine does is not the page's

pytestmark = pytest.mark.extra


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.is_file():
        pytest.skip(f"{CHROMIUM} is not there: install Debian's package chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def record(made):
    return read_run(made / "runs" / "mine")


@pytest.fixture(scope="module")
def file(record, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(record), encoding="utf-8")
    return path


@pytest.fixture
def show(browser):
    """Opens a file, and holds it to silence: no message, no error, no request but for itself."""

    @contextmanager
    def shown(path, width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        heard, asked = [], []
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        yield page
        assert heard == []
        assert {url for url in asked if not url.startswith("data:")} == {path.as_uri()}
        page.close()

    return shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_screen_and_follows_the_scheme(show, file, tmp_path, width, scheme):
    with show(file, width, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        picture = page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert len(picture) > 50_000  # not an empty page


def test_a_policy_that_is_chosen_shows_what_it_changed(show, file, record):
    first = record.candidates[0]
    with show(file) as page:
        panel = page.locator("#chosen")
        assert panel.is_hidden()
        page.locator(f'.node[href="#{first.name}"]').click()
        assert first.name in panel.inner_text()
        assert first.policy.id in panel.inner_text()
        assert panel.locator(".diff .new").count() > 0
        page.locator('.node[href="#seed"]').focus()
        page.keyboard.press("Enter")
        assert record.seed.id in panel.inner_text()
        assert page.locator(".node.current").get_attribute("href") == "#seed"


def test_failures_are_filtered_and_told_step_by_step(show, file):
    def count():
        return int(page.locator("#count").inner_text().split()[0])

    with show(file) as page:
        everything = count()
        page.select_option("[name=policy]", "best")
        best = count()
        assert 0 < best < everything
        page.select_option("[name=stage]", "write")
        assert f"write ({count()})" in page.locator("[name=stage]").inner_text()
        assert set(page.locator("#list .badge").all_inner_texts()) == {"write"}
        page.locator("#list summary").first.click()
        steps = page.locator("#list .steps").first.inner_text()
        for step in ("1. What the user said", "2. What memory held", "4. What was answered"):
            assert step in steps
        page.fill("[name=words]", "no such words anywhere")
        assert count() == 0
        page.fill("[name=words]", "")
        page.select_option("[name=policy]", "")
        page.select_option("[name=stage]", "")
        assert count() == everything


def test_more_failures_are_shown_when_asked_for(show, file):
    with show(file) as page:
        assert page.locator("#list > li").count() == 20
        page.locator("#more").click()
        assert page.locator("#list > li").count() > 20


def test_without_scripts_the_numbers_and_changes_are_there(browser, file, record):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    one = page.locator(f"[id='{record.candidates[0].name}']")
    one.locator("summary").click()
    assert one.locator(".diff").first.is_visible()
    context.close()


def test_a_run_of_two_hundred_candidates_is_small_and_opens_at_once(
    show, record, tmp_path, monkeypatch
):
    first = record.candidates[0]
    rejected = replace(first.verdict, accepted=False, stage="minibatch")
    many = tuple(
        replace(first, name=f"gen-{900 + n // 6}.{n % 6}", verdict=rejected) for n in range(200)
    )
    said = "- said: so many words of one user\n" * 700
    feedback = {n: f"# Feedback {n}\n\n{said}" for n in range(1, 35)}

    def many_failures(*given):
        found = failures_of(*given)
        lives = found.data["lives"]
        times = MOST_BYTES // len(repr(lives).encode())
        return Failures({**found.data, "lives": lives * times}, found.wrong, 0)

    monkeypatch.setattr(module, "failures_of", many_failures)
    path = tmp_path / "large.html"
    large = replace(record, candidates=(*record.candidates, *many), feedback=feedback)
    path.write_text(page_of(large), encoding="utf-8")
    assert 3_000_000 < path.stat().st_size < MOST_BYTES_OF_ALL
    with show(path) as page:
        counted = page.context.new_cdp_session(page)
        counted.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.reload()
        metrics = counted.send("Performance.getMetrics")["metrics"]
        busy = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
    assert 0 < busy < MOST_SECONDS
