import pytest

from .reference import agrees, load


@pytest.mark.parametrize("case", load("trend"))
def test_trend_reference(case):
    agrees(case)
