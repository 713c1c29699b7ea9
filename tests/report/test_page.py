"""The page in a real browser: it opens offline, says what it must, fits a telephone, and refuses in large letters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit.privacy.certificate import Certificate
from tacit.privacy.label import Label, Stage
from tacit.report.model_card import ModelCard, PublicColumn
from tacit.report.page import compose

CLASSES = ("<=50K", ">50K")
WIDTHS = (390, 800, 1400)


WIDEST = (
    "Math.max(...[...document.querySelectorAll('figure, table.stages, .fact, .verdict, svg')]"
    ".map(e => e.getBoundingClientRect().right))"
)
CUT = """() => [...document.querySelectorAll('svg.figure text')].filter(t => {
             const box = t.getBBox(), view = t.ownerSVGElement.viewBox.baseVal;
             return box.x < -1 || box.x + box.width > view.width + 1 || box.y + box.height > view.height + 2;
           }).map(t => t.textContent)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_opens_offline_without_complaint_and_no_word_is_cut_off(
    visit: Any, sample_card: ModelCard, sample_claim: Certificate, scheme: str
) -> None:
    seen = visit(compose(sample_card, CLASSES, sample_claim, "Who earns more"), WIDTHS[0], scheme)
    for width in WIDTHS:
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.page.evaluate(WIDEST) <= width
        assert seen.page.evaluate(CUT) == []
    assert seen.complaints == []
    assert seen.foreign_requests() == []


def test_says_what_it_must(visit: Any, sample_card: ModelCard, sample_claim: Certificate) -> None:
    page = visit(compose(sample_card, CLASSES, sample_claim, "Who earns more")).page
    assert page.get_by_role("heading", name="Who earns more").is_visible()
    for heading in ("The promise", "The budget, step by step", "The model", "What was public", "What is not promised"):
        assert page.get_by_role("heading", name=heading).is_visible()
    assert page.get_by_text("Internally consistent", exact=True).is_visible()
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.verdict strong')).fontSize)")
    assert size >= 24
    text = page.inner_text("main")
    assert "if any one row had not been in the data" in text
    assert "factor of at most 2.72" in text
    assert "1 in 1 million" in text
    assert "46 releases" in text
    last = sample_claim.entries[-1]
    fit = replace(last, what=Label(Stage.FIT, "candidate 0"))
    inside = compose(sample_card, CLASSES, replace(sample_claim, entries=(*sample_claim.entries[:-1], fit)), "t")
    assert "made of others, which are charged as a whole" in inside
    assert "left the sealed table" not in inside


