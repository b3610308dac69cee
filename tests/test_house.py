"""The house: style, walls, constraints, notebooks without outputs, and nothing of one machine in
the tree.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def tool(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a tool of this environment in the project's folder."""
    full = [BIN / command[0], *command[1:]]
    return subprocess.run(full, cwd=cwd, capture_output=True, text=True, check=False)


def tracked() -> list[Path]:
    """The files of the project: those that git knows, or all of an unpacked archive."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        return [
            ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()
        ]
    return [path for path in ROOT.rglob("*") if path.is_file() and ".venv" not in path.parts]


def texts() -> list[tuple[str, str]]:
    """Name and content of every text file of the project."""
    found = []
    for path in tracked():
        try:
            found.append((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def test_ruff_finds_nothing() -> None:
    done = tool("ruff", "check", "--no-cache", ".")
    assert done.returncode == 0, done.stdout


def test_import_walls_hold() -> None:
    done = tool("lint-imports", "--no-cache")
    assert done.returncode == 0, done.stdout


def test_import_walls_can_fall(tmp_path: Path) -> None:
    """Negative control: statistics that import a table are found."""
    package = tmp_path / "ferrite_nb"
    for source in (ROOT / "ferrite_nb").rglob("*.py"):
        copy = package / source.relative_to(ROOT / "ferrite_nb")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
    (package / "stats" / "leak.py").write_text(
        "from ..outcomes import Outcomes\n__all__ = ['Outcomes']\n"
    )
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    done = tool("lint-imports", "--no-cache", cwd=tmp_path)
    assert done.returncode != 0
    assert "Statistics know numbers only BROKEN" in done.stdout


def test_constraints_hold_versions_and_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100
    wrong = [
        line
        for line in lines
        if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!-]+( ; .+)?", line)
    ]
    assert wrong == []
    assert [line for line in lines if "://" in line] == []


def test_constraints_pin_every_direct_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(n for name in extras if name != "bench" for n in extras[name]),
    ]
    names = {re.split(r"[\[<>=~!; ]", need)[0].lower() for need in wanted}
    pinned = {
        line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    assert names - pinned == set()


def test_dependencies_have_floors_and_no_caps() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [
        *project["dependencies"],
        *(n for e in project["optional-dependencies"].values() for n in e),
    ]
    assert [need for need in needs if ">=" not in need or "<" in need or "==" in need] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_stores_no_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    stored = [
        cell.id for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")
    ]
    assert stored == []


def test_nothing_of_one_machine_is_in_the_tree() -> None:
    """Paths of a developer's machine, and pages that only developers have."""
    home = re.compile(r"(?<![\w.])/(?:work|farm|root|home/\w+)/|\.\./shared\b")
    found = [f"{name}: {hit.group()}" for name, text in texts() for hit in home.finditer(text)]
    assert [hit for hit in found if not hit.startswith("tests/test_house.py")] == []


def test_nothing_is_left_for_later() -> None:
    later = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
    found = [name for name, text in texts() if name != "tests/test_house.py" and later.search(text)]
    assert found == []


def test_every_module_is_short_and_says_what_it_is_for() -> None:
    wrong = []
    for path in sorted((ROOT / "ferrite_nb").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not text.startswith('"""') or text.count("\n") > 400:
            wrong.append(path.relative_to(ROOT).as_posix())
    assert wrong == []


def test_wheel_carries_data_and_notebooks(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "ferrite_nb/py.typed" in names
    for folder in ("data", "notebooks"):
        here = {path.name for path in tracked() if path.parent == ROOT / folder}
        assert here
        assert {f"ferrite_nb/_bundled/{folder}/{name}" for name in here} <= names
