"""`releases`: the gate over time, one series per suite version; a new version starts a new series,
never joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..count.cube import need_outcomes, vectors
from ..estimate import difference_text
from ..outcomes.frames import distinct
from ..outcomes.table import Outcomes
from ..schema import Table, made
from ..stats.differences import difference
from ..stats.followed import drift
from ..stats.paired import paired_crossed, paired_units
from ..stats.pairs import holm
from .gate import joined, verdict_row
from .requirements import Requirement
from .requirements import requirements as parse
from .unit import unit_of

SHARED = 0.5  # of the new release's cases, so that the test is one of the same cases


def releases(history: Mapping[str, Outcomes], requirements: Any) -> Table:
    """Hold each release against the same requirements, in order, and flag changes within a series.

    Parameters
    ----------
    history: name of the release -> outcomes, in order of time.
    requirements: as in `fnb.gate`.

    Returns
    -------
    Table with one row per requirement and release: `release`, `requirement`, `metric`, `mode`,
    `quantity`, `series` (grows by one at each change of suite version; a release without a version
    is a series of its own), the numbers of a verdict, `p_any_pass` (the chance that a system
    exactly at the threshold has passed at least once in this series so far is at most this),
    `change_p` (against all earlier releases of the series), `change_holm`, `verdict`, `drift`
    ("yes" or ""), `state`, `why`, `note`, `rule` and the facts, among them `judge_version`.

    Notes
    -----
    A series is one suite, so its cases are the same: a change is tested by the exact conditional
    test with the case as stratum (with clusters by sign flips of the clusters' changes), and the
    paired difference stands beside it. Fewer than half of the cases shared: Fisher's exact test,
    and the note says "different cases". A change of `judge_version` is no drift: only releases of
    one judge are compared. Drift is flagged when Holm's correction over the looks of a requirement
    in a series stays at or below 1 - level. Rows of different suite versions are never compared; to
    bridge two suites, run one release on both.

    Source
    ------
    Birch 1964 (R's mantelhaen.test(exact=TRUE)); Holm 1979.

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
        ("requirement", [str(one) for one in wanted]),
    ):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"{what} {twice[:60]!r} is there twice; give each its own name, or they are drawn "
                "as one"
            )
    for one in wanted:
        rows += flagged(series_of(history, one), history, one)
    return made("releases", rows)


def series_of(history: Mapping[str, Outcomes], one: Requirement) -> list[dict[str, Any]]:
    """The verdicts of one requirement, release by release, each with the number of its series."""
    rows: list[dict[str, Any]] = []
    for name, runs in history.items():
        need_outcomes(runs)
        version, judge = version_of(runs, "suite_version"), version_of(runs, "judge_version")
        joins = bool(rows) and version != "" and rows[-1]["suite_version"] == version
        row = verdict_row(runs, one)
        row |= {"release": str(name), "suite_version": version, "judge_version": judge}
        row["series"] = rows[-1]["series"] + (not joins) if rows else 1
        notes = [
            row["note"],
            "" if version else "suite version unknown: joined to no other release",
        ]
        notes.append(
            "a new suite version starts a new series" if rows and version and not joins else ""
        )
        rows.append(row | {"note": joined(*notes), "drift": ""})
    return rows


def version_of(runs: Outcomes, column: str) -> str:
    """The one version in the column; several are joined with "+", none is empty."""
    return "+".join(sorted(distinct(runs.table, column))) if column in runs.columns else ""


def flagged(
    rows: list[dict[str, Any]], history: Mapping[str, Outcomes], one: Requirement
) -> list[dict[str, Any]]:
    """Add the tests for change within each series, Holm's correction, and the chance of a lucky
    pass.
    """
    runs = dict(zip((row["release"] for row in rows), history.values(), strict=True))
    for series in dict.fromkeys(row["series"] for row in rows):
        part = [row for row in rows if row["series"] == series]
        missed = 1.0
        for place, row in enumerate(part):
            missed *= 1 - (row.get("p_pass") or 0.0)
            row["p_any_pass"] = 1 - missed if row.get("p_pass") is not None else None
            earlier = [old for old in part[:place] if old["judge_version"] == row["judge_version"]]
            before = [runs[old["release"]] for old in earlier]
            row["change_p"], words = change(runs[row["release"]], before, one, row, earlier)
            if place and row["judge_version"] != part[place - 1]["judge_version"]:
                words = joined("the judge changed here: that is no change of the system", words)
            row["note"] = joined(row["note"], words)
        p_values = [float("nan") if row["change_p"] is None else row["change_p"] for row in part]
        adjusted = holm(p_values, family="tested", alpha=1 - one.level)
        for row, p, changed in zip(part, adjusted.adjusted, adjusted.reject, strict=True):
            row["change_holm"] = float(p)
            if changed:
                words = f"p Holm {p:.2g} over {adjusted.tested} looks"
                row["drift"] = "yes"
                row["note"] = joined(
                    row["note"], f"differs from the earlier releases of this series ({words})"
                )
    return rows


def change(
    runs: Outcomes,
    before: list[Outcomes],
    one: Requirement,
    row: Mapping[str, Any],
    earlier: list[dict[str, Any]],
) -> tuple[float | None, str]:
    """The p-value that a release differs from all earlier ones of its series, and what it is of."""
    if not before or not row["n"] or one.against or not sum(found["n"] for found in earlier):
        return None, ""
    keyed = all("case_id" in some.columns for some in (runs, *before))
    if keyed and one.metric.counted == "rows":
        new, keys = cases_of(runs, one)
        old = pd.concat([cases_of(some, one)[0] for some in before])
        old = old.groupby("case_id", sort=False)[["k", "n"]].sum().reset_index()
        both = new.merge(old, on="case_id", suffixes=("", "_old"))
        if len(both) >= SHARED * len(new):
            rates = both["k"] / both["n"], both["k_old"] / both["n_old"]
            marks = [both[key].to_numpy() for key in keys] or [both["case_id"].to_numpy()]
            test: Any = paired_crossed if len(marks) == 2 else paired_units
            result = test(*(rate.to_numpy() for rate in rates), *marks, level=one.level)
            counts = (both[name].to_numpy() for name in ("k", "n", "k_old", "n_old"))
            change = difference_text(result.diff, result.low, result.high)
            words = f"{change} against the earlier ones on {len(both)} shared cases"
            return result.p if keys else drift(*counts).p, words
    k, n = (sum(found[name] for found in earlier) for name in ("k", "n"))
    who = "different cases" if keyed else "cases unknown"
    return difference(row["k"], row["n"], k, n).p, f"{who}: compared as unmatched"


def cases_of(runs: Outcomes, one: Requirement) -> tuple[pd.DataFrame, list[str]]:
    """Events and known runs of each case of a requirement, with its clusters, and their names."""
    chosen = runs.where(**one.where) if one.where else runs
    mode = [str(mode) for mode in distinct(chosen.table, "mode")]
    keys = [key for key in unit_of(chosen, one.cluster).keys if key != "case_id"]
    table = vectors(chosen, one.metric, mode, ["case_id", *keys])
    table = table[table["n0"] > 0].rename(columns={"k0": "k", "n0": "n"})
    return table[["case_id", *keys, "k", "n"]], keys
