"""Estimate: one proportion, and the one place that prints a rate, a difference or a p-value.

A percentage never stands alone here: it comes with k/n, or with both bounds in brackets, or with
the reason why there is none. Proportions go in from 0 to 1; percent come out only as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

from .escape import csv_text, html_text, latex_text, markdown_text, missing, plain

__all__ = [
    "Estimate",
    "aloud",
    "bracket",
    "csv_text",
    "difference_text",
    "digits",
    "estimate",
    "estimate_text",
    "html_text",
    "latex_text",
    "markdown_text",
    "method_text",
    "number",
    "p_text",
    "plain",
    "refusal",
    "state_of",
]

# The totals of a table with strata. A stratum of a file may be called microservices, or macro:
# Office.
MICRO, MACRO = "micro: all cases", "macro: mean of strata"
FEW = 5  # fewer cases (or independent clusters) than this are "insufficient data"
_PEOPLE = "wilson|newcombe|clopper|pearson|jeffreys|agresti|coull|mcnemar|rogan|gladen"
_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)
_DUST = 1e-9  # how far floating point may carry a bound beyond 0 or 1
_NOISE = Decimal(
    "1e-9"
)  # in percent: what lies nearer to 0 or 100 than this is floating-point dust


def digits(fraction: float | Fraction) -> str:
    """A proportion in percent, one decimal, without the sign: 0.15 is "15.0".

    Rounded from the exact value, ties to even. A value that is not 0 (or not 1) is never printed as
    0.0 (or 100.0): it keeps two figures, so that 1/20000 is "0.005" and 19999/20000 is "99.995".
    """
    if isinstance(fraction, Fraction):
        value = _EXACT.divide(Decimal(100 * fraction.numerator), Decimal(fraction.denominator))
    else:
        value = _EXACT.multiply(Decimal(float(fraction)), Decimal(100))
    shown = value.quantize(Decimal("0.1"), context=_EXACT)
    for end in (Decimal(0), Decimal(100), Decimal(-100)):
        gap = value - end
        if shown == end and abs(gap) > _NOISE:
            figures = Context(prec=2, rounding=ROUND_HALF_EVEN).plus(gap)
            return f"{(end + figures).normalize():f}"
    return f"{shown + 0:.1f}" if shown else "0.0"


def bracket(low: float, high: float) -> str:
    """Both bounds of an interval in percent: "[10.7, 20.6]".

    A low bound near 0 and a high bound near 1 round to 0.0 and 100.0, which only makes the interval
    wider; the other ends keep their figures, so that an upper limit is never printed as 0.0.
    """
    first = "0.0" if 0 <= low < 0.0005 else digits(low)
    second = "100.0" if 0.9995 < high <= 1 else digits(high)
    return f"[{first}, {second}]"


def number(value: Any, *, figures: int = 4) -> str:
    """A plain number (milliseconds, tokens, h) with up to `figures` figures, never in 1e+05
    form.
    """
    if missing(value):
        return ""
    exact = Decimal(repr(float(value)))
    whole = max(figures, exact.adjusted() + 1)
    shown = Context(prec=whole, rounding=ROUND_HALF_EVEN).plus(exact).normalize()
    return f"{shown:f}" if shown else "0"


def p_text(p: float, log10_p: float | None = None, *, full: bool = False) -> str:
    """A p-value: four decimals, "<0.0001" below that, "< 1e-300" where a float ends; never 0.

    `log10_p` decides when the p-value itself has underflowed; `full` asks for the number in the
    form 3.5e-18.
    """
    if missing(p) and missing(log10_p):
        return "not computable"
    log = math.nan if log10_p is None else float(log10_p)
    if math.isnan(log):
        log = math.log10(p) if p > 0 else -math.inf
    if log < -300:
        return "< 1e-300"
    value = 10.0**log if missing(p) else float(p)
    if f"{value:.4f}" != "0.0000":
        return f"{value:.4f}"
    return f"{value:.1e}" if full else "<0.0001"


def method_text(method: str) -> str:
    """A method with people's names as names: "clustered wilson" is "clustered Wilson"."""
    return re.sub(_PEOPLE, lambda found: found[0].title().replace("Mcn", "McN"), plain(method))


