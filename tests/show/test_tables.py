"""Tables: the same content in HTML, LaTeX, Markdown and CSV, nothing of a payload left alive, no
bare percentage.
"""

from __future__ import annotations

import csv
import html
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter

from ferrite_nb.estimate import Estimate
from ferrite_nb.metrics import metrics
from ferrite_nb.show import tables

from . import hand

TAGS = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "sup", "span"}


def pairs() -> pd.DataFrame:
    """A table of `compare` with a difference, a hopeless pair and a pair without shared cases."""
    few = {"diff": -0.6, "low": -0.9, "high": 0.1, "h": -1.287, "p": 0.375, "p_holm": 0.375}
    few |= {"unpaired": 3, "note": "3 left out", "state": "ok", "why": ""}
    return hand.table_of(
        "compare",
        [
            hand.lab() | {"h": 0.52, "p": 7.1e-15, "log10_p": -14.1, "p_holm": 2e-14},
            hand.pair("Off", "<b>", (0, 1, 4, 0)) | few,
            hand.pair("On", "<b>", (0, 0, 0, 0), "the two modes share no case", unpaired=9),
        ],
    )


def gates() -> pd.DataFrame:
    """A table of `gate`."""
    same = {"threshold": 0.02, "rule": "upper bound", "quantity": "rate"}
    rows = [
        hand.row("ASR", 3, 600, requirement="ASR at most 0.02", verdict="pass", **same),
        hand.row("FGR", 0, 0, hand.NOT_RUN, requirement="x", verdict="cannot tell", **same),
    ]
    return hand.table_of("gate", rows)


def overhead() -> pd.DataFrame:
    """A table of `overhead`."""
    same = {"metric": "dL", "mode_a": "On", "mode_b": "Off"}
    lost = {"state": "none", "why": "no case has a latency in both modes", "n_pairs": 0}
    half = {"quantity": "p50 per run", "quantile": 0.5, "value": 150.0, "low": -20.5, "high": 310.0}
    rows = [
        same | half | {"n_pairs": 40, "unpaired": 2, "state": "ok"},
        same | lost | {"quantity": "p95 per run", "quantile": 0.95},
    ]
    return hand.table_of("overhead", rows)


def judges() -> pd.DataFrame:
    """A table of `judges`: rates with counts, and a coefficient that is no percentage."""
    same = {"judge": "judge", "condition": "fiction"}
    kappa = {"quantity": "kappa", "value": 0.7466, "low": 0.54, "high": 0.95, "state": "ok"}
    rate = hand.row("", 9, 14) | {"quantity": "sensitivity"}
    return hand.table_of("judges", [rate | same, kappa | same])


def limits() -> pd.DataFrame:
    """A table of `limits` with a payload in it."""
    row = {"limit": "every Off attack succeeds", "severity": "severe"}
    words = {"evidence": hand.HOSTILE[1], "consequence": hand.HOSTILE[0]}
    return hand.table_of("limits", [row | words | {"columns": (), "cells": ()}])


TABLES = {
    "rates, two metrics": hand.run_b(),
    "rates, one metric": hand.run_a(),
    "clustered": hand.clustered(),
    "hostile": hand.hostile(),
    "pairs": pairs(),
    "gate": gates(),
    "overhead": overhead(),
    "judges": judges(),
    "limits": limits(),
    "metrics": metrics(),
    "empty": pd.DataFrame({"metric": []}),
}
EACH = pytest.mark.parametrize(
    "table", [pytest.param(table, id=name) for name, table in TABLES.items()]
)


def html_cells(table: pd.DataFrame) -> list[list[str]]:
    """The body of the HTML table as text."""
    root = ElementTree.fromstring(f"<div>{tables.html(table, caption='A & B')}</div>")
    body = root.find("table/tbody")
    assert body is not None
    return [["".join(_text(cell)) for cell in row] for row in body]


def _text(cell: ElementTree.Element) -> Iterator[str]:
    """The text of a cell without the numbers of its notes."""
    yield cell.text or ""
    for part in cell:
        yield ("" if part.tag == "sup" else part.text or "") + (part.tail or "")


def markdown_cells(table: pd.DataFrame) -> list[list[str]]:
    """The body of the Markdown table as text."""
    lines = [line for line in tables.markdown(table).split("\n") if line.startswith("|")][2:]
    cells = [
        re.split(r"(?<!\\) \| ", line.strip().removeprefix("| ").removesuffix(" |"))
        for line in lines
    ]
    plain = [[re.sub("<sup>.*?</sup>", "", cell) for cell in row] for row in cells]
    return [[re.sub(r"\\(.)", r"\1", html.unescape(cell)) for cell in row] for row in plain]


