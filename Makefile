# Each command builds .venv from constraints.txt on first use. `make` alone lists them.
PYTHON  ?= python3
RESULTS ?=
OPTIONS ?=
PYTEST  ?= -n 2 --dist loadscope --no-loadscope-reorder
BIN     := .venv/bin
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check
MINIMUM := import sys; sys.exit(sys.version_info < (3, 11) and "ferrite_nb needs Python 3.11 or newer; say which one with: make lab PYTHON=python3.11")

.DEFAULT_GOAL := help
.PHONY: help lab test lint fast report book figures class-page bench floors constraints coverage wheel clean
.DELETE_ON_ERROR:

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

lab: .venv/.lab  ## open JupyterLab at the start notebook (RESULTS=path to use your own file)
	@$(BIN)/ferrite-nb lab $(if $(RESULTS),"$(RESULTS)")

test: lint  ## check style, types, walls and notebooks, then run all tests
	@$(BIN)/python -m pytest -q $(PYTEST)

lint: .venv/.test  ## check style, types, import walls and that no notebook stores outputs
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache > .venv/walls.txt || { cat .venv/walls.txt; exit 1; }
	@$(BIN)/nbstripout --verify --keep-id --extra-keys metadata.language_info.version notebooks/*.ipynb
	@echo "style, types, import walls and notebooks: fine"

fast: .venv/.test  ## run the tests without notebooks, browser and Spark
	@$(BIN)/python -m pytest -q $(PYTEST) -m "not browser and not spark" --ignore tests/notebooks

report: .venv/.lab  ## write a report into report/ (RESULTS=path OPTIONS="--column case_id=id"; alone: the bundled run B)
	@$(BIN)/ferrite-nb report $(if $(RESULTS),"$(RESULTS)",data/ferrite_run_b.csv --cluster template) $(OPTIONS) -o report

book: .venv/.docs  ## build the documentation site into site/, notebooks executed, no network
	@echo "running every notebook and writing the pages (one to two minutes)"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "open site/index.html"

figures: .venv/.lab  ## write all nine figures from the bundled data (PDF, SVG, data, alt text) into figures/
	@$(BIN)/python scripts/make_figures.py --out figures

class-page: .venv/.lab  ## write the class page, one HTML file that needs no installation
	@$(BIN)/python -m ferrite_nb.teach.class_page -o class_page.html $(if $(RESULTS),"$(RESULTS)",data/ferrite_run_b.csv \
	  --cluster template --data "run B, 909 generated cases, reconstructed from the published rule and labels")

bench: .venv/.bench  ## measure this project side by side with its peers (10 minutes); writes docs/benchmarks.md
	@$(BIN)/python -m tests.benchmarks

floors: pyproject.toml  ## run the tests on the oldest versions that pyproject.toml allows
	@test -x .floors/bin/python || $(PYTHON) -m venv .floors
	@.floors/bin/python -m pip install --quiet uv
	@VIRTUAL_ENV=.floors .floors/bin/uv pip install --quiet --resolution lowest-direct -e ".[test]"
	@.floors/bin/python -m pytest -q $(PYTEST)

constraints: .venv/.test  ## renew constraints.txt after a change of the dependencies
	@rm -f uv.lock
	@$(BIN)/uv export --quiet --no-hashes --no-emit-project --no-header --no-annotate \
	  --extra test --extra spark --extra inspect --extra docs --output-file constraints.txt > /dev/null
	@! grep -n '://' constraints.txt

coverage: .venv/.test  ## run the tests and print branch coverage
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m pytest -q $(PYTEST) --cov --cov-report=term

wheel: .venv/.test  ## build the wheel and the source archive into dist/
	@$(BIN)/uv build --quiet

clean:  ## remove what the commands above made, .venv included
	rm -rf .venv .floors .benches build dist site report figures class_page.html .coverage .coverage.*

.venv/bin/python:
	@$(PYTHON) -c '$(MINIMUM)'
	@echo "building .venv (once; a minute or two)"
	@$(PYTHON) -m venv .venv

.venv/.lab: .venv/bin/python pyproject.toml constraints.txt
	@$(PIP) -e ".[inspect]" -c constraints.txt
	@touch $@

.venv/.test .venv/.docs: .venv/.%: .venv/bin/python pyproject.toml constraints.txt
	@$(PIP) -e ".[$*]" -c constraints.txt
	@touch $@

.venv/.bench: .venv/.test
	@$(BIN)/python -m tests.benchmarks --install
	@touch $@
