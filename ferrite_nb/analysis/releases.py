"""`releases`: the gate over time, one series per suite version; a new version starts a new series,
never joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..count.cube import need_outcomes
from ..outcomes.declare import distinct
from ..outcomes.table import Outcomes
from ..stats.differences import difference
from ..stats.pairs import holm
from .gate import add, in_words, one_verdict
from .passing import curves
from .requirements import Requirement
from .requirements import requirements as parse

COLUMNS = (
    "release",
    "series",
    "suite_version",
    "judge_version",
    "requirement",
    "metric",
    "mode",
    "k",
    "n",
    "rate",
    "low",
    "high",
    "level",
    "method",
    "threshold",
    "rule",
    "verdict",
    "accept",
    "p_pass",
    "p_any_pass",
    "change_p",
    "drift",
    "note",
)
ALPHA = 0.05


def releases(history: Mapping[str, Outcomes], requirements: Any) -> pd.DataFrame:
    """Hold each release against the same requirements, in order, and flag changes within a series.

    Parameters
    ----------
    history: name of the release -> outcomes, in order of time.
    requirements: as in `fnb.gate`.

    Returns
    -------
    DataFrame with one row per requirement and release: `release`, `series` (grows by one at each
        change of suite
    version; a release without a version is a series of its own), `suite_version`, `judge_version`,
    the columns of a verdict, `p_any_pass` (the chance that a system exactly at the threshold has
    passed at least once in this series so far), `change_p` (Fisher's exact test against all earlier
    releases of the series), `drift` and `note`. Its `attrs["curves"]` hold the chance to pass by
    true rate of each requirement, with the n of the latest release.

    Notes
    -----
    Drift is flagged when Holm's correction over all comparisons of a requirement within a series
    stays at or below 0.05: of a hundred series without any change at most five show a flag. Rows of
        different suite versions are never
    compared; to bridge two suites, run one release on both.

    Source
    ------
    Holm 1979; Fisher's exact test for unmatched cases.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.read(fnb.data("releases.csv"))
    >>> history = {name: runs.where(release=name) for name in ("1.5", "1.6")}
    >>> fnb.releases(history, fnb.data("release_requirements.toml"))["series"].tolist()
    [1, 2, 1, 2]
    """
    if not isinstance(history, Mapping) or not history:
        raise ValueError(
            'releases takes a mapping of names to outcomes in order of time, such as {"1.4": runs}'
        )
    rows, wanted = [], parse(requirements)
    for what, names in (
        ("release", list(map(str, history))),
        ("requirement", [in_words(one) for one in wanted]),
    ):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"{what} {twice[:60]!r} is there twice; give each its own name, or they are drawn as one"
            )
    for one in wanted:
        rows += flagged(series_of(history, one))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table.attrs = {"curves": curves(rows, {in_words(one): one.upper for one in wanted})}
    return table


def series_of(history: Mapping[str, Outcomes], one: Requirement) -> list[dict[str, Any]]:
    """The verdicts of one requirement, release by release, each with the number of its series."""
    rows: list[dict[str, Any]] = []
    for name, runs in history.items():
        need_outcomes(runs)
        version, judge = version_of(runs, "suite_version"), version_of(runs, "judge_version")
        joins = bool(rows) and version != "" and rows[-1]["suite_version"] == version
        series = rows[-1]["series"] + (not joins) if rows else 1
        row = one_verdict(runs, one)
        note = "" if version else "suite version unknown: joined to no other release"
        new = "a new suite version starts a new series" if rows and version and not joins else ""
        row |= {
            "release": str(name),
            "series": series,
            "suite_version": version,
            "judge_version": judge,
        }
        rows.append(row | {"note": add(row["note"], note, new)})
    return rows


def version_of(runs: Outcomes, column: str) -> str:
    """The one version in the column; several are joined with "+", none is empty."""
    return "+".join(sorted(distinct(runs.table, column))) if column in runs.columns else ""


def flagged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the tests for change within each series, with Holm's correction, and the chance of a
    lucky pass.
    """
    for series in {row["series"] for row in rows}:
        part = [row for row in rows if row["series"] == series]
        p_values = []
        for place, row in enumerate(part):
            before = part[:place]
            k, n = (sum(one[name] for one in before) for name in ("k", "n"))
            row["change_p"] = (
                difference(row["k"], row["n"], k, n).p if n and row["n"] else float("nan")
            )
            row["p_any_pass"] = any_pass([one["p_pass"] for one in part[: place + 1]])
            p_values.append(row["change_p"])
        adjusted = holm(p_values, family="tested")
        for row, p, drift in zip(part, adjusted.adjusted, adjusted.reject, strict=True):
            row["drift"] = bool(drift)
            if drift:
                said = f"differs from the earlier releases of this series (p Holm {p:.2g} over {adjusted.tested} looks"
                row["note"] = add(
                    row["note"], f"{said}; false flags in at most 5 of 100 steady series)"
                )
    return rows


def any_pass(chances: list[float]) -> float:
    """The chance of at least one pass in independent releases."""
    missed = 1.0
    for chance in chances:
        missed *= 1 - (0.0 if chance != chance else chance)
    return 1 - missed
