"""The time of `import ferrite_nb` beside `import pandas`, each in a fresh process, in turn."""

from __future__ import annotations

from .measure import Program, Row, ratio_row, side_by_side


def imports(rounds: int) -> list[Row]:
    """The ratio of the medians; both are imported before once, so that compiled files exist."""
    once = {"warm": False, "times": 1}
    programs = [
        Program(name, "", f"import {name}\nreturn []", **once)  # type: ignore[arg-type]
        for name in ("ferrite_nb", "pandas")
    ]
    side_by_side(programs, 1)
    ours, theirs = side_by_side(programs, rounds)
    return [ratio_row("`import ferrite_nb`", ours, theirs, "`import pandas`", 1.2)]
