"""The report: whole or not at all, nothing from outside, no bare percentage, hostile text as
text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.cli import main
from ferrite_nb.report import write, write_periodic

HOSTILE = [
    "<script>alert(1)</script>",
    "$\\input{x}$",
    "=cmd|' /C calc'!A0",
    "\u202eabc",
    "x" * 300,
]


class Page(HTMLParser):
    """Tags, and the text of each element that holds text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self.inside:
            self.texts.append(data)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    runs = fnb.read(fnb.data("ferrite_run_b.csv"))
    return write(
        runs,
        folder,
        by="tier",
        cluster="template",
        made_from=[fnb.data("ferrite_run_b.csv")],
        command="x",
    )


def test_the_page_needs_nothing_from_outside(report):
    html = report.read_text("utf-8")
    page = Page(html)
    assert "http:" not in html and "https:" not in html
    (policy,) = [attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs]
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert "color-scheme: light dark" in html and "prefers-color-scheme: dark" in html
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert all(
        (attrs["src"] or "").startswith("data:image/png;base64,")
        for tag, attrs in page.tags
        if tag == "img"
    )


def test_the_answer_and_the_rates_are_open_and_the_rest_is_folded(report):
    text = report.read_text("utf-8")
    keys = re.findall(r'<section aria-labelledby="(\w+)">\s*(<details>)?', text)
    folded = {key for key, details in keys if details}
    assert [key for key, details in keys if not details] == ["rates", "comparisons"]
    assert folded == {"strata", "limits", "read", "definitions", "again"}
    assert text.index("The worst cost") < text.index('<nav aria-label="Contents">')


def test_strata_have_the_worst_rate_on_top(report):
    found = pd.read_csv(report.parent / "rates_by_scope.csv").query("metric == 'ASR'")
    assert found["rate"].dropna().is_monotonic_decreasing and len(found) == 12


