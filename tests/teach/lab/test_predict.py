"""Predict, then run: what a guess is told, and that no guess stops a notebook."""

from __future__ import annotations

import pytest

from ferrite_nb.teach.lab import predict


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        (None, "No prediction recorded; it is 30/200 = 0.150 [0.107, 0.206]."),
        (0.10, "You said 0.1, it is 30/200 = 0.150 [0.107, 0.206]: your guess lies just outside."),
        (0.2, "You said 0.2, it is 30/200 = 0.150 [0.107, 0.206]: your guess lies inside."),
        (0.9, "You said 0.9, it is 30/200 = 0.150 [0.107, 0.206]: your guess lies well outside."),
        (
            15,
            "You said 15, it is 30/200 = 0.150 [0.107, 0.206]: give a proportion between 0 and 1, not percent.",
        ),
        ("ten", "A prediction is one number, such as 0.1; it is 30/200 = 0.150 [0.107, 0.206]."),
        (True, "A prediction is one number, such as 0.1; it is 30/200 = 0.150 [0.107, 0.206]."),
        (
            float("nan"),
            "A prediction is one number, such as 0.1; it is 30/200 = 0.150 [0.107, 0.206].",
        ),
    ],
)
def test_a_guess_beside_a_rate(guess: object, said: str) -> None:
    found = predict(guess, 30, 200)
    assert str(found) == repr(found) == said
    assert found._repr_html_() == f'<p class="ferrite-lab">{said}</p>'


def test_a_guess_beside_a_number() -> None:
    assert str(predict(12, 5)) == "You said 12, it is 5: your guess is 7 too high."
    assert (
        str(predict(0.01, 0.0195)) == "You said 0.01, it is 0.0195: your guess is 0.0095 too low."
    )
    assert str(predict(5, 5)) == "You said 5, it is 5: your guess is exact."
    assert str(predict(None, 5)) == "No prediction recorded; it is 5."


def test_no_case_and_impossible_counts_do_not_raise() -> None:
    assert str(predict(0.1, 0, 0)) == "You said 0.1, it is 0/0, not computable."
    assert "cannot be compared" in str(predict(0.1, 5, 3))
    assert "cannot be compared" in str(predict(0.1, "many"))
