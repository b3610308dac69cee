"""Counting 10^5 to 10^8 rows beside DuckDB's own queries, the growth of time and memory, and the
published rows.

The rows are invented: 20 tiers, 3 scopes, 4 modes, one case in five benign. DuckDB writes them in
    parts of ten million
to a temporary folder, which is removed afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .measure import Program, Row, Timing, clocks, limit_row, ratio_row, run, side_by_side

PART = 10_000_000
MODES = ("Off", "SanitizerOnly", "LoopOnly", "On")
WRITE = """
copy (select
    'case-' || lpad((i // 4)::varchar, 9, '0') as case_id,
    ['Off', 'SanitizerOnly', 'LoopOnly', 'On'][i % 4 + 1] as mode,
    case when (i // 4) % 5 = 0 then 'benign' else 'attack' end as kind,
    'tier' || lpad(((i // 4) % 20)::varchar, 2, '0') as tier,
    ['exact', 'domain_suffix', 'task_open'][(i // 80) % 3 + 1] as scope,
    hash(i) % 100 < [60, 40, 20, 10][i % 4 + 1] as attack_success,
    hash(i + 7) % 100 < [0, 2, 5, 7][i % 4 + 1] as gated
from range({start}, {stop}) rows(i)) to '{path}' (format parquet)
"""
IMPORTS = """
import duckdb, ferrite_nb as fnb
from ferrite_nb.count.cube import cube
path = {path!r}
con = duckdb.connect()
small = fnb.read(fnb.data("ferrite_run_a.csv"))
fnb.rates(small)  # imports are not counted
"""
GROUP = "select mode, tier, kind, attack_success, count(*) from read_parquet('{path}') group by all"
STRATA = (
    "select mode, tier, scope, kind, attack_success, gated, count(*) from read_parquet('{path}')"
    " group by all"
)
PAIRS = """
select "Off", "SanitizerOnly", "LoopOnly", "On", count(*) from (
    select case_id, {columns} from read_parquet('{path}') where kind = 'attack' group by case_id
) group by all
"""


def pairs_query(path: str) -> str:
    """The grouping behind `compare`, as one would write it: per case and mode, then per distinct
    vector.
    """
    columns = ", ".join(
        f"sum(case when mode = '{mode}' then attack_success::int end) as \"{mode}\""
        for mode in MODES
    )
    return PAIRS.format(columns=columns, path=path)


def write(folder: Path, rows: int) -> str:
    """One file, or above one part a folder of parts, as DuckDB and `fnb.read` take it."""
    import duckdb

    con = duckdb.connect()
    if rows <= PART:
        path = folder / f"rows_{rows}.parquet"
        con.execute(WRITE.format(start=0, stop=rows, path=path))
        return str(path)
    folder = folder / f"rows_{rows}"
    for start in range(0, rows, PART):
        part = folder / f"run={start // PART:02}"
        part.mkdir(parents=True)
        con.execute(
            WRITE.format(start=start, stop=min(start + PART, rows), path=part / "rows.parquet")
        )
    return str(folder)


def sql(path: str, query: str) -> Program:
    """DuckDB alone."""
    where = path if path.endswith(".parquet") else path + "/*/*.parquet"
    return Program(
        "DuckDB",
        f"import duckdb\ncon = duckdb.connect()\nquery = {query.replace('{path}', where)!r}",
        "return [len(con.sql(query).fetchall())]",
        times=3,
    )


def ours(path: str, work: str, setup: str = "runs = fnb.read(path)") -> Program:
    """Ours, with the file read before or within the timed part."""
    return Program("ferrite_nb", IMPORTS.format(path=path) + setup, work, times=3)


def published(rounds: int) -> list[Row]:
    """The 3,488 rows in memory."""
    setup = (
        IMPORTS.format(path="") + 'runs = fnb.read([fnb.data("ferrite_run_a.csv"),'
        ' fnb.data("ferrite_run_b.csv")]).pool_versions()'
    )
    found = side_by_side(
        [
            Program("rates", setup, "fnb.rates(runs)\nreturn [len(runs.frame)]"),
            Program("compare", setup, "return [len(fnb.compare(runs))]"),
        ],
        rounds,
    )
    rows = int(found[0].value[0]) if found[0].value else 0
    return [
        limit_row(f"`rates`, all metrics, {rows:,} rows", found[0], 0.100),
        limit_row(f"`compare`, six pairs, {rows:,} rows", found[1], 0.150),
    ]


def large(path: str, rows: int, rounds: int) -> list[Row]:
    """Rates, comparison and cube beside the queries they stand for."""
    many = f"{rows:,} rows of Parquet"
    group, rates, whole = side_by_side(
        [
            sql(path, GROUP),
            ours(path, 'return [len(fnb.rates(runs, by="tier"))]'),
            ours(path, 'return [len(fnb.rates(fnb.read(path), by="tier"))]', ""),
        ],
        rounds,
    )
    pairs, compare = side_by_side(
        [sql(path, pairs_query("{path}")), ours(path, "return [len(fnb.compare(runs))]")], rounds
    )
    strata, cube = side_by_side(
        [
            sql(path, STRATA),
            ours(
                path,
                'return [len(cube(runs, ["mode", "tier", "scope"], ["attack_success", "gated"]))]',
            ),
        ],
        rounds,
    )
    said = "group-by of mode, tier, kind, attack_success"
    limits = {"spare": 0.05, "best": True, "peak": 300}
    return [
        # type: ignore[arg-type]
        ratio_row(f"`rates` by tier and mode, {many}", rates, group, said, 1.5, **limits),
        # type: ignore[arg-type]
        ratio_row(f"`read` and `rates`, {many}", whole, group, said, 1.5, **limits),
        ratio_row(
            f"`compare`, {many}",
            compare,
            pairs,
            "the same grouping in SQL",
            2,
            best=True,
            peak=1500,
        ),
        ratio_row(
            f"cube of all strata, {many}",
            cube,
            strata,
            "one group-by of all strata",
            2,
            best=True,
            peak=300,
        ),
    ]


def growth(paths: Sequence[tuple[int, str]], rounds: int) -> tuple[list[list[str]], list[Row]]:
    """Time and memory at several sizes, and the exponent of the straight line through their
    logarithms.
    """
    works = {
        "`read` and `rates`": "fnb.rates(fnb.read(path), by='tier')\nreturn []",
        "`read` and `compare`": "fnb.compare(fnb.read(path))\nreturn []",
    }
    table, rows = [], []
    for what, work in works.items():
        timings = side_by_side([ours(path, work, "") for _, path in paths], rounds)
        table += [
            [what, f"{size:,}", clocks(timing), f"{timing.peak:,.0f}"]
            for (size, _), timing in zip(paths, timings, strict=True)
        ]
        rows.append(exponent(what, [size for size, _ in paths], timings))
    return table, rows


def exponent(what: str, sizes: Sequence[int], timings: Sequence[Timing]) -> Row:
    """The fitted exponents of time and memory."""
    if any(timing.gap for timing in timings):
        return Row(f"growth of {what}", "", "", "", "exponent ≤ 1.05", "not measured")
    log = [math.log(size) for size in sizes]
    cpu, wall, peak = (
        float(np.polyfit(log, [math.log(value) for value in values], 1)[0])
        for values in (
            [min(one.cpu) for one in timings],
            [min(one.wall) for one in timings],
            [one.peak for one in timings],
        )
    )
    held = "yes" if max(cpu, wall, peak) <= 1.05 else "**no**"
    slopes = np.diff(np.log([min(one.cpu) for one in timings])) / np.diff(log)
    said = (
        f"exponent of time {wall:.2f} (CPU {cpu:.2f}; its last step {slopes[-1]:.2f}), of memory"
        f" {peak:.2f}"
    )
    return Row(
        f"growth of {what}, {sizes[0]:,} to {sizes[-1]:,} rows",
        "",
        "",
        said,
        "exponent ≤ 1.05",
        held,
    )


def huge(path: str, rows: int) -> Row:
    """A folder of parts, once."""
    timing = run(
        Program(
            "ferrite_nb",
            IMPORTS.format(path=path),
            'fnb.rates(fnb.read(path), by="tier")\nreturn []',
            warm=False,
            times=1,
        )
    )
    result = f"{timing.peak:,.0f} MB"
    held = "not measured" if timing.gap else "yes" if timing.peak < 1000 else "**no**"
    what = f"`read` and `rates`, {rows:,} rows in a partitioned folder"
    return Row(what, clocks(timing), "", result, "< 1,000 MB", held)
