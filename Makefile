# Everything a newcomer needs: `make demo` and `make test`. Both make their own environment in .venv first.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-quick test-nojit lint types layers bench docs clean

help:  ## Say what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@echo "making an environment in $(VENV) with $(PYTHON)"
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pwlr needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "installing pwlr (a minute or two the first time)"
	$(PIP) install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo "installing pwlr and what its tests need (a few minutes the first time)"
	$(PIP) install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --editable ".[docs]"
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## Classify 188 real molecules, built in, and write a report (under a minute).
	$(BIN)/pwlr classify MUTAG

test: $(VENV)/.installed-dev  ## Run all tests (real data sets too, if PWLR_DATA_DIR names their folder).
	$(BIN)/python -m pytest

test-quick: $(VENV)/.installed-dev  ## Run the tests of the core rooms, in seconds.
	$(BIN)/python -m pytest -q -m "not slow and not data" tests/test_paper_example.py tests/test_graphs.py \
	  tests/test_tu.py tests/test_vectors.py tests/test_summary.py tests/test_page.py tests/test_plots.py

test-nojit: $(VENV)/.installed-dev  ## Run the kernels' tests as plain Python, where a debugger and coverage can see them.
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m "not slow and not data" tests/test_numba_cpu.py tests/test_paper_example.py

lint: $(VENV)/.installed-dev types layers  ## Check style, spelling, types and layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src tests docs scripts benchmarks README.md CHANGELOG.md CONTRIBUTING.md

types: $(VENV)/.installed-dev
	$(BIN)/mypy

layers: $(VENV)/.installed-dev
	$(BIN)/lint-imports

bench: $(VENV)/.installed-dev  ## Measure speed and memory, as ratios within one run; results as JSON in benchmarks/results.
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/grid.py
	$(BIN)/python benchmarks/read_dd.py
	$(BIN)/python benchmarks/forest.py

docs: $(VENV)/.installed-docs  ## Build the documentation into docs/_build/html.
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:  ## Remove the environment and everything that was built.
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
