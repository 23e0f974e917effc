# Everything runs in virtual environments inside this folder. Each is rebuilt only when
# pyproject.toml changes; `make clean` removes them all.

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
REPRODUCE_ARGS ?=
ATTACK_ARGS ?=

TEST_VENV   := .venv
LOWEST_VENV := .venv-lowest
DEMO_VENV   := .venv-demo
DOCS_VENV   := .venv-docs
BENCH_VENV  := .venv-bench
COMPILED    := .numba-cache

PIP := -m pip --disable-pip-version-check --quiet --quiet
# The pip of an older Python does not know the groups of pyproject.toml.
GROUPS_PIP := install "pip>=25.1"
# Python translates what is imported, a quarter of what is installed, when it is imported.
FOR_WORK := install --no-compile
# What the tests, the gallery and the benchmarks need: groups of pyproject.toml, then tamiz with extras.
FOR_TESTS := --group test --editable ".[dask,frames,plot]"
FOR_DOCS  := --group docs --editable ".[frames,plot]"
FOR_BENCH := --group bench --editable ".[frames]"
SOURCES := $(shell find src -name '*.py' -o -name 'py.typed')

# Two pytest workers with one BLAS thread each, instead of two times all cores. Each begins with one
# half of the files, so that few functions are compiled by both.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
TWO_WORKERS := -n 2 --dist worksteal
# Hundreds of programs are started: none translates the source again, even where a user's settings
# keep Python from writing what it translated.
export PYTHONDONTWRITEBYTECODE :=

# The whole run ends, whatever hangs: pytest gives up by itself after an hour (pyproject.toml), and where
# the command `timeout` is there it stops what pytest cannot.
RUN_LIMIT := $(shell timeout --foreground 5 true 2>/dev/null && \
	echo "timeout --foreground --kill-after=60 4500")

# The lowest versions have wheels for Python 3.11 and 3.12 only: take PYTHON if it is one of them,
# else whichever of the two is found.
LOWEST_PYTHON ?= $(shell for p in "$(PYTHON)" python3.11 python3.12; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info[:2] not in [(3, 11), (3, 12)])' \
	2>/dev/null && echo "$$p" && break; done)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint compiled translated test-lowest coverage attack bench reproduce docs environments clean check-python check-lowest-python

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(DEMO_VENV)/.stamp  ## install tamiz, select features of real data, write a report
	@$(DEMO_VENV)/bin/tamiz demo --out tamiz-demo.html
	@echo
	@echo "More: $(DEMO_VENV)/bin/tamiz --help, the guide in docs/ (make docs)."

test: $(TEST_VENV)/.stamp  ## linters, types, import layers, tests and doctests
	@$(MAKE) --no-print-directory --jobs=2 lint compiled translated
	@echo "== pytest"
	@$(ONE_THREAD) NUMBA_CACHE_DIR="$(CURDIR)/$(COMPILED)" \
		$(RUN_LIMIT) $(TEST_VENV)/bin/python -m pytest -q $(TWO_WORKERS) $(PYTEST_ARGS)

lint: $(TEST_VENV)/.stamp  ## linters, types, import layers
	@echo "== ruff"
	@$(TEST_VENV)/bin/ruff check --quiet .
	@$(TEST_VENV)/bin/ruff format --quiet --check . || { \
		$(TEST_VENV)/bin/ruff format --check .; exit 1; }
	@echo "== mypy"
	@$(TEST_VENV)/bin/mypy
	@echo "== import layers"
	@$(TEST_VENV)/bin/lint-imports --no-logo

# While linters keep one core busy the other compiles: not both workers the same, later. What fails
# here fails in the tests, which say more.
compiled: $(COMPILED)/.all  ## every function of the package compiled, for tests and documentation

# pytest rewrites the asserts of every test file, which takes longer than importing it: once, not by
# both workers at the same time. What cannot be collected fails in the tests.
translated: $(TEST_VENV)/.stamp
	-@$(TEST_VENV)/bin/python -m pytest -qq --collect-only $(PYTEST_ARGS) >/dev/null 2>&1

# What depends on versions: of our own arithmetic the tests that are about other packages, one case
# each (tests/conftest.py says which), and few examples of hypothesis. No doctests: they show what current
# versions print. No slow tests: `make test` runs them. No browser: it is newer than what its lowest
# driver knows.
test-lowest: $(LOWEST_VENV)/.stamp $(LOWEST_VENV)/numba-cache  ## the tests with the lowest versions pyproject.toml names
	@echo "== pytest, lowest versions"
	@$(ONE_THREAD) NUMBA_CACHE_DIR="$(CURDIR)/$(LOWEST_VENV)/numba-cache" \
		TAMIZ_CASES=1 TAMIZ_HYPOTHESIS="few examples" \
		$(RUN_LIMIT) $(LOWEST_VENV)/bin/python -m pytest -q $(TWO_WORKERS) -m "not slow and not ours" --assert=plain \
		--ignore tests/reports/test_browser.py \
		$(PYTEST_ARGS) tests

coverage: $(COMPILED)/.all  ## the tests, with which lines and branches they reach
	@rm -f .coverage .coverage.*
	@$(ONE_THREAD) NUMBA_CACHE_DIR="$(CURDIR)/$(COMPILED)" \
		$(RUN_LIMIT) $(TEST_VENV)/bin/python -m coverage run -m pytest -q $(TWO_WORKERS) $(PYTEST_ARGS)
	@$(TEST_VENV)/bin/python -m coverage combine --quiet
	@$(TEST_VENV)/bin/python -m coverage report --skip-covered

