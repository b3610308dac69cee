"""The periodic report: releases over time against the same requirements, one series per suite
version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..analysis.passing import curve
from ..analysis.releases import releases
from ..outcomes.table import Outcomes
from ..show import figures
from .parts import Section
from .single import file_names, folder_for, save


def write_periodic(
    history: Mapping[str, Outcomes],
    requirements: Any,
    output: str | Path = "report",
    *,
    made_from: Sequence[str | Path] = (),
) -> Path:
    """Write `report.html` for several named releases: verdicts, series, drift, and a chart per
    requirement.

    Parameters
    ----------
    history: name of the release -> outcomes, in order of time.
    requirements: as in `fnb.gate`.
    output: the folder; it is made when it is not there.
    made_from: the files that were read; the report is not written over or beside them.

    Returns
    -------
    The path of `report.html`.
    """
    folder = folder_for(output, made_from)
    table = releases(history, requirements)
    latest = table[table["release"] == table["release"].iloc[-1]]
    sections = []
    told = list(dict.fromkeys(table["requirement"]))
    for name, file in zip(told, file_names(told), strict=True):
        part = table[table["requirement"] == name]
        section = Section(file.lower(), str(name))
        points = curve(part.iloc[-1])
        section.chart(f"releases_{file}", partial(figures.gate, part, curve=points, width="text"))
        section.table(
            f"releases_{file}_table", part, "Each release; a new suite version is a new series"
        )
        sections.append(section)
    counted = latest["verdict"].value_counts()
    said = ", ".join(
        f"{verdict}: {counted.get(verdict, 0)}" for verdict in ("pass", "fail", "cannot tell")
    )
    drift = table[table["drift"] == "yes"]
    flags = ", ".join(f"{row.requirement} in {row.release}" for row in drift.itertuples())
    versions = dict.fromkeys(table["suite_version"])
    lead = [
        (
            f"Release {latest['release'].iloc[0]}, suite version"
            f" {latest['suite_version'].iloc[0] or 'unknown'}: {said}."
        ),
        (
            f"Flagged as different from the earlier releases of its series: {flags}."
            if flags
            else "No release differs from the earlier ones of its series by the stated error rate."
        ),
        (
            f"Suite versions seen: {', '.join(version or 'unknown' for version in versions)}; they"
            " are never joined."
        ),
    ]
    return save(folder, "Releases against their requirements", lead, sections)
