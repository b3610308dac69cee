"""Predict, then run: no answer without a guess, honest answers, and no guess stops a notebook."""

from __future__ import annotations

import re

import ipywidgets
import pytest

from ferrite_nb.teach.lab import answers, guesses, predict, predicting
from ferrite_nb.teach.lab.parts import declared

QUESTIONS = declared("predictions.toml")
every_question = pytest.mark.parametrize("question", list(QUESTIONS))


@pytest.fixture(autouse=True)
def no_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predicting, "GUESSES", {})


@every_question
def test_the_box_holds_no_answer_and_asks_for_none(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(answers.ANSWERS, question, lambda: pytest.fail("computed"))
    box = predict(question)
    assert isinstance(box, ipywidgets.VBox)
    assert predicting.GUESSES == {}


# Exact arithmetic, published counts, and other programs.
ANSWERS = {
    "00": 63 / 787,
    "01": 2 / 7,
    "02": 0.3604,
    "03": 48,
    "04": 0,
    "05": 19.4,
    "06": 0.07,
    "07": 19 / 1018,
    "08": 0.4449,
    "09": 0.7200,
    "lab": 1921 / 2000,
}


@every_question
def test_the_answer_is_right_and_comes_after_a_guess(question: str) -> None:
    value, text = answers.answer(question)
    assert value == pytest.approx(ANSWERS[question], abs=0.0051 if value < 10 else 0.051)
    said = str(predict(question, 0.5))
    assert said.startswith("You said 0.5") and text in said


@pytest.mark.parametrize("question", ["02", "06", "07", "08", "09"])
def test_an_exact_number_has_no_interval(question: str) -> None:
    assert "[" not in str(predict(question, 0.5))


def test_a_rate_of_run_b_knows_its_templates() -> None:
    assert "63/787 = 8.0% [2.8, 21.0]" in str(predict("00", 0.1))


@pytest.mark.parametrize(
    "wrong", ["ten", True, float("nan"), float("inf"), [0.1], 15, -1, object()]
)
@every_question
def test_what_is_no_guess_gets_no_answer(question: str, wrong: object) -> None:
    if not QUESTIONS[question].get("proportion", True) and wrong in (15, -1):
        return
    said = str(predict(question, wrong))
    assert "answer" in said and not re.search(r"it is", said)
    assert predicting.GUESSES == {}


def test_an_unknown_question_says_which_there_are() -> None:
    assert '"00"' in str(predict("99")) or "00, 01" in str(predict("99"))


def test_the_button_shows_the_answer_to_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    box = predict("07")
    guess, give, button = box.children[1].children
    button.click()
    guess.value, give.value = "0,9", "0.05"
    button.click()
    assert "You said" not in str(shown[0])
    assert "You said 0.9 (0.85 to 0.95), it is 0.01866" in str(shown[1])


def test_all_guesses_of_a_session_together() -> None:
    assert str(guesses()) == "No guess was made in this session."
    predict("07", 0.02, 0.01)
    predict("06", 0.5, 0.1)
    predict("06", 0.05, 0.03)  # the last guess counts
    predict("08", 0.9)
    assert str(guesses()).startswith("2 of 3 inside your own range.")
