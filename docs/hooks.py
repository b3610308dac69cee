"""Pages that are made, not written: the metrics from their declarations, the notebooks from a run
in a fresh kernel.
"""

from __future__ import annotations

import html
import inspect
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbclient
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from traitlets.config import Config

import ferrite_nb as fnb

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = [
    path
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    if not path.stem.endswith("_solutions")
]
MODULES = [name for name in fnb.__all__ if inspect.ismodule(getattr(fnb, name))]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the notebooks into the menu."""
    lessons = [{title(path): f"notebooks/{path.stem}.md"} for path in NOTEBOOKS]
    if config.nav and lessons:
        config.nav.insert(1, {"Notebooks": lessons})
        config.nav.append(
            {
                "Reference": [
                    {"fnb": "api.md"},
                    *({f"fnb.{name}": f"api_{name}.md"} for name in MODULES),
                ]
            }
        )
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the made pages."""
    files.append(File.generated(config, "metrics.md", content=metrics_page()))
    files.append(File.generated(config, "api.md", content=reference_page()))
    for name in MODULES:
        files.append(File.generated(config, f"api_{name}.md", content=module_page(name)))
    with ThreadPoolExecutor(2) as workers:
        pages = list(workers.map(notebook_page, NOTEBOOKS))
    for path, page in zip(NOTEBOOKS, pages, strict=True):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    return files


def on_page_content(content: str, **_: Any) -> str:
    """An empty head of a column is no head: a screen reader would announce one."""
    return re.sub(r"<th([^>]*)>\s*</th>", r"<td\1></td>", content)


def title(path: Path) -> str:
    """The H1 of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    found = re.search(r"^# (.+)$", "\n".join(cell.source for cell in cells), flags=re.MULTILINE)
    return found.group(1).strip() if found else path.stem


def reference_page() -> str:
    """Every function and class of the face, and where the modules are."""
    values = [getattr(fnb, name) for name in fnb.__all__]
    parts = ["# Reference\n\nEverything is reached from `import ferrite_nb as fnb`.\n"]
    parts += [
        f"- [`fnb.{name}`](api_{name}.md): {first_line(getattr(fnb, name))}" for name in MODULES
    ]
    parts += [f"\n::: {place(value)}" for value in values if not inspect.ismodule(value)]
    return "\n".join(parts) + "\n"


def module_page(name: str) -> str:
    """Every public function and class of one module, also those that it takes from its own
    files.
    """
    module = getattr(fnb, name)
    values = [
        value for value in (getattr(module, each) for each in module.__all__) if callable(value)
    ]
    return "\n".join(
        [f"# fnb.{name}\n\n{first_line(module)}\n", *(f"::: {place(value)}\n" for value in values)]
    )


def first_line(value: Any) -> str:
    """What a docstring says first."""
    return (inspect.getdoc(value) or "").split("\n", 1)[0]


def place(value: Any) -> str:
    """Where a function or class is written."""
    return f"{value.__module__}.{value.__qualname__}"


def metrics_page() -> str:
    """The definitions, one section for each side, as `fnb.metrics()` has them."""
    parts = [
        "# Metrics\n\nEach metric is declared once, in `ferrite_nb/metrics.py`. "
        "Security metrics are never shown without their cost.\n"
    ]
    for side, table in fnb.metrics().groupby("side", sort=False):
        parts.append(f"\n## {str(side).capitalize()}\n")
        for row in table.to_dict("records"):
            symbol, name = html.escape(row["metric"]), html.escape(row["name"])
            parts.append(
                f"\n### {symbol}" + (f": {name}" if name.lower() != symbol.lower() else "") + "\n\n"
            )
            parts.append(
                f"{html.escape(row['meaning']).capitalize()}. The {row['better']}, the better.\n\n"
            )
            parts.append(
                "| part | definition |\n|---|---|\n| numerator |"
                f" {html.escape(row['numerator'])} |\n"
            )
            parts.append(f"| denominator | {html.escape(row['denominator'])} |\n")
            parts.append(f"| columns | {html.escape(row['columns'])} |\n")
            parts.append(f"| not computable when | {html.escape(row['not computable'])} |\n")
    return "".join(parts)


def notebook_page(path: Path) -> str:
    """A notebook as a page: its text, its code, and what a run from the top shows."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as sockets:
        nbclient.NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(path.parent)}},
            config=Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}}),
        ).execute()
    return "\n\n".join(part for cell in notebook.cells for part in cell_parts(cell)) + "\n"


def cell_parts(cell: Any) -> list[str]:
    """The Markdown of one cell and of its outputs."""
    if cell.cell_type == "markdown":
        # JupyterLab's anchors keep capitals, this site's do not.
        return [re.sub(r"\]\(#([^)]+)\)", lambda link: f"](#{anchor(link.group(1))})", cell.source)]
    if cell.cell_type != "code" or not cell.source.strip():
        return []
    return [f"```python\n{cell.source}\n```", *(output_part(output) for output in cell.outputs)]


def anchor(text: str) -> str:
    """A heading's anchor as Python-Markdown makes it."""
    return re.sub(r"[^\w\s-]", "", text).strip().lower().replace(" ", "-")


def output_part(output: Any) -> str:
    """One output: the form with words before a bare picture; a control has no life on a page."""
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```"
    data = output.get("data", {})
    if "application/vnd.jupyter.widget-view+json" in data:
        return "*Controls: open this notebook in JupyterLab to use them.*"
    if "text/html" in data:
        # One line: a blank line would end the block of raw HTML.
        inside = re.sub(
            r"\n\s*", "\n", re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
        )
        return (
            '<div class="cell-output" role="group" aria-label="output"'
            f' tabindex="0">\n{inside}\n</div>'
        )
    if "text/markdown" in data:
        return str(data["text/markdown"])
    return f"```text\n{data.get('text/plain', '')}\n```"
