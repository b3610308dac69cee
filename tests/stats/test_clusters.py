import pytest

from .reference import agrees, load


@pytest.mark.parametrize("case", load("clusters"))
def test_cluster_reference(case):
    agrees(case)
