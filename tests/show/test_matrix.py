"""Every verb in every renderer: what stands in a table stands in its HTML, Markdown, LaTeX, CSV and
figure, and nothing of it hangs on anything but the rows.

A further verb is one line in `VERBS`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.schema import strata_of
from ferrite_nb.show import figures, tables
from ferrite_nb.show.chart import Chart
from ferrite_nb.show.sentence import sentence

STATES = ("insufficient", "undecided", "not computable", "dropped", "; note (none)", "overall")


@dataclass(frozen=True)
class Verb:
    """A table of a verb and the figure that draws it (None where none does)."""

    table: Callable[[], pd.DataFrame]
    draw: Callable[..., Chart] | None = None


def run(name: str) -> fnb.Outcomes:
    """A bundled run."""
    return fnb.read(fnb.data(name))


def history() -> pd.DataFrame:
    """Two releases against one requirement."""
    runs = run("releases.csv")
    named = {name: runs.where(release=name) for name in ("1.4", "1.5")}
    table = fnb.releases(named, fnb.data("release_requirements.toml"))
    return table[table["metric"] == "ASR"]


def first(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first requirement."""
    return table[table["requirement"] == table["requirement"].iloc[0]]


SCORES = {"score": "score", "label": "label", "positive": "fake", "base_rate": 0.01}
VERBS = {
    "rates": Verb(lambda: fnb.rates(run("ferrite_run_b.csv"), ["ASR", "FGR"]), figures.forest),
    "rates, clusters": Verb(
        lambda: fnb.rates(run("ferrite_run_b.csv"), "ASR", cluster="template"), figures.forest
    ),
    "rates, strata": Verb(
        lambda: fnb.rates(run("ferrite_run_b.csv"), "ASR", by=["tier", "mode"]), figures.heatmap
    ),
    "rates, missing": Verb(lambda: fnb.rates(run("outcomes_with_errors.csv")), figures.forest),
    "plane": Verb(lambda: fnb.rates(run("ferrite_run_b.csv"), ["ASR", "FGR"]), figures.plane),
    "gradient": Verb(lambda: fnb.gradient(run("ferrite_run_b.csv")), figures.gradient),
    "compare": Verb(lambda: fnb.compare(run("ferrite_run_a.csv")), figures.pairs),
    "overhead": Verb(lambda: fnb.overhead(run("ferrite_live.jsonl"))),
    "attempts": Verb(lambda: fnb.attempts(run("attempts.csv")), figures.budget),
    "gate": Verb(
        lambda: first(fnb.gate(run("gate_fail.csv"), fnb.data("requirements.toml"))), figures.gate
    ),
    "releases": Verb(history, figures.gate),
    "judges": Verb(
        lambda: fnb.judges(
            pd.read_csv(fnb.data("judge_bias.csv")), human="human", judges="judge", by="condition"
        ),
        figures.judge,
    ),
    "detector": Verb(lambda: fnb.detector(fnb.data("detector_scores.csv"), **SCORES), figures.roc),
}
EACH = pytest.mark.parametrize("name", VERBS)


@cache
def table_of(name: str) -> pd.DataFrame:
    """The table, made once."""
    return VERBS[name].table()


def counts(table: pd.DataFrame) -> list[str]:
    """Every k/n of a table, a difference by its number of pairs."""
    if "n_pairs" in table:
        return [str(int(n)) for n in table["n_pairs"]]
    read = table.dropna(subset=["k", "n"])
    return [f"{int(k)}/{int(n)}" for k, n in zip(read["k"], read["n"], strict=True) if n]


@EACH
def test_every_count_of_a_verb_stands_in_every_markup(name: str) -> None:
    table = table_of(name)
    wanted = counts(table)
    assert wanted
    for text in (tables.html(table), tables.markdown(table), tables.latex(table)):
        said = re.findall(r"(?<![\d.])\d+/\d+(?![\d/])" if "/" in wanted[0] else r"\d+", text)
        assert [count for count in wanted if said.count(count) < wanted.count(count)] == []
        assert "not in this table" not in text
    rows = list(csv.DictReader(io.StringIO(tables.csv(table))))
    assert len(rows) == len(table) and list(rows[0]) == list(table.columns)
    back = pd.DataFrame(rows)
    for column in ("k", "n", "rate", "diff", "low", "high"):
        if column in table:
            mine, theirs = table[column], pd.to_numeric(back[column])
            assert [a for a in mine if a is not pd.NA and a == a] == list(theirs.dropna())