def difference_text(
    diff: float, low: float = math.nan, high: float = math.nan, *, why: str = ""
) -> str:
    """A difference of two rates in points with its bounds: "-15.0 points [-20.1, -9.0]"."""
    if missing(diff):
        return refusal("none", why)
    if missing(low) or missing(high):
        return f"{_signed(diff)} points, interval {refusal('none', why)}"
    return f"{_signed(diff)} points [{digits(low)}, {digits(high)}]"


def _signed(diff: float) -> str:
    return ("+" if diff > 0 else "") + digits(diff)


def refusal(state: str, why: str = "") -> str:
    """What is printed where a number may not be read: by the `state` of its row, with the `why`."""
    words = {"none": "not computable", "few": "insufficient data"}
    if state not in words:
        return ""
    return f"{words[state]} ({why})" if state == "few" else f"{words[state]}: {why or 'no case'}"


def state_of(n: Any, rate: Any, low: Any) -> tuple[str, str]:
    """The state of an estimate and its reason, by its numbers alone."""
    if missing(rate) or n == 0:
        return "none", "no case"
    if not missing(n) and n < FEW:
        return "few", f"n<{FEW}"
    return ("none", "no interval") if missing(low) else ("ok", "")


@dataclass(frozen=True, repr=False)
class Estimate:
    """One proportion with its counts and bounds; `str()` of it is how a percentage is printed.

    Parameters
    ----------
    k, n : counts of the event and of the population (NaN when there is no population to count)
    rate, low, high : proportions from 0 to 1; NaN when not computable
    level : confidence level of the bounds
    method : name of the interval, "wilson"
    note : what else has to be said, for people
    state : "ok", "few" (too few cases or clusters to read) or "none" (not computable); where it is
        not given it follows from the numbers
    why : the reason in words where the state is not "ok"

    Example
    -------
    >>> Estimate(30, 200, 0.15, 0.1069, 0.2061, 0.95, "wilson")
    30/200 = 15.0% [10.7, 20.6]
    >>> Estimate(0, 22, 0.0, 0.0, 0.1487, 0.95, "wilson")
    0/22, upper limit 14.9% [0.0, 14.9]
    >>> Estimate(3, 3, 1.0, 0.4385, 1.0, 0.95, "wilson")
    3/3, insufficient data (n<5)
    """

    k: int | float
    n: int | float
    rate: float
    low: float
    high: float
    level: float = 0.95
    method: str = "wilson"
    note: str = ""
    state: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no proportion: it would be printed as a percentage above 100 or below
        0.
        """
        for name in ("rate", "low", "high"):
            value = getattr(self, name)
            if not missing(value) and not -_DUST <= value <= 1 + _DUST:
                raise ValueError(f"{name} is a proportion from 0 to 1, got {value}")
        if not (missing(self.k) or missing(self.n)) and not 0 <= self.k <= self.n:
            raise ValueError(f"k is a count from 0 to n, got k = {self.k} of n = {self.n}")
        if not self.state:
            state, why = state_of(self.n, self.rate, self.low)
            object.__setattr__(self, "state", state)
            object.__setattr__(self, "why", self.why or why)

    @classmethod
    def from_row(cls, row: Any) -> Estimate:
        """The estimate of a row of a `rates`, `gradient` or `gate` table (Series, mapping or
        namedtuple).
        """
        cells = _cells(row)
        return cls(
            _count(cells.get("k")),
            _count(cells.get("n")),
            _float(cells.get("rate")),
            _float(cells.get("low")),
            _float(cells.get("high")),
            0.95 if missing(cells.get("level")) else float(cells["level"]),
            _method(cells),
            *(
                "" if missing(cells.get(name)) else str(cells[name])
                for name in ("note", "state", "why")
            ),
        )

    @property
    def counts(self) -> str:
        """The counts as "k/n"; "" when there are none."""
        return "" if missing(self.k) or missing(self.n) else f"{number(self.k)}/{number(self.n)}"

    @property
    def kind(self) -> str:
        """What may be shown: "not computable", "insufficient", "counts" (a share of what is
        there, no estimate), "corrected", "zero", "all" or "plain".
        """
        if self.state != "ok":
            return "insufficient" if self.state == "few" else "not computable"
        if missing(self.low) and self.counts:
            return "counts"
        if not missing(self.k) and not math.isclose(self.k / self.n, self.rate, abs_tol=1e-9):
            return "corrected"
        return "zero" if self.rate == 0 else "all" if self.rate == 1 else "plain"

    def label(self) -> str:
        """The short form for a figure or a table: "30/200 [10.7, 20.6]", or the reason."""
        if self.n == 0:
            return self._why()
        if self.kind in ("not computable", "insufficient", "counts"):
            return str(self)
        if self.kind == "corrected":
            return (
                f"{self.counts}, {self._word()} {digits(self.rate)}% {bracket(self.low, self.high)}"
            )
        return f"{self.counts} {bracket(self.low, self.high)}".strip()

    def _word(self) -> str:
        return "macro mean" if "macro" in self.method else "corrected"

    def _why(self) -> str:
        return refusal(self.state, self.why)

    def __str__(self) -> str:
        kind, counts = self.kind, self.counts
        if kind in ("not computable", "insufficient"):
            return f"{counts}, {self._why()}" if counts else self._why()
        if kind == "counts":
            return counts
        bounds = bracket(self.low, self.high)
        if kind == "zero":
            return f"{counts}, upper limit {digits(self.high)}% {bounds}"
        if kind == "all":
            return f"{counts}, lower limit {digits(self.low)}% {bounds}"
        if kind == "corrected":
            return f"{counts} observed, {self._word()} {digits(self.rate)}% {bounds}"
        if not counts:
            return f"{digits(self.rate)}% {bounds}"
        whole = isinstance(self.k, int) and isinstance(self.n, int)
        rate = digits(Fraction(int(self.k), int(self.n)) if whole else self.rate)
        return f"{counts} = {rate}% {bounds}"

    def __repr__(self) -> str:
        return str(self)


def estimate_text(row: Any) -> str:
    """The text of one row of a table of rates: `str(Estimate.from_row(row))`."""
    return str(Estimate.from_row(row))


def aloud(estimate: Estimate) -> str:
    """The estimate as it is read aloud: "30 of 200, 15.0 %, 95 % interval 10.7 to 20.6"."""
    if estimate.kind in ("not computable", "insufficient", "counts"):
        return str(estimate).replace("/", " of ", 1) if estimate.counts else str(estimate)
    counts = estimate.counts.replace("/", " of ")
    level = number(100 * estimate.level)
    bounds = f"{level} % interval {digits(estimate.low)} to {digits(estimate.high)}"
    word = f"{estimate._word()} " if estimate.kind == "corrected" else ""
    return ", ".join(part for part in (counts, f"{word}{digits(estimate.rate)} %", bounds) if part)


def _cells(row: Any) -> Mapping[str, Any]:
    if hasattr(row, "_asdict"):
        return dict(row._asdict())
    return dict(row.items()) if hasattr(row, "items") else dict(row)


def _method(cells: Mapping[str, Any]) -> str:
    """The method of a row; the mean of strata is no corrected rate, whoever made the row."""
    method = "" if missing(cells.get("method")) else str(cells["method"])
    mean = any(isinstance(value, str) and value == MACRO for value in cells.values())
    return f"macro mean, {method}" if mean and "macro" not in method else method


def _float(value: Any) -> float:
    return math.nan if missing(value) else float(value)


def _count(value: Any) -> int | float:
    """A count as int (frames with gaps turn counts into floats; engines return decimals)."""
    if missing(value):
        return math.nan
    return int(value) if float(value).is_integer() else float(value)


def estimate(
    k: int, n: int, *, method: str = "wilson", level: float = 0.95, z: float | None = None
) -> Estimate:
    """One proportion with its interval; `str()` of it is the only way a percentage is printed.

    Parameters
    ----------
    k, n: the number of events and of cases; whole numbers with 0 <= k <= n.
    method, level, z: as in `fnb.stats.interval`.

    Not computable when
    -------------------
    n is 0: the rate and bounds are NaN and the note says so. With fewer than five cases the numbers
        are kept and
        the text says "insufficient data".

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> print(fnb.estimate(30, 200))
    30/200 = 15.0% [10.7, 20.6]
    >>> print(fnb.estimate(0, 22))
    0/22, upper limit 14.9% [0.0, 14.9]
    """
    from .stats._check import count, level_of
    from .stats.intervals import interval

    k, n = count(k, "k"), count(n, "n")
    found = interval(k, n, method=method, level=level, z=z)
    rate = k / n if n else math.nan
    return Estimate(k, n, rate, float(found.low), float(found.high), level_of(level), method)