def test_draws_every_part(visit: Any, sample_card: ModelCard, sample_claim: Certificate) -> None:
    page = visit(compose(sample_card, CLASSES, sample_claim, "t")).page
    assert page.locator("svg[role=img]").count() == len(sample_card.drawings)
    assert page.locator("path.curve").count() == 2
    assert page.locator("path.band").count() == 2
    assert page.locator("rect.plus, rect.minus").count() > 60
    drawn = page.evaluate(
        "[...document.querySelectorAll('path.curve')].map(e => e.getBBox()).every(b => b.width > 100 && b.height > 20)"
    )
    assert drawn
    unnamed = page.evaluate(
        "[...document.querySelectorAll('svg[role=img]')].filter(s => !s.getAttribute('aria-labelledby').split(' ')"
        ".every(id => s.querySelector('#' + id)?.textContent)).length"
    )
    assert unnamed == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_long_names_do_not_break_the_words_beside_them(
    visit: Any, sample_card: ModelCard, sample_claim: Certificate
) -> None:
    names = "hours_worked_per_week_including_unpaid_overtime", "A very long name that nobody would shorten"
    public = tuple(
        PublicColumn(name, kind, "from 17 to 90") for name in names for kind in ("numeric", "categorical", "boolean")
    )
    page = visit(compose(replace(sample_card, public=public), CLASSES, sample_claim, "t"), 360).page
    broken = """() => [...document.querySelectorAll('#public td + td')].flatMap(cell => {
             const text = cell.firstChild, range = document.createRange();
             return [...text.data.matchAll(/\\S+/g)].filter(word => {
               range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
               return range.getClientRects().length > 1;
             }).map(word => word[0]) })"""
    for width in (360, 400, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(broken) == []


def test_a_name_without_spaces_leaves_room_for_what_is_declared(
    visit: Any, sample_card: ModelCard, sample_claim: Certificate
) -> None:
    public = (PublicColumn("x" * 300, "numeric", "from 17 to 90"),)
    page = visit(compose(replace(sample_card, public=public), CLASSES, sample_claim, "t"), 1280).page
    cell = page.locator("#public td.declared").bounding_box()
    assert cell["x"] + cell["width"] <= 1280


def test_on_paper_nothing_is_cut_off(visit: Any, sample_card: ModelCard, sample_claim: Certificate) -> None:
    """Paper does not scroll: the digests were cut at its edge."""
    page = visit(compose(sample_card, CLASSES, sample_claim, "t"), 600).page
    page.emulate_media(media="print")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
    boxes = (
        "[...document.querySelectorAll('.scroll')].filter(e => e.clientWidth).map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(page.evaluate(boxes)) <= 0


def test_markup_in_names_is_text(visit: Any, sample_card: ModelCard, sample_claim: Certificate) -> None:
    seen = visit(compose(sample_card, ("<b>no</b>", "yes"), sample_claim, "<i>title</i>"))
    assert seen.page.locator("main b:text('no'), h1 i, main script").count() == 0
    assert "<i>title</i>" in seen.page.inner_text("h1")
    assert "<script>alert(1)</script>" in seen.page.inner_html("main").replace("&lt;", "<").replace("&gt;", ">")


def test_tables_open_with_the_keyboard(visit: Any, sample_card: ModelCard, sample_claim: Certificate) -> None:
    page = visit(compose(sample_card, CLASSES, sample_claim, "t"), 390).page
    summary = page.locator("figure details summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("figure details[open] table").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_seeded_model_is_refused_in_large_letters(
    visit: Any, sample_card: ModelCard, refused_claim: Certificate
) -> None:
    page = visit(compose(sample_card, CLASSES, refused_claim, "t")).page
    assert page.get_by_text("Not releasable", exact=True).is_visible()
    assert page.get_by_text("came from a seed").is_visible()


def test_without_a_certificate_nothing_is_promised(visit: Any, sample_card: ModelCard) -> None:
    page = visit(compose(sample_card, CLASSES, None, "t")).page
    assert page.get_by_text("Not releasable", exact=True).is_visible()
    assert "nothing can be said about its privacy" in page.inner_text("#promise")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_the_paper(
    visit: Any, sample_card: ModelCard, sample_claim: Certificate, scheme: str
) -> None:
    """Contrast of text against what is behind it, WCAG AA: at least 4.5."""
    page = visit(compose(sample_card, CLASSES, sample_claim, "t"), 1200, scheme).page
    worst = page.evaluate(
        """() => {
          const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
          const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => linear(v / 255));
              return .2126 * r + .7152 * g + .0722 * b };
          const behind = e => { for (let n = e; n; n = n.parentElement) {
              const c = getComputedStyle(n).backgroundColor; if (!/, 0\\)$/.test(c) && c !== 'transparent') return c }
              return 'rgb(255,255,255)' };
          let least = 99;
          const words = 'p, dd, dt, h1, h2, h3, a, td, th, li, figcaption, summary, strong, svg text';
          for (const e of document.querySelectorAll(words)) {
              if (e.closest('.skip') || e.classList.contains('faint')) continue;
              const style = getComputedStyle(e), b = light(behind(e));
              const a = light(e.closest('svg') ? style.fill : style.color);
              least = Math.min(least, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)) }
          return least }"""
    )
    assert worst >= 4.5
