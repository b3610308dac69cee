"""Write the report of one set of outcomes: what was read, the answer, rates, comparisons,
gradients, limits.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm.auto import tqdm

from ..analysis.compare import compare
from ..analysis.gradient import gradient
from ..analysis.limits import limits
from ..analysis.overhead import overhead
from ..analysis.profile import FEW_VALUES
from ..analysis.rates import rates
from ..analysis.unit import listed
from ..count.cube import check_columns, modes_of
from ..metrics import METRICS, metrics
from ..outcomes.contract import STRATA
from ..outcomes.frames import distinct
from ..outcomes.table import Outcomes, baseline_of
from ..show import figures, style
from ..show.files import write_whole
from ..show.tables import csv, latex
from .answer import answer
from .parts import Section, page

ORDERED = ("scope", "tier")
MADE = ".ferrite-report"  # the names of the files that a report has made in its folder
KINDS = (".html", ".csv", ".tex", ".pdf", ".svg", ".alt.txt")
MOST_MODES = 4  # with more, only the pairs with the baseline are compared
DPI = 300  # of the few parts of a vector figure that are pictures


def write(
    runs: Outcomes,
    output: str | Path = "report",
    *,
    by: str | Iterable[str] | None = None,
    cluster: str | Iterable[str] | None = None,
    judge: Any = None,
    level: float = 0.95,
    made_from: Sequence[str | Path] = (),
    command: str = "",
) -> Path:
    """Write `report.html` and its tables and figures into a folder, whole or not at all.

    Parameters
    ----------
    output: the folder; it is made when it is not there.
    by: strata columns to split the rates by, one after the other.
    cluster, level, judge: as in `fnb.rates`.
    made_from: the files that were read; their hashes are printed so that the page can be made
        again.
    command: the line that made the page.

    Returns
    -------
    The path of `report.html`. Beside it `<table>.csv`, `<table>.tex`, `<figure>.pdf`,
    `<figure>.svg`.

    Raises
    ------
    ValueError: an unknown column; a folder of results as output. OutcomesError: a cell that would
        mix suite versions.
    OSError: the folder cannot be written; a file of it belongs to no earlier report.
    """
    folder = folder_for(output, made_from)
    strata = check_columns(runs, [name for name in listed(by) if name != "mode"], "by")
    options: dict[str, Any] = {"cluster": cluster, "level": level}
    # no bar where nobody looks: in a log it would stand in one line with the error
    with tqdm(
        total=6 + len(strata), desc="report", leave=False, unit="part", disable=None
    ) as steps:
        table = rates(runs, **options)
        steps.update()
        sections = [rates_section(runs, table, options, judge)]
        steps.update(1 + len(strata))
        compared = comparisons(runs, table, options)
        sections.append(compare_section(runs, compared, table))
        steps.update()
        sections.append(strata_section(runs, table, strata, options))
        steps.update()
        found = limits(runs, cluster=cluster)
        sections.append(
            Section(
                "limits",
                "The limits of these data",
                tables={"limits": (found, "Limits, found in the data")},
                folded=True,
            )
        )
        steps.update()
        sections += [
            read_section(runs),
            definitions_section(table),
            again_section(runs, made_from, command),
        ]
        return save(
            folder,
            "Attack outcomes, with their limits",
            answer(table, compared, found, baseline_of(runs)[0]),
            sections,
        )


def folder_for(output: str | Path, made_from: Sequence[str | Path]) -> Path:
    """The folder of a report, checked before anything is counted: no file, and no folder of
    results.
    """
    folder = Path(output)
    if not str(output).strip():
        raise ValueError("the report needs a folder: name one with -o")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; the report needs a folder")
    whole = folder.resolve()
    for one in map(Path, made_from):
        if one.is_dir() and whole.is_relative_to(one.resolve()):
            raise ValueError(
                f"{folder} lies in {one}, from which the results are read: the next reading would"
                " take the tables of the report for results; choose a folder outside"
            )
    return folder


def save(folder: Path, title: str, lead: list[str], sections: list[Section]) -> Path:
    """All files of a report, written beside their targets and moved into place together.

    A file that is there and belongs to no earlier report, such as the results themselves, is not
    written over; what an earlier report made and this one does not is removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / "report.html": page(title, lead, sections).encode()}
    for section in sections:
        for name, (table, caption) in section.tables.items():
            files[folder / f"{name}.csv"] = csv(table).encode()
            files[folder / f"{name}.tex"] = latex(table, caption=caption).encode()
        for name, chart in section.charts.items():
            for kind in ("pdf", "svg"):
                files[folder / f"{name}.{kind}"] = style.render(chart.figure, kind, DPI)
            files[folder / f"{name}.alt.txt"] = (chart.alt + "\n").encode()
    before = made_before(folder)
    foreign = [file for file in files if file.exists() and file.name not in before]
    if foreign:
        raise FileExistsError(
            f"{foreign[0]} is there and is no part of an earlier report; choose another folder"
        )
    now = {file.name for file in files}
    files[folder / MADE] = "".join(f"{name}\n" for name in sorted(now)).encode()
    write_whole(files)
    for name in before - now:
        (folder / name).unlink(
            missing_ok=True
        )  # a table of other data must not lie beside this page
    return folder / "report.html"


