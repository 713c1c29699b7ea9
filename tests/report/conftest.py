"""A browser for the tests of the page, and parts to compose pages from."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.report.draw_additive import Side, heat_map
from tacit.report.drawing import Effect, bars, curve, ranking, weights
from tacit.report.model_card import ModelCard, PublicColumn

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The chromium that is installed on the system; make setup installs it."""
    from playwright.sync_api import sync_playwright

    result = next((path for path in map(shutil.which, BROWSERS) if path), None)
    assert result, "no chromium was found; make setup installs it"
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=result, args=FLAGS)
        yield running
        running.close()


class Visit:
    """An opened page with everything that must not happen on it."""

    def __init__(self, browser: Any, path: Path, width: int, scheme: str) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.resolve().as_uri())

    def foreign_requests(self) -> list[str]:
        """Requests for anything but the page itself."""
        return [url for url in self.requests[1:] if not url.startswith("data:")]


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a page from its text: ``visit(html, width=1200, scheme="light")``."""
    opened: list[Visit] = []

    def open_page(html: str, width: int = 1200, scheme: str = "light") -> Visit:
        path = tmp_path / f"page{len(opened)}.html"
        path.write_text(html, "utf-8")
        opened.append(Visit(browser, path, width, scheme))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()


@pytest.fixture
def sample_card() -> ModelCard:
    """One drawing of each kind, with a name that must be escaped and labels that are far too long."""
    edges = [17.0 + 3.65 * i for i in range(21)]
    age = [Effect(math.sin(e / 15), 0.1, 1000 * math.exp(-(((e - 40) / 15) ** 2))) for e in edges[:-1]]
    gain = [0.0, 1.0, 100.0, 1000.0, 5000.0, 99999.0]
    steps = [Effect(v, 0.2, c) for v, c in ((0.0, 30000), (-0.5, 40), (-0.8, 200), (0.9, 900), (3.0, 400))]
    names = ["Married-civ-spouse-with-a-very-long-name-indeed", "<script>alert(1)</script>", "other", "missing"]
    status = [Effect(v, 0.1, c) for v, c in ((1.1, 15000), (-1.2, 10000), (0.0, 2), (0.1, 0))]
    cells = [[Effect(0.1 * i - 0.1 * j, 0.05, 100) for j in range(7)] for i in range(5)]
    sides = Side("education", tuple("abcde")), Side("age", tuple(f"{10 * j}–{10 * j + 10}" for j in range(7)))
    drawings = (
        ranking("What matters most", ["age", "WWWWWW gain × MMMMMMMMMMMMMMM", "status"], [0.8, 0.5, 0.1], "overview"),
        curve("age", edges, age, Effect(-0.3, 0.5, 3), "d0"),
        curve("capital gain", gain, steps, None, "d1"),
        bars("status", names, status, "d2"),
        heat_map(*sides, cells, "d3"),
        weights("Weights", [(f"native_country=Country{i}", math.cos(i), 0.1) for i in range(40)], "d4"),
    )
    public = (PublicColumn("age", "numeric", "from 17 to 90"),)
    return ModelCard("An additive model.", "Each drawing says how the odds change.", drawings, public)


def certified(seeded: bool) -> Certificate:
    """A certificate of about (1, 1e-6) by 46 Gaussian releases."""
    with Reservation([Gaussian(4.25)], Neighbouring.ADD_OR_REMOVE_ONE, "a fit") as reservation:
        reservation.record(Gaussian(60.0), "number of rows", "one row, one cell")
        for i in range(5):
            reservation.record(Gaussian(50.0), f"counts of x{i}", "one row, one cell")
        for k in range(8):
            for i in range(5):
                reservation.record(Gaussian(30.0), f"sweep {k}: x{i}", "through a public map")
    source = "seeded" if seeded else "opendp"
    return Certificate.of(
        reservation, epsilon=1.0, delta=1e-6, noise_source=source, noise_releasable=not seeded, algorithm="Example"
    )


@pytest.fixture
def sample_claim() -> Certificate:
    """A claim that may be released."""
    return certified(seeded=False)


@pytest.fixture
def refused_claim() -> Certificate:
    """The same claim, not releasable."""
    return certified(seeded=True)
