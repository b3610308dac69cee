"""How often `limits` calls clean simulated data severe: 200 data sets, at most 5 % may have one.

python tests/benchmarks/false_alarms.py [SETS]
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import ferrite_nb as fnb

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analysis"))
from clean import clean


def main(sets: int = 200) -> int:
    """Print the share of data sets with a severe limit, and which; exit 1 above 5 %."""
    start, alarms, which = time.perf_counter(), 0, Counter[str]()
    for seed in range(sets):
        table = fnb.limits(clean(seed))
        severe = table[table["severity"] == "severe"]["limit"]
        alarms += len(severe) > 0
        which.update(severe)
    print(f"severe limits on clean data: {fnb.estimate(alarms, sets)}; {dict(which)}")
    print(f"{(time.perf_counter() - start) / sets:.2f} s per data set of 630 rows")
    return int(alarms > 0.05 * sets)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
