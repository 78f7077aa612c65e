# Needs make and Python 3.11 or newer; everything else goes into .venv, pinned by constraints.txt.
# Another Python: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# A new environment for another Python; "old" where Python is missing or too old.
VERSION := $(shell $(PYTHON) -c 'import sys; v = sys.version_info; \
	print("%d.%d.%d" % v[:3] if v >= (3, 11) else "old")' 2>/dev/null || echo old)

# Patience with a slow index, unless the environment says otherwise.
export PIP_DEFAULT_TIMEOUT ?= 120
export PIP_RETRIES ?= 10
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.DEFAULT_GOAL := help
.PHONY: help test lint demo bench clean python
.SECONDARY:

help: ## Say what there is
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

test: $(VENV)/ready-test lint ## Check everything: style, types, imports, tests
	$(BIN)/pytest

lint: $(VENV)/ready-test ## Check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

demo: $(VENV)/ready-demo ## Show what convdict does
	$(BIN)/convdict demo

bench: $(VENV)/ready-bench ## Race the solvers and learners; hours, best on a quiet machine
	$(BIN)/python -m benchmarks coding
	$(BIN)/python -m benchmarks learning
	$(BIN)/python -m benchmarks restoration

clean: ## Remove the environment and all caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# One environment; a stamp for each set of extras that it holds.
$(VENV)/ready-%: $(VENV)/python-$(VERSION) pyproject.toml constraints.txt
	$(BIN)/python -m pip install -q -c constraints.txt hatchling editables
	$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e '.[$*]'
	@touch $@

$(VENV)/python-$(VERSION): | python
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

python:
	@if [ $(VERSION) = old ]; then \
		echo "convdict needs Python 3.11 or newer, but $(PYTHON) is older or not there:" \
			"try make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; \
	fi
