"""Paper: the published cells audited, and all nine figures from the bundled data, ready for a
two-column page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

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
from .told import Told, told

__all__ = [
    "FIGURES",
    "audit",
    "overall",
    "paper_figure",
    "published",
    "published_counts",
    "spread_ratio",
    "write_figures",
]

MODEL = "gpt-4o-2024-08-06"
SOURCE = "arXiv:2510.05244v1, tables 10 to 12, CC BY 4.0"
METRICS = {"ASR": "ASR", "BU": "task success"}
FORMATS = ("pdf", "svg", "png")


@cache
def _cells() -> pd.DataFrame:
    return pd.read_csv(data("agentdojo_tables_2510.05244.csv"), dtype={"run_counts": str})


def published() -> pd.DataFrame:
    """The 336 published cells: rate and SD as printed, in percent, and the counts that were solved
    back from them.
    """
    return _cells().copy()


def published_counts(
    model: str = MODEL, *, metrics: tuple[str, ...] = ("ASR",), runs: int = 3
) -> Outcomes:
    """The published counts of one model as outcomes, with its defences as modes and the suite as a
    stratum.

    Parameters
    ----------
    metrics: tables of the paper, "ASR" and "BU" (benign utility, here task success).
    runs: 3 pools the three runs of each case, as the counts are published. 1 takes the first of the
        three instead: its count is one of those that give the printed mean and SD.

    Example
    -------
    >>> table = rates(published_counts(), "ASR")
    >>> table[table["mode"] == "none"][["k", "n"]].values.tolist()
    [[662, 2847]]
    """
    table = _cells()
    table = table[(table["model"] == model) & table["table"].isin(metrics)]
    if table.empty:
        raise ValueError(
            f"there is no model {model!r}; the models are {', '.join(_cells()['model'].unique())}"
        )
    first = table["run_counts"].str.split(" or ").str[0].str.split("/").str[0].astype(int)
    frame = pd.DataFrame(
        {
            "mode": table["defence"],
            "suite": table["suite"],
            "metric": table["table"].map(METRICS),
            "k": table["k_pooled"] if runs == 3 else first,
            "n": table["n_pooled"] if runs == 3 else table["n_cases"],
        }
    )
    said = "three runs of each case pooled" if runs == 3 else "one of three runs"
    return outcomes(frame, read_from=f"{SOURCE}; {said}")


def audit() -> pd.DataFrame:
    """What the printed cells say when they are counted again: one row per question, with k of n
    cells.

    Example
    -------
    >>> audit()[["k", "n"]].values.tolist()
    [[336, 336], [336, 336], [59, 336], [38, 59], [304, 315], [79, 84]]
    """
    table = _cells()
    p, n = table["published_rate"] / 100, table["n_cases"]
    whole = (100 * table["k_pooled"] / table["n_pooled"] - table["published_rate"]).abs() < 0.0051
    fits = [
        any(_fits(way, row) for way in row.run_counts.split(" or ")) for row in table.itertuples()
    ]
    still = table["published_sd"] == 0
    inside = still & table["published_rate"].between(0, 100, inclusive="neither")
    spread = 100 * (p * (1 - p) / n) ** 0.5
    known = spread > 0
    below = known & (table["published_sd"] < spread)
    rows = _overall()
    differ = (rows["macro"] - rows["micro"]).abs() > 0.05
    found = [
        ("a whole count behind the printed rate", whole.sum(), len(table)),
        ("three whole runs behind the printed mean and SD", sum(fits), len(table)),
        ("printed as ± 0.00", still.sum(), len(table)),
        ("of these strictly between 0 and 1", inside.sum(), still.sum()),
        ("SD over runs below the binomial SD of the cases", below.sum(), known.sum()),
        ("overall rates where macro is not micro", differ.sum(), len(rows)),
    ]
    return pd.DataFrame(
        [(question, int(k), int(of)) for question, k, of in found], columns=["cells", "k", "n"]
    )


def _fits(way: str, row: Any) -> bool:
    """Whether three whole runs give the printed mean and SD (divisor 2), to two decimals."""
    runs = pd.Series([100 * int(count) / row.n_cases for count in way.split("/")])
    return (
        abs(runs.mean() - row.published_rate) < 0.0051
        and abs(runs.std() - row.published_sd) < 0.0051
    )


def _overall() -> pd.DataFrame:
    """Macro mean and micro rate, in percent, of each table, model and defence."""
    groups = _cells().groupby(["table", "model", "defence"], sort=False)
    sums = groups[["k_pooled", "n_pooled"]].sum()
    return pd.DataFrame(
        {
            "macro": groups["published_rate"].mean(),
            "micro": 100 * sums["k_pooled"] / sums["n_pooled"],
            "suites": groups.size(),
        }
    ).reset_index()


def overall() -> pd.DataFrame:
    """The 84 overall rates of the paper's tables, as a mean of suites (macro) and as a rate of
    cases (micro).
    """
    return _overall().round(2)


def spread_ratio() -> float:
    """The median of the SD over runs divided by the binomial SD of the cases, over the cells where
    that is not 0.
    """
    table = _cells()
    p = table["published_rate"] / 100
    spread = 100 * (p * (1 - p) / table["n_cases"]) ** 0.5
    return float((table["published_sd"] / spread)[spread > 0].median())


# The nine figures, each from bundled data. A figure has the name of its function.


def _run_b() -> Outcomes:
    return read(data("ferrite_run_b.csv"))


def _forest(width: str) -> Chart:
    return figures.forest(rates(_run_b(), ["ASR", "FGR"], cluster="template"), width=width)


def _plane(width: str) -> Chart:
    return figures.plane(
        rates(published_counts(metrics=("ASR", "BU"), runs=1), ["ASR", "task success"]),
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


def paper_figure(figure: str = "forest", width: str = "column", format: str = "pdf") -> Told:
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
    return told(
        chart,
        f'chart.save("{figure}.{format}") writes {figure}.{format} ({inches[0]:.1f} by {inches[1]:.1f} inches, '
        f"{size:.0f} kB), {figure}.csv and {figure}.alt.txt.",
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
