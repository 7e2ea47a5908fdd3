# Two commands do everything on a fresh machine that has Python 3.11 and make:
#   make demo    a scripted session through the starter config
#   make test    every test
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := $(shell command -v uv 2>/dev/null)
STAMP  := $(VENV)/.ready
BENCH_STAMP := $(VENV)/.ready-bench
LOCK   := uv pip compile --quiet --python-version 3.11 --universal --generate-hashes --no-emit-index-url --no-header

.PHONY: setup demo test fuzz test-interop evidence check format bench accuracy coverage lock generate clean
.DEFAULT_GOAL := test

setup: $(STAMP)

# Pinned by hash; the package itself is installed editable, built by the pinned backend.
$(STAMP): requirements/dev.txt pyproject.toml hatch_build.py src/hookline/_version.py $(wildcard src/hookline/client/*.[ch] src/hookline/client/*.flags)
ifeq ($(UV),)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
else
	test -x $(BIN)/python || uv venv --quiet --python $(PYTHON) $(VENV)
	uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/dev.txt
	uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
endif
	touch $@

$(BENCH_STAMP): $(STAMP) requirements/bench.txt
ifeq ($(UV),)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/bench.txt
else
	uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/bench.txt
endif
	touch $@

demo: setup
	@$(BIN)/hookline demo

test: setup
	$(BIN)/python -m pytest --numprocesses auto

# Mutated payloads through every dialect: none may open a gate. What fails becomes a test.
# make fuzz FUZZ="--seed 7 --count 5000"
fuzz: setup
	cd tests && ../$(BIN)/python -m support.gate_fuzz $(FUZZ)

# Real, unmodified clients: pinned versions from npm, installed by the suite into its cache.
test-interop: setup
	$(BIN)/python -m pytest -m interop -p no:randomly --numprocesses auto --dist loadscope tests/interop

# The same, and what was proven is written to the dialects' evidence.toml.
evidence: setup
	$(BIN)/python -m pytest -m interop -p no:randomly --numprocesses auto --dist loadscope --write-evidence tests/interop
	$(BIN)/python tools/generate.py

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/typing tools
	$(BIN)/python tools/generate.py --check

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

coverage: setup
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest --quiet --numprocesses auto --ignore tests/adversarial/test_shell_split.py
	$(BIN)/python -m coverage combine --quiet
	@for part in model engine config handlers; do echo "== $$part"; \
	  $(BIN)/python -m coverage report --include="*/hookline/$$part/*" --fail-under=95 || exit 1; \
	done

# All suites, or some: make bench SUITES="warm peers"
bench: $(BENCH_STAMP)
	$(BIN)/python -m bench $(SUITES)

# How many dangerous commands are flagged and harmless ones passed; nothing is run.
accuracy: setup
	$(BIN)/python -m accuracy
	$(BIN)/python -m accuracy secrets

generate: setup
	$(BIN)/python tools/generate.py

lock:
	$(LOCK) pyproject.toml requirements/dev.in --output-file requirements/dev.txt
	$(LOCK) pyproject.toml requirements/dev.in requirements/bench.in --output-file requirements/bench.txt
	$(LOCK) bench/peers.in --output-file bench/peers.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