def test_the_headline_names_no_idle_mode_and_no_cost_without_a_decision(tmp_path):
    """The refuser lowers attacks most and does no task; the guard is told with its paired cost."""
    rows = [
        (f"c{i}", mode, kind, i < attacked, i < done if kind == "benign" else None)
        for mode, attacked, done in (("none", 60, 95), ("guard", 30, 90), ("refuser", 0, 0))
        for kind in ("attack", "benign")
        for i in range(100)
    ]
    columns = ["case_id", "mode", "kind", "attack_success", "task_success"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["case_id"] = frame["kind"] + frame["case_id"]
    frame["attack_success"] = frame["attack_success"].where(frame["kind"] == "attack")
    lead = Page(write(fnb.outcomes(frame), tmp_path).read_text("utf-8")).texts
    first = next(text for text in lead if text.startswith("On the same"))
    cost = next(text for text in lead if text.startswith("The cost on the same"))
    assert '"guard" than in "none" by 30.0 points' in first and "from 60.0% to 30.0%" in first
    assert '95.0% in "none" and 90.0% in "guard"' in cost and "is not decided" in cost


def test_every_picture_has_its_words_and_its_table(report):
    page = Page(report.read_text("utf-8"))
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert len(images) == 5 and all(len(attrs["alt"] or "") > 80 for attrs in images)
    assert sum(tag == "figure" for tag, _ in page.tags) == len(images)
    assert [tag for tag, _ in page.tags].count("h1") == 1
    assert page.tags[0] == ("html", {"lang": "en"})


def test_no_percentage_stands_without_its_count_or_bounds(report):
    for text in Page(report.read_text("utf-8")).texts:
        for sentence in re.split(r"(?<=[.;]) ", text):
            if "%" in sentence:
                assert re.search(r"\d+/\d+|\[[-\d., ]+\]", sentence), sentence


def test_the_first_sentences_are_the_largest_difference_the_worst_cost_and_the_worst_limit(report):
    texts = Page(report.read_text("utf-8")).texts
    lead = [
        text
        for text in texts
        if text.startswith(("On the same", "The worst cost", "The most severe"))
    ]
    assert len(lead) == 3
    assert "787 cases" in lead[0] and 'lower in "On" than in "Off" by 92.0 points' in lead[0]
    assert "2/122" in lead[1] and "787/787" in lead[2]


def test_tables_and_figures_lie_beside_the_page(report):
    names = {file.name for file in report.parent.iterdir()}
    for table in (
        "rates",
        "rates_by_tier",
        "comparisons",
        "gradient_scope",
        "limits",
        "definitions",
    ):
        assert {f"{table}.csv", f"{table}.tex"} <= names
    for figure in ("rates_figure", "comparisons_figure", "gradient_scope_figure"):
        assert {f"{figure}.pdf", f"{figure}.svg", f"{figure}.alt.txt"} <= names
    found = pd.read_csv(report.parent / "rates.csv")
    assert found.loc[found["metric"] == "ASR", "k"].tolist() == [787, 128, 121, 63]


def test_the_hash_and_the_command_are_printed(report):
    text = report.read_text("utf-8")
    assert re.search(r"SHA-256 of ferrite_run_b.csv", text) and re.search(r"[0-9a-f]{64}", text)


def test_one_mode_has_nothing_to_compare(tmp_path):
    runs = fnb.read(fnb.data("ferrite_run_a.csv")).where(mode="On")
    text = write(runs, tmp_path).read_text("utf-8")
    assert text.count("There is one mode only, so there is nothing to compare.") == 1


def test_counts_without_cases_make_a_report_too(tmp_path):
    frame = pd.DataFrame({"mode": ["Off", "On"], "k": [30, 3], "n": [200, 200]})
    text = write(fnb.outcomes(frame), tmp_path).read_text("utf-8")
    assert "[10.7, 20.6]" in text and "counts without cases" in text


def test_nothing_computable_is_a_report_of_reasons(tmp_path):
    frame = pd.DataFrame(
        {"case_id": list("abcdef"), "mode": ["Off", "On"] * 3, "attack_success": "error"}
    )
    text = write(fnb.outcomes(frame), tmp_path).read_text("utf-8")
    assert "not computable: no attack row has a known outcome" in text


def test_hostile_names_are_text_everywhere(tmp_path):
    size = 12
    frame = pd.DataFrame(
        {
            "case_id": [str(n % size) for n in range(size * len(HOSTILE))],
            "mode": [HOSTILE[n // size] for n in range(size * len(HOSTILE))],
            "tier": [HOSTILE[n % 5] for n in range(size * len(HOSTILE))],
            "attack_success": [n % 3 == 0 for n in range(size * len(HOSTILE))],
        }
    )
    frame["tier"] = frame["case_id"].astype(int).map(lambda n: HOSTILE[n % 5])
    written = write(fnb.outcomes(frame, read_from=HOSTILE[0]), tmp_path, by="tier")
    page = Page(written.read_text("utf-8"))
    assert "script" not in {tag for tag, _ in page.tags}
    for file in tmp_path.iterdir():
        if file.suffix == ".tex":
            assert "\\input{" not in file.read_text("utf-8")
        if file.suffix == ".csv":
            cells = pd.read_csv(file, dtype=str, keep_default_na=False).to_numpy().ravel()
            assert not any(cell.startswith(("=", "@")) for cell in cells)
        if file.suffix == ".svg":
            assert "<script" not in file.read_text("utf-8")


def test_a_failure_leaves_the_old_report(tmp_path, monkeypatch):
    runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    page = write(runs, tmp_path)
    before = page.read_bytes()
    monkeypatch.setattr("ferrite_nb.report.single.csv", lambda table: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(runs.where(mode=["Off", "On"]), tmp_path)
    assert page.read_bytes() == before


def test_an_unknown_column_is_named():
    with pytest.raises(ValueError, match="no column 'tyer'"):
        write(fnb.read(fnb.data("ferrite_run_a.csv")), "unused", by="tyer")


def test_the_periodic_report_has_a_chart_and_a_table_per_requirement(tmp_path):
    runs = fnb.read(fnb.data("releases.csv"))
    history = {name: runs.where(release=name) for name in dict.fromkeys(runs.frame["release"])}
    text = write_periodic(history, fnb.data("release_requirements.toml"), tmp_path).read_text(
        "utf-8"
    )
    assert "v1" in text and "v2" in text and "never joined" in text and "1.8" in text
    assert text.count("<h2") == 2


def test_the_command_line_reports_on_named_releases(tmp_path, capsys):
    frame = pd.read_csv(fnb.data("releases.csv"), dtype=str, keep_default_na=False)
    names = []
    for release in ("1.7", "1.8"):
        file = tmp_path / f"{release}.csv"
        frame[frame["release"] == release].to_csv(file, index=False)
        names += ["--name", f"{release}={file}"]
    rules = str(fnb.data("release_requirements.toml"))
    assert main(["report", *names, "--requirements", rules, "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Release 1.8, suite version v2: pass: 1, fail: 1, cannot tell: 0." in text
    assert main(["report", str(file), "--requirements", rules]) == 2
    assert "--name RELEASE=FILE" in capsys.readouterr().err


def test_a_report_is_written_over_nothing_but_an_earlier_report(tmp_path):
    """Results called rates.csv in the folder of the report were once written over by its own table
    of that name.
    """
    data = fnb.data("ferrite_run_a.csv")
    own = tmp_path / "rates.csv"
    own.write_bytes(data.read_bytes())
    with pytest.raises(
        FileExistsError, match=r"rates\.csv is there and is no part of an earlier report"
    ):
        write(fnb.read(own), tmp_path, made_from=[own])
    assert own.read_bytes() == data.read_bytes() and [file.name for file in tmp_path.iterdir()] == [
        "rates.csv"
    ]
    with pytest.raises(ValueError, match="from which the results are read"):
        write(fnb.read(tmp_path), tmp_path / "out" / "deep", made_from=[tmp_path])
    with pytest.raises(NotADirectoryError, match="is a file"):
        write(fnb.read(own), own, made_from=[own])
    with pytest.raises(ValueError, match="needs a folder"):
        write(fnb.read(own), "", made_from=[own])
    with pytest.raises(FileExistsError):
        (tmp_path / "report.html").write_text("mine")
        own.unlink()
        write_periodic(
            {"1": fnb.read(fnb.data("gate_pass.csv"))}, fnb.data("requirements.toml"), tmp_path
        )
    assert (tmp_path / "report.html").read_text() == "mine"


def test_a_second_report_leaves_no_table_of_the_first(tmp_path):
    runs = fnb.read(fnb.data("ferrite_run_a.csv"))
    write(runs, tmp_path, by="ground_truth")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "own.csv").write_text("mine")
    with (tmp_path / ".ferrite-report").open("a") as listed:
        listed.write("notes.txt\n../own.csv\n/etc/hosts.csv\n")
    before = {file.name for file in tmp_path.iterdir()}
    write(runs, tmp_path)
    assert before - {file.name for file in tmp_path.iterdir()} == {
        "rates_by_ground_truth.csv",
        "rates_by_ground_truth.tex",
    }
    assert write(runs, tmp_path, by="ground_truth").is_file()


def test_strata_with_names_alike_keep_their_own_tables(tmp_path):
    """Each of these is a_b, or nothing at all, as a file name; on some file systems A_B is a_b
    too.
    """
    names = ["a b", "a_b", "A/B", "\u0434\u0430", "\u043d\u0435\u0442", "", "x" * 41, "x" * 42]
    frame = pd.DataFrame(
        {"case_id": [str(n) for n in range(24)], "mode": "On", "attack_success": [True, False] * 12}
    )
    for place, name in enumerate(names):
        frame[name] = [f"v{place}.{n % 2}" for n in range(24)]
    write(fnb.outcomes(frame), tmp_path, by=names)
    tables = [pd.read_csv(file).columns[1] for file in sorted(tmp_path.glob("rates_by_*.csv"))]
    assert (
        len(tables)
        == len(names)
        == len({file.name.lower() for file in tmp_path.glob("rates_by_*.csv")})
    )


def test_requirements_with_names_alike_keep_their_own_figures(tmp_path):
    runs = fnb.read(fnb.data("releases.csv"))
    one = {"metric": "ASR", "at_most": 0.1, "where": {"mode": "On"}}
    rules = [
        {**one, "name": "a b"},
        {**one, "name": "a_b", "at_most": 0.2},
        {**one, "name": "A-B", "at_most": 0.3},
    ]
    page = write_periodic({"1.8": runs.where(release="1.8")}, rules, tmp_path).read_text("utf-8")
    assert len(list(tmp_path.glob("releases_*_table.csv"))) == 3
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) == 3
