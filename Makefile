# Two commands need nothing prepared: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
COMPILED := .venv-compiled
NODE_DIRS := tests/oracle tests/upgrade tests/scxml_differential
N ?= 20000
UNIT_ONE := tests/unit tests/golden tests/compiled
UNIT_TWO := tests/semantics tests/scxml_rules tests/properties

.PHONY: demo test setup lint types layers unit suites compiled bench bench-durable node fault fuzz conformance goldens clean

demo: $(VENV)/.demo
	@$(BIN)/python -m statecharts.cli.demo
	@$(BIN)/python -m statecharts.cli.demo_survival

test: setup lint types layers unit suites

setup: $(STAMP) node

# The demo needs only the package and its command line, so it is up quickly.
$(VENV)/.demo: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli]'
	@touch $@

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.demo

node: $(STAMP)
	@if command -v npm >/dev/null 2>&1; then \
	  for dir in $(NODE_DIRS); do \
	    if [ ! -e $$dir/node_modules/.package-lock.json ] || [ $$dir/package-lock.json -nt $$dir/node_modules/.package-lock.json ]; then \
	      npm ci --prefix $$dir --no-audit --no-fund --ignore-scripts --silent && touch $$dir/node_modules/.package-lock.json || exit 1; \
	    fi; \
	  done; \
	  $(BIN)/python tests/scxml_suite/suite.py; \
	else echo 'npm is not here: tests against XState, SCION and the SCXML suites will be skipped'; fi

lint: $(STAMP)
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

# The suites that hold definition and interpreter to 100 % branch coverage; they need no Node.
unit: $(STAMP)
	$(BIN)/coverage erase
	@echo 'two processes: pytest $(UNIT_ONE), and pytest $(UNIT_TWO)'; \
	 $(BIN)/coverage run -p -m pytest -q $(UNIT_ONE) & one=$$!; \
	 $(BIN)/coverage run -p -m pytest -q $(UNIT_TWO); two=$$?; \
	 wait $$one && exit $$two
	$(BIN)/coverage combine -q
	$(BIN)/python tests/repo/core_coverage.py

# Everything else: scenarios, command line, asyncio, formats, the W3C's and SCION's suites, documents; then
# XState and SCION under Node beside us, with seeds, counts and the tables of features printed (-rP).
suites: setup
	STATECHARTS_EXPECT=pure $(BIN)/python -m pytest -q -n 2 --dist worksteal tests/asyncio_host tests/benchmarks tests/cli tests/conformance tests/datamodels tests/docs tests/durable tests/faults tests/repo tests/scenarios tests/scxml_cases tests/scxml_format tests/scxml_suite tests/sismic_import tests/stores tests/upgrade
	$(BIN)/python -m pytest -q -n 2 -rP tests/durable_simulation
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -rP tests/differential tests/scxml_differential

# Every test once more, against an installed wheel whose hot path is compiled (docs/how-to/compiled.md). The copy of the
# checkout in which they run has no sources of the package, which would be imported instead.
compiled: node
	@test -x $(COMPILED)/bin/python || $(PYTHON) -m venv $(COMPILED)
	@rm -rf $(COMPILED)/wheel
	STATECHARTS_COMPILED=1 $(COMPILED)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(COMPILED)/wheel .
	$(COMPILED)/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(COMPILED)/wheel/*.whl
	$(COMPILED)/bin/python -m pip install --quiet --disable-pip-version-check "$$(echo $(COMPILED)/wheel/*.whl)[dev]"
	$(COMPILED)/bin/python tests/compiled/stage.py $(COMPILED)/checkout
	cd $(COMPILED)/checkout && STATECHARTS_EXPECT=compiled ../bin/python -m pytest -q -n 2 --dist worksteal tests

# Against XState and the Python libraries; makes its own environments, writes benchmarks/RESULTS.md.
bench:
	$(PYTHON) -m benchmarks

# What a durable event costs, against a raw-SQL floor, xstate-statemachine, DBOS and LangGraph; writes benchmarks/DURABLE.md.
bench-durable:
	$(PYTHON) -m benchmarks.durable

# Everything a fault can be injected into, at every point (about 15 minutes).
fault: setup
	FAULTS_ALL=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal -rP tests/faults tests/durable_simulation

fuzz: setup
	$(BIN)/python tests/differential/fuzz.py --n $(N)

# The page with the result of every test of the SCXML suites.
conformance: setup
	$(BIN)/python tests/scxml_suite/table.py

goldens: setup
	$(BIN)/python tests/golden/record.py

clean:
	rm -rf $(VENV) $(COMPILED) benchmarks/.env benchmarks/node/node_modules build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis $(addsuffix /node_modules,$(NODE_DIRS))
