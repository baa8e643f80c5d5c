# Two commands do all the set-up: `make demo` and `make test`. `make help` lists the others.
# Name another interpreter with PYTHON=, as in `make test PYTHON=/opt/python3.12/bin/python3`.

PYTHON ?=
VENV := .venv/bin
# Long computations that reach no line which other tests do not: measuring coverage makes them three times as long.
UNMEASURED := tests/oracle tests/results/statistics/test_coverage.py tests/workloads/test_any_bytes.py
export PYTHON
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help demo test docs nightly bench clean

help: ## Show the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

demo: ## Set up what a run needs and compare four policies on a generated workload
	@.ci/venv run
	@$(VENV)/hpcsim demo

test: ## Set up the development tools and check everything
	@.ci/venv dev
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/mypy examples/*.py .ci/*.py
	$(VENV)/lint-imports
	$(VENV)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term $(UNMEASURED:%=--ignore=%)
	$(VENV)/python -m pytest -n 2 --dist worksteal $(UNMEASURED)

docs: ## Build the documentation site into site/, any warning being an error
	@.ci/venv dev
	NO_MKDOCS_2_WARNING=1 $(VENV)/mkdocs build --strict --quiet

nightly: ## Run the long tests: whole logs, millions of lines, 2,000 examples a property
	@.ci/venv nightly
	HPCSIM_PROFILE=nightly $(VENV)/python -m pytest -n 2 --dist worksteal -m "nightly or not nightly"

bench: ## Measure speed; prints ratios and never fails on one
	@.ci/venv dev
	@set -e; for script in bench/*.py; do test ! -f "$$script" || $(VENV)/python "$$script"; done

clean: ## Remove the environment and everything that was built
	rm -rf .venv build dist site demo-out .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
