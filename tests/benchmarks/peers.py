"""Bootstraps and the judge's correction beside what people would use instead, from arrays to
bounds.

A peer is measured in the first Python that has it: this one, or an environment in `.benches`, which
`python -m tests.benchmarks --install` makes. Data are built outside the timed part. 95 % percentile
intervals of 10,000 resamples; one process may take 6 GB and 120 s.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from .measure import ROOT, Program, Row, Timing, number, seconds, side_by_side

BENCHES = ROOT / ".benches"
# The import name of a peer and what its environment needs. garak needs three of its hundred
# dependencies here.
ENVIRONMENTS = {
    "evalstats": ["evalstats"],
    "evalsig": ["evalsig"],
    "truescore": ["truescore"],
    "evalaudit": ["evalaudit"],
    "inspect_ai": ["inspect_ai", "pandas", "pyarrow"],
    "garak": ["--no-deps", "garak", "numpy", "pyyaml", "xdg-base-dirs"],
}
DATA = {
    "one": (
        """
        import numpy as np
        n = {n}
        values = np.zeros(n); values[: round(0.15 * n)] = 1.0
        np.random.default_rng(42).shuffle(values)
    """
    ),
    "two": (
        """
        import numpy as np
        n = {n}
        rng = np.random.default_rng(42)
        a = (rng.random(n) < 0.30).astype(float); b = a * (rng.random(n) < 0.60)
    """
    ),
    "judge": (
        """
        import numpy as np
        n = {n}
        rng = np.random.default_rng(1)
        truth = rng.random(n) < 0.2
        flags = np.where(truth, rng.random(n) < 0.9, rng.random(n) > 0.95)
        labelled = rng.choice(n, 200, replace=False)
        human = truth[labelled]
    """
    ),
}
OURS = {
    "one": (
        "import scipy.stats\nfrom ferrite_nb.stats import bootstrap_proportion",
        "r = bootstrap_proportion(int(np.count_nonzero(values)), n)\nreturn r.low, r.high",
    ),
    "two": (
        "from ferrite_nb.stats import bootstrap_pairs",
        (
            "c = np.bincount((a + 2 * b).astype(int), minlength=4).tolist()\n"
            "r = bootstrap_pairs(c[3], c[1], c[2], c[0])\nreturn r.low, r.high"
        ),
    ),
    "judge": (
        "from ferrite_nb.stats import rogan_gladen",
        (
            "j = flags[labelled]\n"
            "tp, fn = int((j & human).sum()), int((~j & human).sum())\n"
            "tn, fp = int((~j & ~human).sum()), int((j & ~human).sum())\n"
            "r = rogan_gladen(int(flags.sum()), n, tp, fn, tn, fp)\nreturn r.low, r.high"
        ),
    ),
}
PEERS: dict[str, dict[str, tuple[str, str]]] = {
    "one": {
        "NumPy loop": (
            "rng = np.random.default_rng(0)",
            (
                "means = [values[rng.integers(n, size=n)].mean() for _ in range(10_000)]\n"
                "return np.quantile(means, [0.025, 0.975])"
            ),
        ),
        "scipy": (
            "from scipy import stats",
            (
                "r = stats.bootstrap((values,), np.mean, n_resamples=10_000, method='percentile',"
                " vectorized=True, batch=max(1, int(2e7 / n)), rng=0).confidence_interval\nreturn"
                " r.low, r.high"
            ),
        ),
        "evalstats": (
            "from evalstats.core.resampling import bootstrap_ci_1d",
            (
                "return bootstrap_ci_1d(values, values.mean(), 'bootstrap', 10_000, 0.05,"
                " np.random.default_rng(0))"
            ),
        ),
        "evalaudit": (
            "from evalaudit import score_ci\nvalues = values.tolist()",
            (
                "r = score_ci(values, method='bootstrap', n_boot=10_000, seed=0)\nreturn r.ci_low,"
                " r.ci_high"
            ),
        ),
        "garak": (
            (
                "from garak import _config\n_config.load_base_config()\n"
                "from garak.analyze.bootstrap_ci import calculate_bootstrap_ci\n"
                "results = values.astype(int).tolist()"
            ),
            (
                "r = calculate_bootstrap_ci(results, 1.0, 1.0, 10_000, 0.95)\nreturn [x / 100 for x"
                " in r]"
            ),
        ),
        "inspect_ai": (
            (
                "from inspect_ai.scorer import SampleScore, Score, ci\n"
                "scores = [SampleScore(score=Score(value=float(one))) for one in values]\n"
                "interval = ci(method='bootstrap', num_samples=10_000)"
            ),
            "r = interval(scores)\nreturn r['lower'], r['upper']",
        ),
    },
    "two": {
        "NumPy loop": (
            "rng = np.random.default_rng(0)\nd = a - b",
            (
                "means = [d[rng.integers(n, size=n)].mean() for _ in range(10_000)]\n"
                "return np.quantile(means, [0.025, 0.975])"
            ),
        ),
        "scipy": (
            "from scipy import stats",
            (
                "r = stats.bootstrap((a, b), lambda x, y, axis: (x - y).mean(axis=axis),"
                " paired=True, n_resamples=10_000, method='percentile', vectorized=True,"
                " batch=max(1, int(2e7 / n)), rng=0).confidence_interval\nreturn r.low, r.high"
            ),
        ),
        "evalstats": (
            "from evalstats.core.paired import pairwise_differences\nscores = np.array([a, b])",
            (
                "r = pairwise_differences(scores, 0, 1, method='bootstrap', n_bootstrap=10_000,"
                " rng=np.random.default_rng(0))\nreturn r.ci_low, r.ci_high"
            ),
        ),
        "evalsig": (
            (
                "import evalsig\nfrom evalsig import ItemResult, RunFrame\nfirst, second ="
                " (RunFrame(name, name, 't', 'm', [ItemResult(str(i), x) for i, x in enumerate(v)])"
                " for name, v in (('a', a.tolist()), ('b', b.tolist())))"
            ),
            (
                "r = evalsig.compare(first, second, method='paired_bootstrap', n_resamples=10_000,"
                " rng=0)\nreturn r.ci"
            ),
        ),
        "truescore": (
            "from truescore import paired_bootstrap",
            "r = paired_bootstrap(a, b, n_bootstrap=10_000, seed=0)\nreturn r.low, r.high",
        ),
        "evalaudit": (
            "from evalaudit import compare_paired\nx, y = a.tolist(), b.tolist()",
            (
                "r = compare_paired(x, y, method='bootstrap', n_boot=10_000, seed=0)\n"
                "return r.ci_low, r.ci_high"
            ),
        ),
    },
    "judge": {
        "truescore": (
            "from truescore import rogan_gladen_estimate",
            "r = rogan_gladen_estimate(flags, human, labelled)\nreturn r.low, r.high",
        ),
        "evalstats": (
            (
                "from evalstats import judge_debias_mean_ci\nscores = flags.astype(float)\n"
                "gold = np.full(n, np.nan); gold[labelled] = human"
            ),
            (
                "r = judge_debias_mean_ci(scores, gold, n_bootstrap=10_000,"
                " rng=np.random.default_rng(0))\nreturn r.ci_low, r.ci_high"
            ),
        ),
        "garak": (
            (
                "from garak import _config\n_config.load_base_config()\n"
                "from garak.analyze.bootstrap_ci import calculate_bootstrap_ci\n"
                "j = flags[labelled]\nse, sp = float(j[human].mean()), float((~j)[~human].mean())\n"
                "results = flags.astype(int).tolist()"
            ),
            (
                "r = calculate_bootstrap_ci(results, se, sp, 10_000, 0.95)\nreturn [x / 100 for x"
                " in r]"
            ),
        ),
    },
}
TITLES = {
    "one": "one proportion",
    "two": "two modes, paired",
    "judge": "judge-corrected",
}


@dataclass(frozen=True)
class Measured:
    """One program on one task and size."""

    task: str
    n: int
    name: str
    version: str
    timing: Timing


@cache
def pythons() -> dict[str, str]:
    """The first Python that has each peer."""
    found = {}
    for module in ENVIRONMENTS:
        for python in (sys.executable, str(BENCHES / module / "bin" / "python")):
            code = (
                f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is"
                " None)"
            )
            try:
                if (
                    subprocess.run(
                        [python, "-c", code], capture_output=True, check=False
                    ).returncode
                    == 0
                ):
                    found[module] = python
                    break
            except OSError:
                continue
    return found


@cache
def version_of(module: str) -> str:
    """The installed version of a distribution, in the Python that has it."""
    code = f"from importlib.metadata import version; print(version({module!r}))"
    done = subprocess.run(
        [pythons().get(module, sys.executable), "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def install() -> None:
    """An environment in `.benches` for every peer that is not there yet; one that fails is missing,
    and no more.
    """
    for module, wanted in ENVIRONMENTS.items():
        home = BENCHES / module
        if module in pythons() or home.exists():
            continue
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        done = subprocess.run(
            [str(home / "bin/python"), "-m", "pip", "install", "--quiet", *wanted], check=False
        )
        print(
            f"{module}: {'ready' if done.returncode == 0 else 'could not be installed'}", flush=True
        )
    pythons.cache_clear()


def measured(sizes: Mapping[str, tuple[int, ...]], rounds: int) -> list[Measured]:
    """Every task at every size, ours and the peers in turn."""
    found = []
    for task, several in sizes.items():
        for n in several:
            data = DATA[task].format(n=n)
            programs = [Program("ferrite_nb", setup(data, OURS[task][0]), OURS[task][1])]
            gaps = []
            for name, (prepare, work) in PEERS[task].items():
                module = "numpy" if name == "NumPy loop" else name
                if module in ENVIRONMENTS and module not in pythons():
                    gaps.append(Measured(task, n, name, "", Timing(gap="missing")))
                    continue
                python = pythons().get(module, sys.executable)
                programs.append(
                    Program(
                        name, setup(data, prepare), work, python, version_of(module), limited=True
                    )
                )
            timings = side_by_side(programs, rounds)
            found += [
                Measured(task, n, one.name, one.version, timing)
                for one, timing in zip(programs, timings, strict=True)
            ]
            found += gaps
    return found


def setup(data: str, prepare: str) -> str:
    """Data, then imports."""
    return textwrap.dedent(data) + prepare


def lines(found: list[Measured]) -> list[list[str]]:
    """The table of peers, each beside ours on the same task."""
    ours = {(one.task, one.n): one.timing for one in found if one.name == "ferrite_nb"}
    table = []
    for one in found:
        mine, timing = ours[(one.task, one.n)], one.timing
        times = statistics.median(timing.cpu) / statistics.median(mine.cpu) if timing.cpu else 0
        table.append(
            [
                f"{TITLES[one.task]}, n = {one.n:,}",
                f"{one.name} {one.version}".strip(),
                timing.gap or seconds(timing.cpu),
                number(times) if times else "",
                "" if timing.gap else f"{timing.added:,.0f}",
                ", ".join(f"{end:.5f}" for end in timing.value[:2]),
            ]
        )
    return table


def goals(found: list[Measured]) -> list[Row]:
    """What is asked of the bootstraps and of the correction."""
    at = {(one.task, one.n, one.name): one.timing for one in found}
    large = max(one.n for one in found)
    rows = []
    ours, loop = at[("one", large, "ferrite_nb")], at[("one", large, "NumPy loop")]
    if loop.cpu:
        times = [
            statistics.median(getattr(loop, by)) / statistics.median(getattr(ours, by))
            for by in ("cpu", "wall")
        ]
        apart = max(abs(x - y) for x, y in zip(ours.value, loop.value, strict=True)) * large
        held = "yes" if min(times) >= 5000 else "by one clock" if max(times) >= 5000 else "**no**"
        rows.append(
            Row(
                f"bootstrap of one proportion, n = {large:,}",
                seconds(ours.cpu),
                f"10,000 resamples in NumPy: {seconds(loop.cpu)}",
                f"{number(times[0])} times faster, bounds {apart / large:.5f} apart",
                "≥ 5,000 times faster",
                held,
            )
        )
    two, judge = at[("two", large, "ferrite_nb")], at[("judge", large, "ferrite_nb")]
    middle = statistics.median(two.cpu)
    held = "yes" if middle < 0.005 and two.added < 50 else "**no**"
    rows.append(
        Row(
            f"paired bootstrap, n = {large:,}",
            seconds(two.cpu),
            "",
            f"{two.added:.0f} MB added",
            "< 5 ms, < 50 MB",
            held,
        )
    )
    middle = statistics.median(judge.cpu)
    rows.append(
        Row(
            f"judge-corrected interval, n = {large:,}",
            seconds(judge.cpu),
            "",
            f"{judge.added:.0f} MB added",
            "< 1 ms",
            "yes" if middle < 0.001 else "**no**",
        )
    )
    return rows
