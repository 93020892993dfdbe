# make demo   a benchmark from the demonstration corpus, from nothing
# make test   lint and tests, as in continuous integration
# Each sets up .venv by itself on a machine with make, git and Python 3.11.

VENV ?= .venv
BIN := $(VENV)/bin
export VENV

.PHONY: help setup system demo test lint check-slow mutation bench lock clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile
	@echo "also: lint, check-slow (slow tests), mutation (which changes no test notices), bench (time and memory), lock (renew requirements.lock), clean"

setup:
	@.ci/setup
	@$(BIN)/python -m compileall -q nclue_build

# What only tests need of the system.
system:
	@.ci/system-packages

demo: setup
	$(BIN)/nclue-build --workspace $(CURDIR) --build demo run --fresh --show 4
	@$(BIN)/python corpora/demo/runs.py
	@$(BIN)/nclue-build -q --workspace $(CURDIR) --build demo tables corpora/demo/runs --only matrix --out corpora/demo/tables
	@echo; $(BIN)/python corpora/demo/measure.py

test: lint system
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadgroup -m "not slow"

lint: setup
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

check-slow: setup system
	$(BIN)/pytest -m slow

# Small changes to the pure modules that no test notices; writes docs/quality/mutation.md.
mutation: setup
	nice $(BIN)/python benches/mutation.py

bench: setup
	@for bench in benches/bench_*.py; do echo "$$bench"; $(BIN)/python "$$bench" || exit 1; done

# Plain names, versions and hashes: no address and no path of the machine that made it.
lock: setup
	env -u PIP_FIND_LINKS PIP_CONFIG_FILE=/dev/null $(BIN)/uv pip compile --quiet --universal \
	    --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	    --group dev pyproject.toml --output-file requirements.lock

clean:
	rm -rf .nclue dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find nclue_build tests benches corpora -name __pycache__ -type d -prune -exec rm -rf {} +
