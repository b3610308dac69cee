"""Spellings of true, false and missing, and the declarations of columns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.outcomes.contract import CANONICAL, FLAGS, Const, allowed, flag_meaning, spelled

# The table of spellings, written out on purpose: a change of the code must show here.
EVERYWHERE = {
    True: ["true", "yes", "y", "1", "1.0"],
    False: ["false", "no", "n", "0", "0.0"],
    None: ["", "na", "n/a", "nan", "null", "none"],
    "error": ["error", "timeout"],
}
ATTACK_ONLY = {
    True: ["success", "succeeded", "executed"],
    False: ["fail", "failed", "failure", "blocked", "refused", "contained", "stripped"],
}


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("means", EVERYWHERE)
def test_each_spelling_means_the_same_in_every_flag(flag, means):
    for word in EVERYWHERE[means]:
        for spelling in (word, word.upper(), word.title(), f"  {word}\t"):
            assert flag_meaning(flag, spelling) is means or flag_meaning(flag, spelling) == means, (
                spelling
            )


@pytest.mark.parametrize("means", ATTACK_ONLY)
def test_words_of_attacks_count_in_attack_success_only(means):
    for word in ATTACK_ONLY[means]:
        assert flag_meaning("attack_success", word.upper()) is means
        for flag in (*FLAGS, "attack_resisted"):
            if flag != "attack_success":
                assert flag_meaning(flag, word) == "?", (flag, word)


@settings(deadline=None)
@given(st.text())
def test_any_other_word_is_unknown(word):
    known = {w for words in (*EVERYWHERE.values(), *ATTACK_ONLY.values()) for w in words} | {"<na>"}
    if word.strip().lower() not in known:
        assert flag_meaning("attack_success", word) == "?"


@pytest.mark.parametrize(
    ("value", "token"),
    [
        (None, ""),
        (math.nan, ""),
        (True, "true"),
        (1, "1"),
        (1.0, "1.0"),
        (" Yes ", "yes"),
        (b"1", "b'1'"),
    ],
)
def test_a_value_is_compared_without_case_and_outer_space(value, token):
    assert spelled(value) == token


def test_own_words_replace_the_known_ones_but_not_missing_and_error():
    own = {"hit": True, "miss": False}
    assert [
        flag_meaning("gated", word, own) for word in (" HIT", "miss", "true", "", "timeout")
    ] == [
        True,
        False,
        "?",
        None,
        "error",
    ]
    assert allowed("gated", own) == "the declared words are hit (true), miss (false)"


def test_words_refuse_what_makes_no_sense():
    with pytest.raises(ValueError, match="needs at least one meaning"):
        fnb.words("verdict")
    with pytest.raises(TypeError, match="takes a list of words, got 'hit'"):
        fnb.words("verdict", true="hit")
    with pytest.raises(ValueError, match="'HIT' is given two meanings"):
        fnb.words("verdict", true=["hit"], false=["HIT"])


def test_const_and_words_are_frozen():
    with pytest.raises(AttributeError):
        fnb.const("x").value = "y"
    with pytest.raises(AttributeError):
        fnb.words("verdict", true=["hit"]).column = "other"
    assert fnb.const("x") == Const("x")


def test_no_canonical_name_is_used_twice():
    assert len(CANONICAL) == len(set(CANONICAL))