def made_before(folder: Path) -> set[str]:
    """The names of the files that an earlier report made in this folder: no path, and of no other
    kind than ours.
    """
    listed = folder / MADE
    names = listed.read_text("utf-8", "replace").splitlines() if listed.is_file() else []
    return {name for name in names if Path(name).name == name and name.endswith(KINDS)}


def read_section(runs: Outcomes) -> Section:
    """What was read and what was not."""
    lines = pd.DataFrame(runs.describe(), columns=["", "what was read"])
    return Section(
        "read",
        "What was read, and what was not",
        tables={"read": (lines, "What was read")},
        folded=True,
    )


def rates_section(
    runs: Outcomes, table: pd.DataFrame, options: dict[str, Any], judge: Any
) -> Section:
    """Rates with the cost beside the gain, and corrected for the judge."""
    section = Section("rates", "Rates: gain and cost of each mode")
    section.table("rates", table, "Rates by mode; security first, then cost")
    shown = table[table["metric"].isin(["ASR", *cost_shown(table)])]
    section.chart("rates_figure", partial(figures.forest, shown, width="text"))
    pair = ["ASR", *cost_shown(table)[:1]]
    if len(pair) == 2:
        section.chart(
            "plane_figure", partial(figures.plane, table[table["metric"].isin(pair)], width="text")
        )
    if judge is not None:
        corrected = rates(runs, "ASR", judge=judge, **options)
        section.table(
            "rates_judged", corrected, "Attack success: as the judge saw it, and corrected"
        )
    return section


def cost_shown(table: pd.DataFrame) -> list[str]:
    """The cost metrics to stand beside ASR: those with a rate, or the first that says why there is
    none.
    """
    costs = [name for name in dict.fromkeys(table["metric"]) if METRICS[name].side == "cost"]
    known = [name for name in costs if table.loc[table["metric"] == name, "rate"].notna().any()]
    return known[:2] or costs[:1]


def comparisons(
    runs: Outcomes, table: pd.DataFrame, options: dict[str, Any]
) -> pd.DataFrame | None:
    """All pairs of modes in ASR and in the cost metrics that several modes have; None with one mode
    or only counts.
    """
    if len(modes_of(runs)) < 2 or "case_id" not in runs.columns:
        return None
    several = [
        name
        for name in dict.fromkeys(table["metric"])
        if METRICS[name].counted == "rows"
        and (name == "ASR" or METRICS[name].side == "cost")
        and (table.loc[table["metric"] == name, "n"] > 0).sum() >= 2
    ]
    # with many modes all pairs are a table that nobody reads: those with the baseline decide
    base = baseline_of(runs)[0] if len(modes_of(runs)) > MOST_MODES else None
    return compare(runs, several, baseline=base, **options) if several else None