attack: $(TEST_VENV)/.stamp $(COMPILED)  ## hostile files and inputs from seeds, in their full counts
	@$(ONE_THREAD) NUMBA_CACHE_DIR="$(CURDIR)/$(COMPILED)" \
		$(TEST_VENV)/bin/python -m tools.attack $(ATTACK_ARGS)

bench: $(BENCH_VENV)/.stamp  ## the quick benchmarks against other packages
	@if [ -f benchmarks/__main__.py ]; then \
		$(BENCH_VENV)/bin/python -m benchmarks $(BENCH_ARGS); \
	else echo "There are no benchmarks yet (benchmarks/__main__.py is missing)."; fi

reproduce: $(TEST_VENV)/.stamp  ## published tables beside ours, quick forms (some minutes)
	@$(ONE_THREAD) $(TEST_VENV)/bin/python examples/reproduce_all.py $(REPRODUCE_ARGS)

docs: $(DOCS_VENV)/.fresh  ## build the documentation, examples run; any warning is an error
	@$(ONE_THREAD) NUMBA_CACHE_DIR="$(CURDIR)/$(COMPILED)" \
		$(DOCS_VENV)/bin/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "The documentation is in docs/_build/html/index.html"

clean:  ## remove environments, caches and built files
	rm -rf $(TEST_VENV) $(LOWEST_VENV) $(DEMO_VENV) $(DOCS_VENV) $(BENCH_VENV)
	rm -rf build dist docs/_build docs/auto_examples docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* $(COMPILED)
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

environments: $(TEST_VENV)/.stamp $(DOCS_VENV)/.stamp $(LOWEST_VENV)/.stamp

check-python:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "tamiz needs Python 3.11 or newer, and '$(PYTHON)' is not: try make PYTHON=python3.12" >&2; \
		exit 1; }

check-lowest-python:
	@[ -n "$(LOWEST_PYTHON)" ] || { \
		echo "The lowest versions need Python 3.11 or 3.12: try make LOWEST_PYTHON=/path/to/it" >&2; \
		exit 1; }

# -------------------------------------------------------------------------------- environments

$(TEST_VENV)/.stamp: pyproject.toml | check-python
	@echo "Building $(TEST_VENV) (once; a minute or two)"
	@"$(PYTHON)" -m venv --clear $(TEST_VENV)
	@$(TEST_VENV)/bin/python $(PIP) $(GROUPS_PIP)
	@$(TEST_VENV)/bin/python $(PIP) $(FOR_WORK) --group lint $(FOR_TESTS)
	@touch $@

$(LOWEST_VENV)/.stamp: pyproject.toml tools/lowest.py | check-lowest-python
	@echo "Building $(LOWEST_VENV) (once; a minute or two)"
	@"$(LOWEST_PYTHON)" -m venv --clear $(LOWEST_VENV)
	@"$(LOWEST_PYTHON)" tools/lowest.py dask frames plot test > $(LOWEST_VENV)/lowest.txt
	@$(LOWEST_VENV)/bin/python $(PIP) $(GROUPS_PIP)
	@$(LOWEST_VENV)/bin/python $(PIP) $(FOR_WORK) --constraint $(LOWEST_VENV)/lowest.txt $(FOR_TESTS)
	@touch $@

# A real installation, not an editable one, with the bare dependencies: what a user gets.
$(DEMO_VENV)/.installed: pyproject.toml | check-python
	@echo "Building $(DEMO_VENV) (once; a minute or two)"
	@"$(PYTHON)" -m venv --clear $(DEMO_VENV)
	@$(DEMO_VENV)/bin/python $(PIP) install .
	@touch $@

$(DEMO_VENV)/.stamp: $(DEMO_VENV)/.installed $(SOURCES)
	@find $(DEMO_VENV) -path '*/tamiz/*' -name '*.nb[ic]' -delete
	@$(DEMO_VENV)/bin/python $(PIP) install --no-deps --force-reinstall .
	@touch $@

$(DOCS_VENV)/.stamp: pyproject.toml | check-python
	@echo "Building $(DOCS_VENV) (once; a minute or two)"
	@"$(PYTHON)" -m venv --clear $(DOCS_VENV)
	@$(DOCS_VENV)/bin/python $(PIP) $(GROUPS_PIP)
	@$(DOCS_VENV)/bin/python $(PIP) $(FOR_WORK) $(FOR_DOCS)
	@touch $@

# The gallery looks only at the text of an example: after a change of the source all are run again.
$(DOCS_VENV)/.fresh: $(DOCS_VENV)/.stamp $(SOURCES) | $(COMPILED)
	@rm -rf docs/_build docs/auto_examples docs/generated
	@touch $@

$(BENCH_VENV)/.stamp: pyproject.toml | check-python
	@echo "Building $(BENCH_VENV) (once; a minute or two)"
	@"$(PYTHON)" -m venv --clear $(BENCH_VENV)
	@$(BENCH_VENV)/bin/python $(PIP) $(GROUPS_PIP)
	@$(BENCH_VENV)/bin/python $(PIP) install $(FOR_BENCH)
	@touch $@

# Tests and documentation share what is compiled, since both have the newest versions. Nothing has to
# be removed after a change: what is out of date is compiled again (src/tamiz/runtime/compiling.py).
$(COMPILED)/.all: $(TEST_VENV)/.stamp $(SOURCES) | $(COMPILED)
	@$(ONE_THREAD) NUMBA_CACHE_DIR="$(CURDIR)/$(COMPILED)" $(TEST_VENV)/bin/tamiz compile --quiet
	@touch $@

$(COMPILED):
	@mkdir $@

$(LOWEST_VENV)/numba-cache: | $(LOWEST_VENV)/.stamp
	@mkdir $@
