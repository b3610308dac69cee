"""The class page as a file: complete without network and script, every choice drawn, hostile text
harmless.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.teach import class_page


@pytest.fixture(scope="module")
def html() -> str:
    return class_page.page(
        fnb.read(fnb.data("ferrite_run_b.csv")), cluster="template", data="reconstructed"
    )


def test_every_choice_has_one_figure_with_alt_text_and_a_table(html: str) -> None:
    sections = re.findall(
        r'<section class="choice" id="(choice-\d+)">(.*?)</section>', html, flags=re.DOTALL
    )
    options = re.findall(r'<option value="(choice-\d+)">([^<]+)</option>', html)
    assert [name for _, name in options] == [
        "all cases",
        "tier: Tier1",
        "tier: Tier2",
        "scope: exact",
        "scope: domain_suffix",
        "scope: task_open",
    ]
    assert [identity for identity, _ in sections] == [identity for identity, _ in options]
    for _, content in sections:
        assert len(re.findall(r'<img alt="[^"]{40,}"', content)) == 2  # for a page and for a phone
        assert content.count("<table") == 1


def test_numbers_are_those_of_the_rates(html: str) -> None:
    assert "LoopOnly 121/787 [5.4, 36.8]" in html
    assert "reconstructed" in html


def test_no_address_and_no_foreign_source(html: str) -> None:
    assert "http" not in html
    assert set(re.findall(r'src="([^,"]*)', html)) == {"data:image/png;base64"}
    assert "href" not in html


def test_without_script_all_choices_are_there(html: str) -> None:
    assert " hidden" not in html.split("<script>")[0].replace("overflow: hidden", "")


def test_hostile_text_is_shown_and_not_run() -> None:
    evil = "<script>alert(1)</script>"
    frame = pd.DataFrame(
        {
            "case_id": [str(number) for number in range(20)],
            "mode": "On",
            "kind": "attack",
            "attack_success": [True, False] * 10,
            "tier": [evil, "x"] * 10,
        }
    )
    made = class_page.page(fnb.outcomes(frame), title=evil, data=evil)
    assert evil not in made
    assert made.count("<script>") == 1
    assert "&lt;script&gt;" in made


def test_a_stratum_with_many_values_is_no_choice() -> None:
    frame = pd.DataFrame(
        {
            "case_id": [str(number) for number in range(20)],
            "mode": "On",
            "kind": "attack",
            "attack_success": True,
            "tier": [str(number) for number in range(20)],
        }
    )
    assert [one.name for one in class_page.choices(fnb.outcomes(frame), ["tier", "absent"])] == [
        "all cases"
    ]


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "class.html"
    assert class_page.main([str(fnb.data("ferrite_run_a.csv")), "-o", str(target)]) == 0
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert capsys.readouterr().out.strip() == str(target)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["unclear.csv"],
            "no column case_id; the columns are id, jailbroken",
        ),
        (["absent.csv"], "absent.csv"),
        (
            [str(fnb.data("ferrite_run_a.csv")), "--cluster", "author"],
            "there is no column 'author'",
        ),
    ],
)
def test_the_command_says_a_fault_in_one_line(
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("unclear.csv").write_text("id,jailbroken\n1,1\n", encoding="utf-8")
    assert class_page.main([*options, "-o", "class.html"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("class page: ")
    assert said in error
    assert error.count("\n") == 1
    assert not Path("class.html").exists()
