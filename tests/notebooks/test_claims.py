"""Every interval that a notebook's text puts on counts is computed again from the data, with the
cluster that the data declare; so no lesson allows a number that another one forbids.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

import ferrite_nb as fnb

from .lesson import FOLDER, NOTEBOOKS, text_of

Bounds = tuple[float, float]
BOUND = r"([−-]?\d*\.?\d+)"
BRACKET = re.compile(rf"\[{BOUND}, {BOUND}\]")
COUNTS = re.compile(r"(\d[\d,]*)(?:/| of )(\d[\d,]*)")
DIRECT = re.compile(r"(\d[\d,]*)/(\d[\d,]*)(?: = [\d.]+ ?%)?\s+$")


@functools.cache
def run_b() -> fnb.Outcomes:
    return fnb.read(fnb.data("ferrite_run_b.csv"), cluster="template")


def bounds_of(table: pd.DataFrame, **row: Any) -> Bounds:
    """Both bounds of the one row with these values."""
    for column, value in row.items():
        table = table[table[column] == value]
    (low,), (high,) = table["low"], table["high"]
    return float(low), float(high)


def of_run_b(metric: str, mode: str) -> Bounds:
    return bounds_of(fnb.rates(run_b(), metric), mode=mode)


def judged(quantity: str) -> Bounds:
    labels = pd.read_csv(fnb.data("purseclab_judges.csv"))
    return bounds_of(fnb.judges(labels, human="human", judges="chao"), quantity=quantity)


def detected(quantity: str) -> Bounds:
    scores, declared = fnb.data("detector_scores.csv"), {"score": "score", "label": "label"}
    table = fnb.detector(scores, **declared, positive="fake", base_rate=0.001, max_fpr=0.01)
    return bounds_of(table, quantity=quantity)


def plain(k: int, n: int) -> Bounds:
    ends = fnb.stats.interval(k, n)
    return float(ends.low), float(ends.high)


SOURCES: dict[str, Callable[[], Bounds]] = {
    "63/787": lambda: of_run_b("ASR", "On"),
    "121/787": lambda: of_run_b("ASR", "LoopOnly"),
    "666/787": lambda: of_run_b("CR", "LoopOnly"),
    "661/777": lambda: bounds_of(
        fnb.gradient(run_b(), "CR", "scope", mode="LoopOnly"), scope="exact"
    ),
    "0/122": lambda: of_run_b("FGR", "On"),
    "2/7": lambda: bounds_of(fnb.rates(fnb.read(fnb.data("outcomes_with_errors.csv")), "ASR")),
    "30/200": lambda: plain(30, 200),
    "48/300": lambda: bounds_of(fnb.compare(fnb.outcomes(fnb.lab.same_margins()))),
    "99/140": lambda: judged("sensitivity"),
    "107/110": lambda: judged("specificity"),
    "354/400": lambda: detected("TPR"),
    "8/100": lambda: detected("precision"),  # "about 8 of 100 alarms"
    "662/2847": lambda: bounds_of(fnb.rates(fnb.lessons.published_counts(), "ASR"), mode="none"),
    "125/1000": lambda: plain(125, 1000),  # five seeds of new cases
}


@functools.cache
def right(counts: str) -> Bounds:
    return SOURCES[counts]()


def sections(path: Path) -> Iterator[tuple[str, str]]:
    """Each markdown heading of a notebook with the text under it."""
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(text_of(cell.source) for cell in cells if cell.cell_type == "markdown")
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def intervals(path: Path) -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """The counts (or nothing) before each interval that a text states, its bounds, and the words.

    Among the claims that may be made this is every interval; elsewhere those right after k/n.
    """
    for title, text in sections(path):
        for sentence in re.split(r"\n- |\n\n", text):
            start = 0
            for hit in BRACKET.finditer(sentence):
                before, start = sentence[start : hit.start()], hit.end()
                may = title.strip().lower() == "claims you may make"
                near = DIRECT.search(before)
                named = near or (list(COUNTS.finditer(before)) or [None])[-1]
                if near or may:
                    counts = "/".join(named.groups()).replace(",", "") if named else ""
                    yield counts, title, hit.groups(), sentence.strip()


def agrees(written: str, value: float) -> bool:
    """Whether a number is the value to the digits written, as a proportion or in percent."""
    number, places = float(written.replace("−", "-")), len(written.partition(".")[2])
    half = 0.5000001 * 10.0**-places
    return any(abs(number - scale * value) <= half for scale in (1, 100))


FOUND = [(path.stem, *one) for path in NOTEBOOKS for one in intervals(path)]


@pytest.mark.parametrize(
    ("counts", "bounds", "words"),
    [pytest.param(one[1], one[3], one[4], id=f"{one[0][:3]} {one[1]}") for one in FOUND],
)
def test_an_interval_in_a_text_is_that_of_the_data(
    counts: str, bounds: tuple[str, ...], words: str
) -> None:
    assert counts in SOURCES, f"say in SOURCES where this interval comes from: {words}"
    assert all(map(agrees, bounds, right(counts))), (words, right(counts))


def test_each_lesson_with_an_interval_among_its_claims_was_read() -> None:
    among = {stem for stem, _, title, *_ in FOUND if title.lower() == "claims you may make"}
    assert {name[:2] for name in among} >= {"00", "01", "02", "03", "04", "05", "06", "07", "09"}


def test_the_interval_that_a_claim_forbids_is_not_the_one_that_another_allows() -> None:
    """The plain interval of run B is named among the claims that may not be made."""
    forbidden = [
        hit.groups()
        for path in NOTEBOOKS
        for title, text in sections(path)
        if title.lower() == "claims you may not make"
        for hit in re.finditer(rf"\"[^\"\n]*\[{BOUND}, {BOUND}\][^\"\n]*\"", text)
    ]
    assert forbidden == [("13.0", "18.1")]
    assert not any(
        all(map(agrees, ends, right(counts))) for ends in forbidden for counts in SOURCES
    )


LIMIT = re.compile(r"0 of (\d+)(?:[^.\n]|\.\d)*?upper limit (?:of )?(\.?\d[\d.]*\d)")


def test_a_limit_of_no_event_is_that_of_the_data() -> None:
    seen = []
    for path in NOTEBOOKS:
        for title, text in sections(path):
            if title.lower() == "claims you may make":
                for hit in LIMIT.finditer(text):
                    n, written = hit.groups()
                    key = f"0/{n}"
                    high = (right(key) if key in SOURCES else plain(0, int(n)))[1]
                    assert agrees(written, high), (path.stem, hit.group(), high)
                    seen.append(key)
    assert set(seen) == {"0/122", "0/600"}


def test_a_wrong_digit_is_seen() -> None:
    assert agrees("2.8", 0.027731) and agrees(".028", 0.027731) and agrees("−7.2", -0.0717)
    assert not agrees("2.7", 0.027731) and not agrees("13.0", right("121/787")[0])


def test_all_notebooks_are_read() -> None:
    assert len(NOTEBOOKS) == len(list(FOLDER.glob("*.ipynb"))) == 12
