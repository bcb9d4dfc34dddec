# The commands of the repository. Every target makes what it needs: a virtual environment in .venv with the exact packages of the
# requirements files, made again only when those files change. Needed beforehand: Python 3.11 or newer and make.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check lint types imports bench sim soak reference grammar kernels lock env clean

SHELL := /bin/sh
ARGS ?=
SEED ?= 0
FITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c '$(FITS)' 2>/dev/null && { echo $$p; break; }; done)

BIN := .venv/bin
STAMPS := .venv/.stamps
say = @printf '%s\n' 'headwater: $(1)'

# Certificates of the system, so that it also works behind a company's proxy; progress only on a terminal.
# No build isolation: what builds packages is pinned too (requirements-build.txt).
UV_INSTALL = VIRTUAL_ENV=.venv $(BIN)/uv pip install --system-certs --no-build-isolation --compile-bytecode $(shell test -t 2 || echo --quiet)

help:
	@echo 'make demo    generated stations, standing queries, live answers on an embedded Spark'
	@echo 'make test    the tests'
	@echo 'make check   lint, types, import rules and the tests: exactly what CI runs'
	@echo 'make bench   speed on this machine, compared with the no-op ceiling and other engines'
	@echo 'make sim     one simulated network in which everything goes wrong, drawn from a seed: make sim SEED=7'
	@echo 'make soak    200 kills at random moments, 200 damaged checkpoints, a cluster, a million keys that come and go, and other worlds for every law, from a seed, which is the date unless you give one: many hours; make soak SEED=7'
	@echo 'make grammar  make the stored parse table again, after a change to a grammar.lark'
	@echo 'make reference  write docs/reference/python.md and the notebooks again, from the docstrings and with what comes out'
	@echo 'make kernels  record again which compiled loops each operator enters, after a change to a kernel'
	@echo 'make lock    choose the exact package versions again, from pyproject.toml'
	@echo 'make clean   remove the environment and every cache'
	@echo ''
	@echo "ARGS passes arguments to a command: make demo ARGS='--seconds 20', make test ARGS=tests/golden"
	@echo 'After any of them, .venv/bin/headwater is the command line.'

demo: $(STAMPS)/run
	@$(BIN)/headwater demo $(ARGS)
	@$(BIN)/headwater prepare --background

# All of them: two files at a time, which takes little more than half as long on two cores; tests/conftest.py has the long ones begin.
test: $(STAMPS)/dev
	@$(BIN)/python -m pytest $(or $(ARGS),--numprocesses=2 --dist=loadfile --no-loadscope-reorder)

check: lint types imports
	@$(MAKE) --no-print-directory test

lint: $(STAMPS)/dev
	$(call say,lint and format (ruff))
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMPS)/dev
	$(call say,types (mypy))
	@$(BIN)/mypy

imports: $(STAMPS)/dev
	$(call say,import rules between the rooms (import-linter))
	@$(BIN)/lint-imports

bench: $(STAMPS)/dev
	@$(BIN)/headwater bench $(ARGS)

sim: $(STAMPS)/dev
	@$(BIN)/python -m headwater.apps.overlay.replay $(SEED) $(ARGS)

# The tests of make test that count, with higher counts and drawn from the seed: kills (seven tests, 34 each), keys, patterns, worlds of laws.
# Other worlds every night, unless SEED is given; the log has the seed with which a failure comes again.
soak: SEED := $(if $(filter file,$(origin SEED)),$(shell date +%Y%m%d),$(SEED))
soak: $(STAMPS)/dev
	$(call say,soak with seed $(SEED))
	@HEADWATER_SOAK_SEED=$(SEED) HEADWATER_SOAK_KILLS=$(or $(KILLS),34) HEADWATER_SOAK_KEYS=$(or $(KEYS),1000000) HEADWATER_SOAK_PATTERNS=$(or $(PATTERNS),10000) \
		HEADWATER_SOAK_FLIPS=$(or $(FLIPS),200) HEADWATER_SOAK_PAIRS=$(or $(PAIRS),20) HEADWATER_SOAK_GROWTHS=$(or $(GROWTHS),20) \
		HEADWATER_SOAK_DRAWS=$(or $(DRAWS),5) \
		$(BIN)/python -m pytest --numprocesses=2 --dist=loadfile --no-loadscope-reorder --durations=0 -m soak $(ARGS)

kernels: $(STAMPS)/dev
	@$(BIN)/python -m headwater.apps.cli.write_kernel_entries
	$(call say,the list of compiled loops is that of the kernels)

grammar: $(STAMPS)/dev
	@$(BIN)/python -m headwater.query.language.write_parse_table
	$(call say,the parse table is that of the grammar)

reference: $(STAMPS)/dev
	@$(BIN)/python -m tests.docs.python_reference
	@$(BIN)/python -m tests.docs.notebooks

COMPILE = $(BIN)/uv pip compile --system-certs --quiet --no-header --universal --generate-hashes $(ARGS)
lock: $(STAMPS)/env
	@$(COMPILE) --group build --output-file requirements-build.txt
	@$(COMPILE) pyproject.toml --extra pictures --output-file requirements.txt
	@$(COMPILE) pyproject.toml --extra pictures --group dev --output-file requirements-dev.txt
	$(call say,requirements-build.txt requirements.txt and requirements-dev.txt are up to date)

env: $(STAMPS)/dev

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache spark-warehouse
	find src lab tests -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the environment ----------------------------------------------------------------------------------------------

$(STAMPS)/env: requirements-build.txt
	@test -n '$(PYTHON)' && $(PYTHON) -c '$(FITS)' 2>/dev/null || { \
		echo 'headwater: needs Python 3.11 or newer with its venv module; found here:' >&2; \
		$(or $(PYTHON),python3) --version >&2 || true; \
		echo 'headwater: install one, or name it: make test PYTHON=/path/to/python3.11' >&2; exit 1; }
	@printf 'headwater: making the environment .venv with %s\n' "$$($(PYTHON) --version)"
	@$(PYTHON) -m venv $$($(BIN)/python -c 'pass' 2>/dev/null || echo --clear) .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/env requirements.txt pyproject.toml lab/pyproject.toml
	$(call say,installing the packages it runs on (the first time some 600 MB: a minute or more))
	@$(UV_INSTALL) --require-hashes -r requirements.txt
	@$(UV_INSTALL) --no-deps --editable . --editable lab
	@touch $@

$(STAMPS)/dev: $(STAMPS)/env requirements-dev.txt pyproject.toml lab/pyproject.toml
	$(call say,installing the packages it runs on and is tested with (the first time some 600 MB: a minute or more))
	@$(UV_INSTALL) --require-hashes -r requirements-dev.txt
	@$(UV_INSTALL) --no-deps --editable . --editable lab
	@$(BIN)/headwater prepare
	@touch $@
