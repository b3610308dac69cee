"""Gates on clusters: the printed numbers, the rule's two parts, and its mirror."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrite_nb.stats import clustered_gate, clustered_interval, clusters_needed, interval


@pytest.mark.parametrize(("threshold", "needed"), [(0.02, 189), (0.05, 73), (0.1, 35)])
def test_clusters_needed_as_printed(threshold, needed):
    assert clusters_needed(threshold) == needed
    assert clusters_needed(1 - threshold, direction="at least") == needed
    assert interval(0, needed).high <= threshold < interval(0, needed - 1).high


@given(st.floats(0.001, 0.999), st.floats(0.5, 0.999))
def test_so_many_clusters_without_an_event_pass_and_one_less_does_not(threshold, level):
    needed = clusters_needed(threshold, level=level)
    if needed > 500:
        return
    assert clustered_gate([0] * needed, [3] * needed, threshold, level=level).passes
    if needed > 2:
        fewer = clustered_gate([0] * (needed - 1), [3] * (needed - 1), threshold, level=level)
        assert not fewer.passes and fewer.note


counts = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=2, max_size=90)


@given(counts, st.floats(0.02, 0.98))
def test_a_gate_passes_by_both_bounds_and_mirrors(pairs, threshold):
    k, n = [min(pair) for pair in pairs], [max(pair) for pair in pairs]
    result, found = clustered_gate(k, n, threshold), clustered_interval(k, n)
    assert result.bound == found.high and result.clusters == len(n)
    assert result.passes == (found.high <= threshold and interval(0, len(n)).high <= threshold)
    other = clustered_gate(
        [m - e for e, m in zip(k, n, strict=True)], n, 1 - threshold, direction="at least"
    )
    assert other.bound == pytest.approx(1 - result.bound, abs=1e-9)
    assert other.needed == result.needed or abs(threshold - other.best) < 1e-9


def test_more_events_never_pass_where_none_cannot():
    """The first event lowers the upper limit; it must not open the gate."""
    none, one = (clustered_gate([k] + [0] * 59, [10] * 60, 0.05) for k in (0, 1))
    assert one.bound < 0.05 < none.bound and not none.passes and not one.passes


def test_one_cluster_never_passes():
    one = clustered_gate([0], [900], 0.5)
    assert math.isnan(one.bound) and not one.passes and one.clusters == 1
    assert clustered_gate([], [], 0.5).passes is False
