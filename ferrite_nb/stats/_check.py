"""Checks of arguments shared by all statistics: what came, and what is allowed, in one sentence."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

LARGEST_COUNT = 2**53  # up to here every whole number is exact as a float
LARGEST_NUMBER = 1e150  # its square is still a float
LARGEST_Z = 1e6
_NO_NUMBER = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)


def count(value: Any, name: str) -> int:
    """One count as a Python int; text and None raise TypeError, any other non-count ValueError."""
    array = counts(value, name)
    if array.ndim:
        raise TypeError(f"{name} must be one whole number, got an array of shape {array.shape}")
    return int(array)


def counts(value: Any, name: str) -> NDArray[np.int64]:
    """Counts of any shape as int64; whole floats are taken as their integers."""
    # a list is looked at item by item: numpy would turn [True, 2] into [1, 2] and [1, "2"] into
    # text
    array = (
        np.asarray(value, dtype=object) if isinstance(value, list | tuple) else np.asarray(value)
    )
    if array.dtype.kind == "O" and set(map(type, array.flat)) == {int}:
        array = _integers(array, name)
    if array.size and array.dtype.kind not in "iuf":
        if array.dtype.kind == "b":
            raise ValueError(f"{name} must be whole numbers, got booleans; sum them first")
        array = _objects(array, name)
    if array.dtype.kind == "f":
        bad = array[~np.isfinite(array) | (array != np.floor(array))]
        if bad.size:
            raise ValueError(f"{name} must be whole numbers >= 0, got {bad.flat[0]}")
    if array.size and array.min() < 0:
        raise ValueError(f"{name} must be whole numbers >= 0, got {array.min()}")
    if array.size and array.max() > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most 2**53, got {array.max()}")
    return array.astype(np.int64)


def _shown(item: Any) -> str:
    """An item as the caller wrote it: '5' and not np.str_('5')."""
    return repr(item.item() if isinstance(item, np.generic) else item)


def _integers(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    """An array of Python integers as int64."""
    try:
        return array.astype(np.int64)
    except OverflowError:
        raise ValueError(
            f"{name} must be whole numbers from 0 to 2**53, got one beyond 64 bits"
        ) from None


def _objects(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Counts out of Python objects (mixed lists, decimals of an engine); never out of text or
    dates.
    """
    out = np.empty(array.shape, dtype=object)
    for place, item in np.ndenumerate(array):
        if item is None or isinstance(item, _NO_NUMBER):
            raise TypeError(f"{name} must be whole numbers, got {_shown(item)}")
        if isinstance(item, bool | np.bool_):
            raise ValueError(f"{name} must be whole numbers, got the boolean {item}")
        try:
            out[place] = int(item)
        except TypeError:
            raise TypeError(f"{name} must be whole numbers, got {_shown(item)}") from None
        except (ValueError, OverflowError):
            raise ValueError(f"{name} must be whole numbers >= 0, got {item!r}") from None
        if out[place] != item:
            raise ValueError(f"{name} must be whole numbers >= 0, got {item!r}")
    return _integers(out, name)


