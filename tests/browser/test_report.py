"""The report in a browser without network: accessible, and readable on a small screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

import ferrite_nb as fnb
from ferrite_nb.report import write

WIDTHS = [1280, 400]


def run_b() -> fnb.Outcomes:
    return fnb.read(fnb.data("ferrite_run_b.csv"))


def long_names() -> fnb.Outcomes:
    """Names of 300 letters and without a break, and no cost."""
    rows = [
        {"case_id": f"{tier}{i}", "mode": mode, "tier": tier, "attack_success": i < k}
        for mode, k in [("x" * 300, 4), ("<b>On</b>", 2)]
        for tier in ("y" * 300, "second")
        for i in range(12)
    ]
    return fnb.outcomes(pd.DataFrame(rows))


@pytest.fixture(scope="module", params=[run_b, long_names], ids=lambda made: made.__name__)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(
        request.param(), tmp_path_factory.mktemp("report"), by="tier", command="ferrite-nb report"
    )


@pytest.fixture
def page(context: BrowserContext, file: Path) -> Iterator[Page]:
    context.set_offline(True)
    opened = context.new_page()
    opened.goto(file.as_uri())
    yield opened
    opened.close()
    context.set_offline(False)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_accessibility_violation(width: int, page: Page) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_itself_never_scrolls_sideways(width: int, page: Page) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
