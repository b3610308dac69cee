import pytest

from .reference import agrees, load


@pytest.mark.parametrize("case", load("intervals"))
def test_interval_reference(case):
    agrees(case)
