"""Where the variance comes from: other programs' values, balanced designs by hand, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrite_nb.stats import components

from .reference import compare, load

FACETS = ("template", "case", "judge")


def crossed(templates=6, cases=8, repeats=3):
    """The labels of a balanced crossed design."""
    template = np.repeat(np.arange(templates), cases * repeats)
    return {"template": template, "case": np.tile(np.repeat(np.arange(cases), repeats), templates)}


def outcomes(size, seed=0):
    return np.random.default_rng(seed).integers(0, 2, size)


@pytest.mark.parametrize("case", load("ahead", "components"))
def test_agrees_with_the_reference(case):
    inputs = case["inputs"]
    result = components(
        inputs["outcome"], {name: inputs[name] for name in FACETS if name in inputs}
    )
    fields = {f"component {name}": value for name, value in result.component.items()}
    fields |= {f"doubling {name}": value for name, value in result.doubled.items()}
    fields["se"] = result.se
    for name, value in case["expected"].items():
        compare(fields[name], value, case["tolerance"], name)


def test_a_balanced_design_is_the_analysis_of_variance():
    facets = crossed()
    y = outcomes(144).astype(float)
    cube = y.reshape(6, 8, 3)
    cell, by_t, by_c = cube.mean(2), cube.mean((1, 2)), cube.mean((0, 2))
    ms_t = 24 * by_t.var(ddof=1)
    ms_c = 18 * by_c.var(ddof=1)
    rest = cell - by_t[:, None] - by_c + y.mean()
    ms_tc = 3 * (rest**2).sum() / 35
    ms_r = cube.var(axis=2, ddof=1).mean()
    found = components(y, facets).component
    assert found["template"] == pytest.approx((ms_t - ms_tc) / 24, abs=1e-12)
    assert found["case"] == pytest.approx((ms_c - ms_tc) / 18, abs=1e-12)
    assert found["template x case"] == pytest.approx((ms_tc - ms_r) / 3, abs=1e-12)
    assert found["repeat"] == pytest.approx(ms_r, abs=1e-12)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.floats(-5, 5), st.floats(0.1, 4))
def test_order_shift_names_and_scale_do_not_matter(seed, shift, scale):
    random = np.random.default_rng(seed)
    kept = np.sort(random.choice(144, 120, replace=False))  # unbalanced
    facets = {name: labels[kept] for name, labels in crossed().items()}
    y, order = outcomes(120, seed), random.permutation(120)
    first = components(y, facets)
    other = components(
        shift + scale * y[order],
        {name: [f"{name}{label}" for label in labels[order]] for name, labels in facets.items()},
    )
    for name, value in first.component.items():
        assert other.component[name] == pytest.approx(scale**2 * value, abs=1e-9)
        assert other.share[name] == pytest.approx(first.share[name], abs=1e-7)
    assert sum(first.share.values()) == pytest.approx(1)
    assert other.se == pytest.approx(scale * first.se, abs=1e-9)
    gains = {name: gain for name, gain in first.doubled.items() if not math.isnan(gain)}
    assert set(gains) == {"template", "case", "repeat"}
    for name, gain in gains.items():
        assert 0 <= first.low[name] <= gain <= first.high[name] <= 1 - math.sqrt(0.5) + 1e-12
        assert gain <= 1 - math.sqrt(0.5) + 1e-12


def test_doubling_is_what_the_doubled_design_has():
    """Twice the cases with the same components: the variance of its mean, by the definition."""
    facets, y = crossed(), outcomes(144)
    found = components(y, facets)
    part = {name: max(value, 0) for name, value in found.component.items()}

    def se(templates, cases, repeats):
        size = (templates, cases, templates * cases, templates * cases * repeats)
        return math.sqrt(sum(value / n for value, n in zip(part.values(), size, strict=True)))

    assert found.se == pytest.approx(se(6, 8, 3))
    assert found.doubled["template"] == pytest.approx(1 - se(12, 8, 3) / found.se)
    assert found.doubled["case"] == pytest.approx(1 - se(6, 16, 3) / found.se)
    assert found.doubled["repeat"] == pytest.approx(1 - se(6, 8, 6) / found.se)


def test_twice_the_templates_bring_twice_the_cases_nested_in_them():
    template = np.repeat(np.arange(6), 12)
    found = components(outcomes(72), {"template": template, "case": np.repeat(np.arange(24), 3)})
    assert found.doubled["template"] == pytest.approx(1 - math.sqrt(0.5))


def test_independent_rows_in_a_facet_of_no_effect_have_the_naive_error():
    y = np.tile([0, 1, 1, 0], 25)
    found = components(y, {"template": np.repeat(np.arange(25), 4)})
    assert found.component["template"] < 0 and found.note
    assert found.share == {"template": 0.0, "repeat": 1.0}
    assert found.se >= found.naive > 0


def test_few_levels_are_marked_and_unrepeated_cells_have_no_gain_of_repeats():
    found = components(outcomes(40), crossed(4, 10, 1))
    assert found.few == {"template": True, "case": False, "repeat": False}
    assert found.levels == {"template": 4, "case": 10, "repeat": 40}
    assert math.isnan(found.doubled["repeat"]) and not math.isnan(found.doubled["case"])


@pytest.mark.parametrize(
    ("facets", "named"),
    [
        ({"template": [0, 0, 1, 1, 2, 2], "case": [5, 5, 3, 3, 4, 4]}, ["template", "case"]),
        ({"template": [0, 0, 1, 1, 2, 2], "row": range(6)}, ["row", "repeat"]),
        ({"template": [0, 0, 1, 1, 2, 2], "model": ["x"] * 6}, ["model", "mean"]),
    ],
    ids=["the same groups", "a level for every row", "one level"],
)
def test_confounded_facets_are_refused_by_name(facets, named):
    with pytest.raises(ValueError, match="confounded") as caught:
        components([0, 1, 0, 0, 1, 1], {name: list(labels) for name, labels in facets.items()})
    words = str(caught.value).partition(" are ")[0]
    assert all(name in words for name in named)
    assert named == ["template", "case"] or "template" not in words


def test_a_level_for_every_row_is_fine_without_repeats():
    facets = {"template": [0, 0, 1, 1, 2, 2], "row": list(range(6))}
    assert set(components([0, 1, 0, 0, 1, 1], facets, repeat=False).component) == set(facets)


def test_where_nothing_varies_there_is_nothing_to_share():
    found = components([1] * 144, crossed())
    assert set(found.component.values()) == {0.0} and found.se == 0
    assert all(math.isnan(value) for value in found.share.values())


def test_no_row_is_not_computable():
    found = components([], {"template": []})
    assert math.isnan(found.se) and math.isnan(found.component["template"]) and found.note


@pytest.mark.parametrize("facets", [{}, {"repeat": [0, 1]}, {"mean": [0, 1]}])
def test_facets_need_names_of_their_own(facets):
    with pytest.raises(ValueError, match="facets"):
        components([0, 1], facets)


def test_labels_must_fit_the_outcomes():
    with pytest.raises(ValueError, match="template"):
        components([0, 1, 1], {"template": [0, 1]})
