"""The order in which modes and strata are shown, and which mode is without a defence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

How = Literal["declared", "known", "first"]

MODES = ("off", "sanitizeronly", "looponly", "on", "guard", "full", "dryrun")
SCOPES = ("exact", "domain_suffix", "task_open")
# Names of a mode without a defence, in lower case and without `_`, `-` and spaces.
NO_DEFENCE = {"off", "none", "nodefense", "nodefence", "undefended", "baseline", "vanilla"}
NO_VALUE = "(none)"  # how a stratum without a value is shown


def mode_key(mode: str) -> str:
    """The mode as the documented order knows it: lower case, without `_`."""
    return mode.strip().lower().replace("_", "")


def natural(text: str) -> tuple[tuple[str, int, str], ...]:
    """A key that sorts every group of digits as a whole number and all else as text.

    A label is never read as a decimal, and a number of any length is compared exactly.

    >>> sorted(["Tier10", "Tier2", "2.10", "2.9"], key=natural)
    ['2.9', '2.10', 'Tier2', 'Tier10']
    """
    parts = re.split("([0-9]+)", text)
    # The digits without zeros in front, the shorter first: `int` refuses more than 4,300 of them.
    digits = [part.lstrip("0") for part in [*parts[1::2], ""]]
    keys = [(word, len(number), number) for word, number in zip(parts[::2], digits, strict=True)]
    return (*keys, (text, 0, ""))


def baseline_among(modes: Sequence[str], declared: str | None = None) -> tuple[str, How]:
    """The mode without a defence among modes in their order, and how it is known.

    "declared": the caller named it (in any case); "known": its name is the only one that is a word
    for no defence; "first": the first of the modes, for want of both (no mode at all gives "").

    >>> baseline_among(["guard", "No defence"]), baseline_among(["guard", "wall"])
    (('No defence', 'known'), ('guard', 'first'))
    """
    named = [mode for mode in modes if declared and mode_key(mode) == mode_key(declared)]
    known = [mode for mode in modes if re.sub(r"[\s_-]", "", mode.lower()) in NO_DEFENCE]
    if declared in modes or named:
        return (str(declared) if declared in modes else named[0]), "declared"
    return (known[0], "known") if len(known) == 1 else (next(iter(modes), ""), "first")


def ordered_modes(
    modes: Iterable[str], given: Iterable[str] = (), baseline: str | None = None
) -> list[str]:
    """Modes in the order in which everything shows and subtracts them: the baseline first.

    The others follow as they were given (in a call, a dict or named files); without such an order
    in the documented one, and last in natural order. The order of rows never matters.

    >>> ordered_modes(["On", "guard10", "guard2", "LoopOnly", "Off"])
    ['Off', 'LoopOnly', 'On', 'guard2', 'guard10']
    >>> ordered_modes(["On", "none"], given=["On", "none"])
    ['none', 'On']
    """
    named = {mode: place for place, mode in enumerate(given)}
    documented = {key: place for place, key in enumerate(MODES)}
    found = sorted(
        set(modes),
        key=lambda mode: (
            named.get(mode, len(named)),
            documented.get(mode_key(mode), len(MODES)),
            natural(mode),
        ),
    )
    first, _ = baseline_among(found, baseline)
    return sorted(found, key=lambda mode: mode != first)


def ordered_strata(column: str, values: Iterable[str]) -> list[str]:
    """Values of a stratum in natural order, those of `scope` from exact to task_open; the one for
    no value is last.

    >>> ordered_strata("tier", ["Tier10", NO_VALUE, "Tier9"])
    ['Tier9', 'Tier10', '(none)']
    """
    known = [*(SCOPES if column == "scope" else ())]
    places = {value: place for place, value in enumerate(known)} | {NO_VALUE: len(known) + 1}
    return sorted(set(values), key=lambda value: (places.get(value, len(known)), natural(value)))
