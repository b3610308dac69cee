"""Paper: the published cells audited, and all nine figures from the bundled data, ready for a
two-column page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from ...analysis.attempts import attempts
from ...analysis.compare import compare
from ...analysis.detector import detector
from ...analysis.gradient import gradient
from ...analysis.judges import judges
from ...analysis.rates import rates
from ...analysis.releases import releases
from ...bundled import data
from ...outcomes.table import Outcomes, outcomes
from ...readers import read
from ...show import figures, style
from ...show.chart import Chart
from ..lab import references
from .controls import with_finding

__all__ = [
    "FIGURES",
    "paper_figure",
    "published",
    "published_counts",
    "write_figures",
]

MODEL = "gpt-4o-2024-08-06"
SOURCE = "arXiv:2510.05244v1, tables 10 to 12, CC BY 4.0"
COLUMNS = {"ASR": ("attack_success", "attack"), "BU": ("task_success", "benign")}
FORMATS = ("pdf", "svg", "png")


def published() -> pd.DataFrame:
    """The 336 published cells: rate and SD as printed, in percent, and the counts that were solved
    back from them.
    """
    return references.published().copy()


def published_counts(model: str = MODEL, *, metrics: tuple[str, ...] = ("ASR",)) -> Outcomes:
    """The published counts of one model as outcomes of each case in its three runs, with its
    defences as modes and the suite as a stratum.

    Which cases succeeded in which run is not published. Here the runs of a case agree as much as
    their counts allow: the rates are those of the paper, and the interval, with the case as the
    unit, is the widest that fits them.

    Parameters
    ----------
    metrics: tables of the paper, "ASR" and "BU" (benign utility, here task success).

    Example
    -------
    >>> table = rates(published_counts(), "ASR")
    >>> table[table["mode"] == "none"][["k", "n"]].values.tolist()
    [[662, 2847]]
    """
    cells = references.published()
    if model not in set(cells["model"]):
        known = ", ".join(cells["model"].unique())
        raise ValueError(f"there is no model {model!r}; the models are {known}")
    frames = []
    for cell in cells[(cells["model"] == model) & cells["table"].isin(metrics)].itertuples():
        hits = references.nested_runs(cell.run_counts, cell.n_cases)
        run, case = (place.ravel() for place in np.indices(hits.shape))
        flag, kind = COLUMNS[cell.table]
        rows = {"case_id": [f"{cell.table} {cell.suite} {one:03d}" for one in case], "repeat": run}
        rows |= {"mode": cell.defence, "suite": cell.suite, "kind": kind, flag: hits.ravel()}
        frames.append(pd.DataFrame(rows))
    frame = pd.concat(frames, ignore_index=True)
    return outcomes(frame, read_from=f"{SOURCE}; three runs of each case", baseline="none")


# The nine figures, each from bundled data. A figure has the name of its function.


def _run_b() -> Outcomes:
    return read(data("ferrite_run_b.csv"))


def _forest(width: str) -> Chart:
    return figures.forest(rates(_run_b(), ["ASR", "FGR"], cluster="template"), width=width)


def _plane(width: str) -> Chart:
    return figures.plane(
        rates(published_counts(metrics=("ASR", "BU")), ["ASR", "task success"]),
        width=width,
        baseline="none",
    )


def _heatmap(width: str) -> Chart:
    return figures.heatmap(rates(published_counts(), "ASR", by=["suite", "mode"]), width=width)


def _releases(width: str) -> Chart:
    runs = read(data("releases.csv"))
    history = {str(name): runs.where(release=name) for name in dict.fromkeys(runs.frame["release"])}
    table = releases(history, data("release_requirements.toml"))
    return figures.gate(table[table["metric"] == "ASR"], width=width)


def _roc(width: str) -> Chart:
    table = detector(
        data("detector_scores.csv"), score="score", label="label", positive="fake", base_rate=0.001
    )
    return figures.roc(table, width=width)


def _judge(width: str) -> Chart:
    labels = pd.read_csv(data("judge_bias.csv"))
    return figures.judge(judges(labels, human="human", judges="judge", by="condition"), width=width)


FIGURES: dict[str, Callable[[str], Chart]] = {
    "forest": _forest,
    "plane": _plane,
    "pairs": lambda width: figures.pairs(compare(read(data("ferrite_run_a.csv"))), width=width),
    "gradient": lambda width: figures.gradient(
        gradient(_run_b(), "CR", "scope", cluster="template"), width=width
    ),
    "heatmap": _heatmap,
    "budget": lambda width: figures.budget(attempts(read(data("attempts.csv"))), width=width),
    "roc": _roc,
    "gate": _releases,
    "judge": _judge,
}


def paper_figure(figure: str = "forest", width: str = "column", format: str = "pdf") -> Chart:
    """One of the nine figures, and what `save` would write.

    Parameters
    ----------
    figure: "forest", "plane", "pairs", "gradient", "heatmap", "budget", "roc", "gate" or "judge".
    width: "column" (3.3 in) or "text" (7 in).
    format: "pdf", "svg" or "png".
    """
    if figure not in FIGURES or format not in FORMATS:
        raise ValueError(
            f"figure is one of {', '.join(FIGURES)}, format one of {', '.join(FORMATS)}"
        )
    chart = FIGURES[figure](width)
    size = len(style.render(chart.figure, format, 300)) / 1000
    inches = chart.figure.get_size_inches()
    return with_finding(
        chart,
        f'chart.save("{figure}.{format}") writes {figure}.{format} '
        f"({inches[0]:.1f} by {inches[1]:.1f} inches, {size:.0f} kB), "
        f"{figure}.csv and {figure}.alt.txt.",
    )


def write_figures(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Write all nine figures at both widths as PDF and SVG, each with its data, alt text and
    caption; gives the paths.

    The widths have folders of their own, `column` and `text`, so that a figure has one name in a
    paper.
    """
    for width in style.WIDTHS:
        place = Path(folder) / width
        place.mkdir(parents=True, exist_ok=True)
        for name, draw in FIGURES.items():
            chart = draw(width)
            yield from dict.fromkeys(
                path for kind in ("pdf", "svg") for path in chart.save(place / f"{name}.{kind}")
            )
            caption = place / f"{name}.caption.txt"
            caption.write_text(chart.caption + "\n", encoding="utf-8")
            yield caption