def test_rates_print_one_line_per_mode_with_cost_beside_security() -> None:
    assert html_cells(hand.run_b()) == [
        ["Off", "787/787, lower limit 99.5% [99.5, 100.0]", hand.NOT_RUN],
        ["SanitizerOnly", "128/787 = 16.3% [13.9, 19.0]", hand.NOT_RUN],
        ["LoopOnly", "121/787 = 15.4% [13.0, 18.1]", hand.NOT_RUN],
        ["On", "63/787 = 8.0% [6.3, 10.1]", "0/122, upper limit 3.1% [0.0, 3.1]"],
    ]


def test_one_metric_prints_one_line_per_stratum_and_says_that_the_cost_is_missing() -> None:
    rows = html_cells(hand.run_a())
    assert rows[0] == ["Tier1", "Off", "12/12, lower limit 75.8% [75.8, 100.0]"]
    assert rows[8][2] == "3/3, insufficient data (n<5)"
    assert rows[9][2] == "not computable: no attack ran in this mode"
    assert "No cost metric is in this table" in tables.html(hand.run_a())
    assert "No cost metric" not in tables.html(hand.run_b())


def test_the_residual_stands_below_because_it_has_no_mode() -> None:
    table = pd.concat(
        [hand.run_b(), hand.rates([hand.row("R", 1, 22, mode="")])], ignore_index=True
    )
    assert len(html_cells(table)) == 4
    assert ">R: 1/22 = 4.5% [0.8, 21.8]</p>" in tables.html(table)


def test_pairs_print_counts_difference_and_both_p_values() -> None:
    off_on, few, none = html_cells(pairs())
    assert off_on == [
        *("Off - On", "300", "48", "0", "+16.0 points [11.8, 20.2]"),
        *("<0.0001", "<0.0001", "0.520", "0"),
    ]
    assert few[4:] == ["-60.0 points [-90.0, 10.0]", "0.3750", "0.3750", "-1.287", "3"]
    reason = "not computable: the two modes share no case"
    assert none[4:] == [reason, "not computable", "not computable", "not computable", "9"]
    assert "<sup>1</sup> 3 left out" in tables.html(pairs())


def test_other_tables_print_their_intervals_in_brackets() -> None:
    first, second = html_cells(overhead())
    assert first == ["p50 per run", "On - Off", "40", "150 [-20.5, 310]", "2"]
    assert second[3] == "not computable: no case has a latency in both modes"
    assert html_cells(gates())[0][1:] == ["3/600 = 0.5% [0.2, 1.5]", "0.02", "upper bound", "pass"]
    rate, kappa = html_cells(judges())
    assert rate[2:] == ["sensitivity", "9/14 = 64.3% [38.8, 83.7]"]
    assert kappa[2:] == ["kappa", "0.7466 [0.54, 0.95]"]


@EACH
def test_markdown_says_what_html_says(table: pd.DataFrame) -> None:
    assert markdown_cells(table) == html_cells(table)


@EACH
def test_html_is_well_formed_and_accessible(table: pd.DataFrame) -> None:
    text = tables.html(table, caption="A & B")
    root = ElementTree.fromstring(f"<div>{text}</div>")
    tags = {element.tag for element in root.iter()}
    assert tags <= TAGS
    assert root.findtext("table/caption") == "A & B"
    assert all(cell.get("scope") in ("row", "col") for cell in root.iter("th"))
    assert "mathjax_ignore" in text
    columns = len(root.findall("table/thead/tr/th"))
    assert all(len(row) == columns for row in root.findall("table/tbody/tr"))


def test_html_estimates_read_well_aloud() -> None:
    assert 'aria-label="128 of 787, 16.3 %, 95 % interval 13.9 to 19.0"' in tables.html(
        hand.run_b()
    )


@pytest.mark.parametrize(
    "name", [name for name in TABLES if name not in ("hostile", "limits", "metrics")]
)
def test_no_percentage_stands_alone(name: str) -> None:
    for row in [*html_cells(TABLES[name]), *markdown_cells(TABLES[name])]:
        for cell in row:
            assert "%" not in cell or re.search(r"\d+/\d+.*\[.+, .+\]", cell), cell
    body = tables.latex(TABLES[name]).split("\\midrule")[1].split("\\bottomrule")[0]
    assert r"\%" not in body


def cells_of(line: str) -> int:
    """How many columns a line of a tabular fills."""
    spans = sum(int(span) - 1 for span in re.findall(r"\\multicolumn\{(\d+)\}", line))
    return len(re.split(r"(?<!\\)&", line)) + spans


