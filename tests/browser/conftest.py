"""One private JupyterLab for all browser tests, one Chromium per module, one page per test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, sync_playwright

from .jupyter import FLAGS, Notebook, Server, chromium, jupyterlab


@pytest.fixture(scope="session")
def browser_path() -> str:
    """The installed Chromium. Without one the tests are skipped, or fail where
    FERRITE_REQUIRE_BROWSER is 1.
    """
    path = chromium()
    if path:
        return path
    reason = "no Chromium is installed; install it, or name one with FERRITE_CHROMIUM=path"
    if os.environ.get("FERRITE_REQUIRE_BROWSER") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def server(browser_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab that serves an empty folder."""
    state = tmp_path_factory.mktemp("jupyter")
    root = state / "served"
    root.mkdir()
    with jupyterlab(root, state) as running:
        yield running


@pytest.fixture(scope="module")
def context(browser_path: str) -> Iterator[BrowserContext]:
    """A headless browser. It ends with the module: while it runs, other tests cannot use
    asyncio.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, headless=True, args=FLAGS
        )
        yield browser.new_context(viewport={"width": 1280, "height": 900})
        browser.close()


@pytest.fixture
def notebook(context: BrowserContext, server: Server) -> Iterator[Notebook]:
    """A page for one notebook; at its end the browser's console must show no error."""
    page = context.new_page()
    shown = Notebook(page, server)
    yield shown
    page.close()
    server.end_kernels()
    assert shown.errors == []


@pytest.fixture
def notebooks() -> Path:
    """The folder of the project's notebooks."""
    return Path(__file__).resolve().parents[2] / "notebooks"
