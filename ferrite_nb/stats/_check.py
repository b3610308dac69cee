"""Checks of arguments shared by all statistics: what came, and what is allowed, in one sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtri


def count(value: Any, name: str) -> int:
    """One count as a Python int; text and None raise TypeError, everything else that is no count ValueError."""
    array = counts(value, name)
    if array.ndim:
        raise TypeError(f"{name} must be one whole number, got an array of shape {array.shape}")
    return int(array)


def counts(value: Any, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Counts of any shape as int64; whole floats are taken as their integers."""
    array = np.asarray(value)
    if array.size == 0 and array.dtype.kind == "f":
        return array.astype(np.int64)
    if array.dtype.kind in "OUSMmc":
        try:
            whole = _objects(array, name)
        except OverflowError:
            raise ValueError(f"{name} must be below 2**63") from None
        return whole
    if array.dtype.kind == "b":
        raise ValueError(f"{name} must be whole numbers, got booleans; sum them first")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be below 2**63, got {array.max()}")
    if array.dtype.kind == "f":
        bad = array[~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) >= 2.0**63)]
        if bad.size:
            raise ValueError(f"{name} must be whole numbers >= 0, got {bad.flat[0]}")
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        raise ValueError(f"{name} must be whole numbers >= 0, got {array.min()}")
    return array


def _objects(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Counts out of an array of Python objects (big integers, decimals of an engine); never out of text."""
    out = np.empty(array.shape, dtype=np.int64)
    for place, item in np.ndenumerate(array):
        if item is None or isinstance(item, str | bytes):
            raise TypeError(f"{name} must be whole numbers, got {item!r}")
        if isinstance(item, bool | np.bool_):
            raise ValueError(f"{name} must be whole numbers, got the boolean {item}")
        try:
            number = int(item)
            exact = number == item
        except (TypeError, ValueError, OverflowError):
            raise (TypeError if not isinstance(item, float) else ValueError)(
                f"{name} must be whole numbers >= 0, got {item!r}"
            ) from None
        if not exact or number < 0:
            raise ValueError(f"{name} must be whole numbers >= 0, got {item!r}")
        out[place] = number
    return out


def counts_of(k: Any, n: Any) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Broadcast k and n to one shape; k > n raises with the first pair that is wrong."""
    kk, nn = np.broadcast_arrays(counts(k, "k"), counts(n, "n"))
    wrong = kk > nn
    if wrong.any():
        raise ValueError(f"k must be at most n, got k = {kk[wrong].flat[0]} of n = {nn[wrong].flat[0]}")
    return kk, nn


def fraction(value: Any, name: str, *, open_ends: bool = False) -> float:
    """One number in [0, 1] (or inside (0, 1)); a percentage raises and says how to write it."""
    if isinstance(value, str | bytes) or value is None:
        raise TypeError(f"{name} must be a number, got {value!r}")
    if isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be a number, got the boolean {value}")
    number = float(value)
    inside = 0 < number < 1 if open_ends else 0 <= number <= 1
    if math.isnan(number) or not inside:
        hint = f"; write {number / 100:g} for {number:g} %" if 1 < number < 100 else ""
        raise ValueError(f"{name} must lie in {'(0, 1)' if open_ends else '[0, 1]'}, got {value}{hint}")
    return number


def level_of(level: Any) -> float:
    """A confidence level inside (0, 1)."""
    return fraction(level, "level", open_ends=True)


def z_of(level: Any, z: Any = None) -> float:
    """The two-sided normal quantile of `level`, or `z` itself; both at once raise."""
    level = level_of(level)
    if z is None:
        return float(ndtri(0.5 + level / 2))
    if level != 0.95:
        raise ValueError(f"give level or z, not both, got level = {level} and z = {z}")
    if isinstance(z, str | bytes | bool):
        raise TypeError(f"z must be a number above 0, got {z!r}")
    if not math.isfinite(float(z)) or float(z) <= 0:
        raise ValueError(f"z must be a number above 0, got {z}")
    return float(z)


def choice(value: Any, name: str, allowed: tuple[str, ...], why: dict[str, str] | None = None) -> str:
    """One of the allowed words; anything else raises and lists them (and says why a known one is refused)."""
    if value in allowed:
        return str(value)
    reason = (why or {}).get(str(value), "")
    raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}{reason and '; ' + reason}")