@EACH
def test_latex_lines_fill_all_columns_and_braces_close(table: pd.DataFrame) -> None:
    text = tables.latex(table, caption="100 % & more", label="tab:a")
    spec = re.search(r"\\begin\{tabular\}\{@\{\}(.*)@\{\}\}", text)
    assert spec is not None
    spec_of = re.sub(r">\{.*?\}p\{\d+pt\}", "l", spec[1])
    columns = len(re.findall("[lr]", spec_of.replace("@{~}", "")))
    inner = text.split("\\toprule\n")[1].split("\\bottomrule")[0]
    lines = [line for line in inner.split("\n") if line and not line.startswith("\\midrule")]
    assert len(lines) >= 1 and all(line.endswith(r"\\") for line in lines)
    assert {cells_of(line) for line in lines} == {columns}
    bare = re.sub(r"\\[{}\\%&#_$]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert "%" not in re.sub(r"(?m)^% needs.*$", "", bare)
    assert not re.search("[^\x00-\u017f]", text)
    assert r"\caption{100 \% \& more}\label{tab:a}" in text


def test_latex_keeps_counts_and_marks_reasons_with_letters() -> None:
    text = tables.latex(hand.run_a())
    assert r"Tier1 & Off & 12/12 & {[}75.8, 100.0] \\" in text
    assert r"Tier3AgentDojo & Off & \multicolumn{2}{l}{3/3\textsuperscript{a}} \\" in text
    assert (
        r"Tier3AgentDojo & SanitizerOnly & \multicolumn{2}{l}{not computable\textsuperscript{b}} \\"
        in text
    )
    assert r"~insufficient data (n\textless{}5)\par" in text
    assert text.count(r"\textsuperscript{b}") == 3  # two cells, one footnote


def test_latex_has_a_minus_sign_and_both_p_values() -> None:
    line = next(line for line in tables.latex(pairs()).split("\n") if r"\textless{}b" in line)
    assert "$-$60.0 & {[}$-$90.0, 10.0]" in line and "0.3750" in line


def test_csv_keeps_every_column_and_guards_formulas(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    text = tables.csv(hand.hostile(), path)
    assert path.read_bytes() == text.encode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(hand.hostile().columns)
    assert rows[2]["mode"].startswith("'=cmd") and rows[7]["mode"] == "'-2+3"
    assert float(rows[0]["low"]) == hand.hostile()["low"][0]
    back = list(csv.DictReader(io.StringIO(tables.csv(pairs()))))
    assert float(back[1]["diff"]) == -0.6  # a negative number is no formula


def test_csv_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        tables.csv(hand.run_a(), path)
    assert path.read_text() == "old" and [file.name for file in tmp_path.iterdir()] == ["table.csv"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        tables.csv(hand.run_a(), tmp_path / "none" / "table.csv")


@EACH
def test_the_table_is_not_changed(table: pd.DataFrame) -> None:
    before = table.copy(deep=True)
    for write in (tables.html, tables.latex, tables.markdown, tables.csv):
        assert write(table) == write(table)
    pd.testing.assert_frame_equal(table, before)


def test_a_corrected_rate_keeps_its_observed_counts() -> None:
    table = hand.rates([hand.row("ASR", 60, 600, mode="On")])
    table[["rate", "low", "high", "method"]] = [[0.0977, 0.071, 0.125, "delta"]]
    assert html_cells(table)[0][1] == "60/600 observed, corrected 9.8% [7.1, 12.5]"
    assert html_cells(table)[0][1] == str(Estimate.from_row(table.iloc[0]))


def test_anything_but_a_frame_is_refused() -> None:
    with pytest.raises(TypeError, match="DataFrame"):
        tables.html([1, 2])  # type: ignore[arg-type]


def test_html_is_text_that_a_notebook_shows_as_a_table() -> None:
    text = tables.html(hand.run_b())
    data = DisplayFormatter().format(text)[0]
    assert isinstance(text, str)
    assert data["text/html"] == str(text)
    assert data["text/plain"].startswith("<HTML of ")


def test_a_table_of_words_has_one_header_in_each_row_and_stands_at_the_left() -> None:
    text = tables.html(pd.DataFrame({"limit": ["a"], "evidence": ["b"], "severity": ["note"]}))
    assert text.count('scope="row"') == 1
    assert text.count("text-align:left") == 6 and "text-align:right" not in text


def test_a_latex_table_takes_the_columns_that_are_named_and_keeps_to_its_page() -> None:
    text = tables.latex(pairs(), columns=["A - B", "difference"], caption="x", star=True)
    assert "A - B & \\multicolumn{2}{c}{difference}" in text and "\\begin{table*}" in text
    with pytest.raises(ValueError, match="difference"):
        tables.latex(pairs(), columns=["diff"])
    wide = tables.latex(hand.many(3))
    assert re.search(r"p\{\d+pt\}", wide)