@EACH
def test_every_count_of_a_verb_stands_in_the_table_of_its_figure(name: str) -> None:
    draw = VERBS[name].draw
    if draw is None:
        pytest.skip("no figure draws this table")
    table = table_of(name)
    chart = draw(table)
    said = str(chart.html())
    assert [count for count in counts(table) if count not in said] == []
    assert "not in this table" not in said


def read_back(table: pd.DataFrame) -> pd.DataFrame:
    """The table after a CSV file, as pandas reads it."""
    return pd.read_csv(io.StringIO(tables.csv(table)))


def in_two(table: pd.DataFrame) -> pd.DataFrame:
    """The table cut in two and joined again."""
    return pd.concat([table.iloc[:1], table.iloc[1:]], ignore_index=True)


CHANGES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "CSV": read_back,
    "concat": in_two,
    "assign": lambda table: table.assign(cost_eur=[None, *range(1, len(table))]),
    "filter": lambda table: table[table["state"].isin(["ok", "few", "none"])],
    "plain frame": lambda table: pd.DataFrame(table.to_dict("list")),
}


@EACH
@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_was_joined_filtered_or_read_back_says_the_same(
    name: str, change: str
) -> None:
    table, draw = table_of(name), VERBS[name].draw
    changed = CHANGES[change](table)
    assert strata_of(changed) == strata_of(table)
    assert tables.html(changed) == tables.html(table)
    assert tables.latex(changed) == tables.latex(table)
    if draw is not None:
        mine, theirs = draw(table), draw(changed)
        assert (mine.caption, mine.alt) == (theirs.caption, theirs.alt)


def named(name: str) -> fnb.Outcomes:
    """A small run whose modes, strata and cluster have one name."""
    rows: list[dict[str, Any]] = [
        {"case_id": str(i), "mode": mode, "tier": f"{name} {i % 2}", name: str(i // 2)}
        | {"attack_success": i % 3 == 0 and mode != name}
        for mode in ("off", name)
        for i in range(24)
    ]
    return fnb.outcomes(pd.DataFrame(rows))


@pytest.mark.parametrize("name", STATES)
def test_a_name_that_looks_like_a_state_changes_nothing_but_the_name(name: str) -> None:
    def said(word: str) -> list[str]:
        runs = named(word)
        rates = fnb.rates(runs, "ASR", by=["tier", "mode"], cluster=word)
        out = [str(tables.html(rates)), tables.markdown(rates), tables.latex(rates)]
        out += [figures.heatmap(rates).alt, sentence(rates)]
        compared = fnb.compare(runs, cluster=word)
        return [*out, str(tables.html(compared)), figures.pairs(compared).alt]

    for mine, theirs in zip(said(name), said("zebra"), strict=True):
        numbers = [re.findall(r"\d+(?:[./]\d+)*", text) for text in (mine, theirs)]
        assert numbers[0] == numbers[1]
        for word in ("insufficient data", "not computable"):
            assert mine.count(word) - mine.count(name) <= theirs.count(word)


def test_a_long_table_is_bounded_and_says_so() -> None:
    table = pd.DataFrame({"case": [str(i) for i in range(1000)]})
    text = tables.html(table)
    assert text.count("<tr>") == 201 and "first 200 of 1,000 rows" in text
    assert tables.html(table, rows=None).count("<tr>") == 1001
    assert len(tables.csv(table).splitlines()) == 1001


def test_a_bare_table_of_a_verb_reads_as_html_shows_it() -> None:
    table = table_of("compare")
    assert table._repr_html_() == tables.html(table)  # type: ignore[operator]
    assert tables.html(table[["mode_a", "n_pairs"]]).count("<td") == len(table)


def test_equal_notes_are_said_once_below_the_table() -> None:
    table = table_of("judges").assign(note="seen by two people")
    text = tables.html(table)
    assert text.count("seen by two people") == 1
    assert text.count("<sup>1</sup>") == len(table) + 1
    assert ">note<" not in text


def test_no_key_is_empty_and_an_unknown_column_is_no_key() -> None:
    table = table_of("rates, strata").assign(cost_eur=[float("nan")] * 8)
    assert tables.html(table) == tables.html(table_of("rates, strata"))
