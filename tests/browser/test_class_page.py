"""The class page in a browser without network: chosen by keyboard, read as a table, accessible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

import ferrite_nb as fnb
from ferrite_nb.teach import class_page


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("class") / "class_page.html"
    path.write_text(
        class_page.page(fnb.read(fnb.data("ferrite_run_b.csv")), data="reconstructed"),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def page(context: BrowserContext, file: Path) -> Iterator[Page]:
    context.set_offline(True)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("requestfailed", lambda request: errors.append(request.url))
    opened.goto(file.as_uri())
    yield opened
    opened.close()
    context.set_offline(False)
    assert errors == []


def test_the_keyboard_chooses_and_the_table_follows(page: Page) -> None:
    expect(page.locator("figure:visible")).to_have_count(1)
    expect(page.locator("table:visible")).to_contain_text("121/787 = 15.4% [5.4, 36.8]")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Cases")).to_be_focused()
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_role("status")).to_contain_text("scope: task_open")
    expect(page.locator("figure:visible")).to_have_count(1)
    expect(page.locator("table:visible")).to_contain_text("5/5")


@pytest.mark.parametrize("width", [1280, 400])
def test_no_accessibility_violation(width: int, page: Page) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []


def test_no_sideways_scrolling_at_twice_the_size(page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 450})  # as 1280 pixels at 200 %
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_without_script_all_figures_are_listed(file: Path, context: BrowserContext) -> None:
    assert context.browser is not None
    plain = context.browser.new_context(java_script_enabled=False)
    opened = plain.new_page()
    opened.goto(file.as_uri())
    expect(opened.locator("figure:visible")).to_have_count(6)
    plain.close()
