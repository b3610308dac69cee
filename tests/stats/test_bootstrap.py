import pytest

from .reference import agrees, load


@pytest.mark.parametrize("case", load("bootstrap"))
def test_bootstrap_reference(case):
    agrees(case)
