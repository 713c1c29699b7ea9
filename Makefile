# Everything works from a fresh Debian machine with Python and make. All paths are relative, so blanks in the
# directory's name do no harm; stamp files in .venv make each step run once until what it depends on changes.

PYTHON ?= python3
# More than cores: tests wait for processes, files and clusters of their own.
WORKERS ?= 3
NAME ?= speed
ARGS ?=
BIN := .venv/bin
# Runs a command as root when we are not.
ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
BROWSERS := chromium chromium-browser google-chrome
# Every worker of a test run, and every process that a test starts, would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup lint check format test test-slow test-all test-matrix mutants proofs demo bench paper-trees docs dist lock clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do printf '  make %-11s %s\n' "$$name" "$$text"; done

setup: .venv/.installed .venv/.browser .venv/.database .venv/.coq ## .venv from the lock; a browser, PostgreSQL and Coq for tests

.venv/.created:
	$(PYTHON) -m venv .venv || { rm -rf .venv; $(ROOT) apt-get update && $(ROOT) apt-get install -y python3-venv && $(PYTHON) -m venv .venv; }
	touch .venv/.created

.venv/.installed: .venv/.created requirements/dev.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch .venv/.installed

.venv/.browser: .venv/.created
	@for name in $(BROWSERS); do command -v $$name >/dev/null 2>&1 && found=$$name && break; done; \
	if [ -z "$${found:-}" ]; then $(ROOT) apt-get update && $(ROOT) apt-get install -y --no-install-recommends chromium fonts-dejavu-core; fi
	touch .venv/.browser

.venv/.database: .venv/.created
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || \
	{ $(ROOT) apt-get update && $(ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql; }
	touch .venv/.database

.venv/.coq: .venv/.created
	@command -v coqc >/dev/null 2>&1 || { $(ROOT) apt-get update && $(ROOT) apt-get install -y --no-install-recommends coq; }
	touch .venv/.coq

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.papers_page

check: lint ## ruff, mypy, the import contracts, the papers page, the layout rules
	$(BIN)/python -m pytest -q tests/test_rules.py

format: .venv/.installed ## ruff's formatting, and what it can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: lint ## the checks and the tests, those of the layout rules among them
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not slow and not bench"

test-slow: setup ## the long statistics
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m slow

test-all: lint ## every test, the long ones too
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not bench"

test-matrix: setup ## the tests on Python 3.11 to 3.14 and with the lowest versions; ARGS="--only 3.13 lowest -- tests/noise"
	$(BIN)/python -m tools.test_matrix --workers $(WORKERS) $(ARGS)

mutants: setup ## breaks the library on purpose, and says what no test notices; ARGS="theory --minutes 10" for a part
	[ -x .venv-mutants/bin/python ] || { $(BIN)/uv venv --quiet --python $(BIN)/python .venv-mutants && $(BIN)/uv pip install --quiet --python .venv-mutants/bin/python --group mutants; }
	.venv-mutants/bin/python -m tools.mutants $(ARGS)

proofs: .venv/.installed .venv/.coq ## the lemmas in proofs, checked by Coq, and what each assumes
	$(BIN)/python -m tools.check_proofs

bench: .venv/.installed ## one benchmark: make bench NAME=accuracy (its peers come with pip install -e ".[bench]")
	$(BIN)/python -m benchmarks.$(NAME) $(ARGS)

paper-trees: .venv/.installed ## the experiments of the paper on private trees; ARGS=--quick for a part of them
	$(BIN)/python -m benchmarks.paper_trees $(ARGS)

demo: .venv/.installed ## a private model of real survey data, with certificate and report, in ./demo
	$(BIN)/tacit demo

docs: .venv/.installed ## the documentation site, in build/site; warnings are errors
	rm -rf docs/reference/generated
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/site
	@echo "open build/site/index.html"

dist: .venv/.installed ## wheels and source archive, built twice and compared byte by byte
	rm -rf dist build/dist
	for out in dist build/dist; do SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800) $(BIN)/python -m hatchling build -d $$out >/dev/null; \
	  cd predict; SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800) ../$(BIN)/python -m hatchling build -t wheel -d ../$$out >/dev/null; cd ..; done
	for file in dist/*; do cmp $$file build/dist/$$(basename $$file); done
	$(BIN)/twine check --strict dist/*
	[ "$$(wc -c < dist/tacit-*.tar.gz)" -lt 3000000 ]
	@ls -l dist

lock: .venv/.created ## the lock files, for every supported Python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.5,<1"
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" --upgrade pyproject.toml --extra all --group dev --output-file requirements/dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" -c requirements/dev.lock pyproject.toml --output-file requirements/run.lock

clean: ## what was made, but not .venv
	rm -rf demo dist build docs/reference/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
