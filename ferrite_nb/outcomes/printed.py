"""A printed rate where a count is needed: what to say, and the counts that it may stand for."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd


def rate_hint(value: Any, n: pd.Series | None = None, row: int = 0) -> str:
    """What to say when an outcome looks like a rate: the counts it may stand for; nothing where it
    is no rate.
    """
    text = str(value).strip().replace(",", ".")
    percent = text.endswith("%")
    number = pd.to_numeric(text.rstrip("% "), errors="coerce")
    if not 0 <= number <= 100 or (number in (0, 1) and not percent):
        return ""
    said = (
        ". This looks like a rate; a rate cannot be checked, so give whole counts in columns k "
        "and n"
    )
    total = pd.to_numeric(n, errors="coerce").iloc[row] if n is not None and len(n) > row else 0
    if not total >= 1:
        return said
    digits = len(text.rstrip("% ").partition(".")[2])
    scales = {"percent": 100} | ({"a fraction": 1} if number < 1 and not percent else {})
    ways = {word: counts_of(number, int(total), scale, digits) for word, scale in scales.items()}
    found = [
        f"{' or '.join(f'{k}/{int(total)}' for k in counts)} if it is {word}"
        for word, counts in ways.items()
        if counts
    ]
    return f"{said} ({', '.join(found) or f'no whole count of {int(total)} gives it'})"


def counts_of(rate: float, n: int, scale: int, digits: int) -> list[int]:
    """The counts k of n next to a printed rate: the one that gives it exactly, else those that
    round to it.

    >>> counts_of(93, 150, 100, 0), counts_of(45.2, 500, 100, 1)
    ([139, 140], [226])
    """
    exact = rate / scale * n
    if abs(exact - round(exact)) < 1e-9 * max(n, 1):
        return [round(exact)]
    near = (math.floor(exact), math.ceil(exact))
    return [k for k in near if abs(scale * k / n - rate) <= 0.5 * 10.0**-digits + 1e-12]