def counts_of(
    k: Any, n: Any, names: tuple[str, str] = ("k", "n")
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Broadcast k and n to one shape; k > n raises with the first pair that is wrong."""
    k_name, n_name = names
    kk, nn = counts(k, k_name), counts(n, n_name)
    try:
        kk, nn = np.broadcast_arrays(kk, nn)
    except ValueError:
        raise ValueError(
            f"{k_name} and {n_name} must fit together, got shapes {kk.shape} and {nn.shape}"
        ) from None
    wrong = kk > nn
    if wrong.any():
        raise ValueError(
            f"{k_name} must be at most {n_name}, got {k_name} = {kk[wrong].flat[0]} of "
            f"{n_name} = {nn[wrong].flat[0]}"
        )
    return kk, nn


def series(k: Any, n: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """k and n as two one-dimensional arrays of the same length, one entry per group."""
    kk, nn = counts(k, "k"), counts(n, "n")
    if kk.ndim != 1 or nn.ndim != 1 or kk.size != nn.size:
        raise ValueError(
            f"k and n must be lists of one length, one entry per group, "
            f"got shapes {kk.shape} and {nn.shape}"
        )
    return counts_of(kk, nn)


def items(value: Any, name: str) -> list[Any]:
    """The entries of a list, range or array; one number alone raises TypeError."""
    try:
        return list(value)
    except TypeError:
        raise TypeError(f"{name} must be a list, got {value!r}") from None


def floats(value: Any, name: str) -> NDArray[np.float64]:
    """A list of numbers as floats, NaN and infinity among them; text and None raise TypeError."""
    array = np.asarray(value)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, got an array of shape {array.shape}")
    if array.size and array.dtype.kind not in "biuf":
        for item in array:
            if item is None or isinstance(item, _NO_NUMBER):
                raise TypeError(f"{name} must be numbers, got {_shown(item)}")
    return array.astype(np.float64, copy=False)


def numbers(value: Any, name: str) -> NDArray[np.float64]:
    """A list of finite numbers as floats; NaN and infinity raise ValueError."""
    array = floats(value, name)
    bad = array[~(np.abs(array) <= LARGEST_NUMBER)]
    if bad.size:
        raise ValueError(
            f"{name} must be finite numbers up to 1e150, got {bad[0]}; leave missing values out"
        )
    return array


def fraction(value: Any, name: str, *, open_ends: bool = False) -> float:
    """One number in [0, 1] (or inside (0, 1)); a percentage raises and says how to write it."""
    if isinstance(value, str | bytes) or value is None:
        raise TypeError(f"{name} must be a number, got {value!r}")
    if isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be a number, got the boolean {value}")
    try:
        number = float(value)
    except TypeError:
        raise TypeError(f"{name} must be one number, got {value!r}") from None
    inside = 0 < number < 1 if open_ends else 0 <= number <= 1
    if math.isnan(number) or not inside:
        hint = f"; write {number / 100:g} for {number:g} %" if 1 < number < 100 else ""
        raise ValueError(
            f"{name} must lie in {'(0, 1)' if open_ends else '[0, 1]'}, got {value}{hint}"
        )
    return number


def level_of(level: Any) -> float:
    """A confidence level inside (0, 1)."""
    return fraction(level, "level", open_ends=True)


def z_of(level: Any, z: Any = None) -> float:
    """The two-sided normal quantile of `level`, or `z` itself; both at once raise."""
    level = level_of(level)
    if z is None:
        # from the lower tail: 1 - (1 - level)/2 would lose digits when the level is close to 1
        return -float(ndtri((1 - level) / 2))
    if level != 0.95:
        raise ValueError(f"give level or z, not both, got level = {level} and z = {z}")
    if isinstance(z, str | bytes):
        raise TypeError(f"z must be a number above 0, got {z!r}")
    if isinstance(z, bool | np.bool_) or not 0 < float(z) <= LARGEST_Z:
        raise ValueError(f"z must be a number above 0 and at most {LARGEST_Z:g}, got {z}")
    return float(z)


def choice(
    value: Any, name: str, allowed: tuple[str, ...], why: dict[str, str] | None = None
) -> str:
    """One of the allowed words; anything else raises and lists them (and says why a known one is
    refused).
    """
    if isinstance(value, str) and value in allowed:
        return value
    reason = (why or {}).get(str(value), "")
    raise ValueError(
        f"{name} must be one of {', '.join(allowed)}, got {value!r}{reason and '; ' + reason}"
    )


def generator(seed: Any) -> np.random.Generator:
    """A generator for one call; the seed is a whole number, so that the same call gives the same
    bytes.
    """
    if isinstance(seed, bool | np.bool_):
        raise ValueError(f"seed must be a whole number >= 0, got the boolean {seed}")
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(f"seed must be a whole number >= 0, got {seed!r}") from None
    if number < 0:
        raise ValueError(f"seed must be a whole number >= 0, got {number}")
    return np.random.default_rng(number)


def draws_of(resamples: Any) -> int:
    """The number of resamples: a whole number of at least 1."""
    number = count(resamples, "resamples")
    if number < 1:
        raise ValueError(f"resamples must be at least 1, got {number}")
    return number
