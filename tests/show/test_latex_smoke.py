"""One LaTeX document with every kind of table and every figure: it compiles where a TeX is
installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.escape import latex_text
from ferrite_nb.show import figures, tables

from . import hand, hand_programme
from .test_every_figure import FIGURES

PREAMBLE = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp,booktabs,array,graphicx}
\begin{document}
"""


def every_table() -> dict[str, pd.DataFrame]:
    """A table of each verb, from bundled data, and hostile ones."""
    run_a = fnb.read(fnb.data("ferrite_run_a.csv"))
    labels = pd.read_csv(fnb.data("judge_bias.csv"))
    history = fnb.read(fnb.data("releases.csv"))
    calls = fnb.data("detector_scores.csv")
    scores = fnb.detector(calls, score="score", label="label", positive="fake", base_rate=0.01)
    found = {
        "rates": fnb.rates(run_a),
        "compare": fnb.compare(run_a),
        "gradient": fnb.gradient(run_a, "CR", "tier"),
        "limits": fnb.limits(run_a),
        "metrics": fnb.metrics(),
        "gate": fnb.gate(fnb.read(fnb.data("gate_fail.csv")), fnb.data("requirements.toml")),
        "releases": fnb.releases(
            {name: history.where(release=name) for name in ("1.5", "1.6")},
            fnb.data("release_requirements.toml"),
        ),
        "attempts": fnb.attempts(fnb.read(fnb.data("attempts.csv"))).head(5),
        "detector": scores,
        "judges": fnb.judges(labels, human="human", judges="judge", by="condition"),
        "hostile": hand.hostile(),
        "hostile pairs": hand.pairs_tables()["hostile"],
        "hostile releases": hand_programme.gate_tables()["hostile"],
    }
    return found


def document(folder: Path) -> str:
    """The document; the figures lie beside it as PDF."""
    parts = [PREAMBLE]
    for name, table in every_table().items():
        parts.append(
            "\\clearpage\n\\tiny\n"
            + tables.latex(table, caption=f"Table of {name}", label=f"tab:{name}")
        )
    for one in FIGURES:
        key = "hostile" if one.name in ("forest", "gate") else "two"
        chart = one.draw(one.tables[key])
        chart.save(folder / f"{one.name}.pdf")
        caption = latex_text(chart.caption)
        parts.append(
            f"\\begin{{figure}}\n\\includegraphics{{{one.name}.pdf}}\n\\caption{{{caption}}}\n\\end{{figure}}"
        )
    return "\n\n".join([*parts, "\\end{document}\n"])


def test_the_smoke_document_holds_every_figure() -> None:
    assert {one.name for one in FIGURES} == set(figures.__all__)


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex here: the document was not compiled"
)
def test_every_table_and_figure_compiles_in_one_document(tmp_path: Path) -> None:
    (tmp_path / "smoke.tex").write_text(document(tmp_path), encoding="utf-8")
    command = [
        "pdflatex",
        "-no-shell-escape",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "smoke.tex",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=300)
    said = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, said[-2000:]
    assert (tmp_path / "smoke.pdf").stat().st_size > 100_000
    log = (tmp_path / "smoke.log").read_text("utf-8", "replace")
    pages = re.search(r"Output written on smoke\.pdf \((\d+) pages", log)
    assert pages and int(pages.group(1)) >= len(every_table())
    assert "Missing character" not in log