def compare_section(runs: Outcomes, compared: pd.DataFrame | None, table: pd.DataFrame) -> Section:
    """Modes on the same cases, with the overhead where it was recorded."""
    section = Section("comparisons", "Modes compared on the same cases")
    modes = modes_of(runs)
    if compared is None:
        why = "there is one mode only" if len(modes) < 2 else "the table holds counts without cases"
        section.sentences.append(f"There is nothing to compare: {why}.")
        return section
    section.table("comparisons", compared, "Pairs of modes; b: the event in A only, c: in B only")
    security = compared[compared["metric"] == "ASR"]
    if len(security):
        section.chart("comparisons_figure", partial(figures.pairs, security, width="text"))
    if "latency_ms" in runs.columns:
        base, how = baseline_of(runs)
        section.table("overhead", overhead(runs), f'Latency added over "{base}", in milliseconds')
        if how == "first":
            section.sentences.append(
                f'No mode is known to be the one without defence: "{base}" was taken; name another '
                "with --baseline."
            )
    return section


def strata_section(
    runs: Outcomes, table: pd.DataFrame, strata: list[str], options: dict[str, Any]
) -> Section:
    """Rates in each stratum asked for and in those of the format, the worst on top, and containment
    over each ordered one.
    """
    section = Section("strata", "Where it gets weak", folded=True)
    pair = ["ASR", *cost_shown(table)[:1]]
    known = [name for name in STRATA if name in runs.columns and name not in strata]
    few = [name for name in known if 1 < len(distinct(runs.table, name)) <= FEW_VALUES]
    names = [*strata, *few]
    for name, file in zip(names, file_names(names), strict=True):
        split = worst_first(rates(runs, pair, by=[name, "mode"], **options))
        section.table(f"rates_by_{file}", split, f"Rates by {name} and mode, the worst on top")
        if name in ORDERED:
            found = gradient(runs, "CR", by=name, **options)
            section.table(f"gradient_{file}", found, f"Containment rate by {name}")
            draw = partial(figures.gradient, found, width="text")
            section.chart(f"gradient_{file}_figure", draw)
    if not names:
        section.sentences.append("The data have no stratum to split by; name one with --by.")
    return section


def worst_first(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each metric with the worst rate on top; those without a rate come last."""
    better = table["metric"].map(lambda name: METRICS[name].better)
    bad = table["rate"].where(better == "lower", -table["rate"])
    place = {name: at for at, name in enumerate(dict.fromkeys(table["metric"]))}
    keys = pd.DataFrame({"metric": table["metric"].map(place), "bad": -bad})
    order = keys.sort_values(["metric", "bad"], kind="stable", na_position="last").index
    return table.loc[order].reset_index(drop=True)


def definitions_section(table: pd.DataFrame) -> Section:
    """The definition of every metric on the page."""
    used = metrics()
    used = used[used["metric"].isin(set(table["metric"]))].reset_index(drop=True)
    return Section(
        "definitions",
        "Definitions",
        tables={"definitions": (used, "Every metric used here")},
        folded=True,
    )


def again_section(runs: Outcomes, made_from: Sequence[str | Path], command: str) -> Section:
    """How to make this page again: versions, command, seed, and the hash of each file."""
    from .. import __version__

    lines = [
        ("ferrite_nb", __version__),
        ("Python", platform.python_version()),
        ("pandas", pd.__version__),
    ]
    lines += [("seed", "0"), ("read", runs.source)] + ([("command", command)] if command else [])
    files = [Path(one) for one in made_from if Path(one).is_file()]
    lines += [(f"SHA-256 of {file.name}", hash_of(file)) for file in files]
    return Section(
        "again",
        "How to make this page again",
        tables={
            "again": (pd.DataFrame(lines, columns=["what", "value"]), "Versions, command and files")
        },
        folded=True,
    )


def hash_of(file: Path) -> str:
    """The SHA-256 of a file, read in blocks."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_names(names: Sequence[str]) -> list[str]:
    """The names as parts of file names, each another one on every file system: "a b" and "A_B" are
    a_b and A_B_2.
    """
    made: list[str] = []
    for name in names:
        plain = (
            "".join(sign if sign.isalnum() and sign.isascii() else "_" for sign in name)[:40]
            or "column"
        )
        taken, file, number = {one.lower() for one in made}, plain, 2
        while file.lower() in taken:
            file, number = f"{plain}_{number}", number + 1
        made.append(file)
    return made
