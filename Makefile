# Everything sets itself up: a virtual environment in .venv, the build, then the target's own work.
# make demo | test | fuzz | wheel | reference | versions | bench | bench-quick | bench-kernels | clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find crates python/neardup -name '*.rs' -o -name '*.toml') Cargo.toml pyproject.toml
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
# Property tests draw the same cases every time, so that a test says something of the change before it; `make fuzz`
# draws others.
export PROPTEST_RNG_SEED ?= 2006

.DEFAULT_GOAL := demo
.PHONY: demo test test-rust test-python tests-of-spark tests-beside other-tests browser fuzz lint types reference wheel clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Libraries, anew when their list changes: first what a run needs and the build, then what tests need as well. In the
# versions that the tests passed with: a release of tomorrow must not fail the change of today.
VERSIONS := tools/versions.txt
LIBRARIES = $(BIN)/python tools/dependencies.py $(1) | xargs $(BIN)/python -m pip install --constraint $(VERSIONS)

$(VENV)/.installed: pyproject.toml tools/dependencies.py $(VERSIONS) | $(BIN)/python
	@echo "Fetching libraries; a minute or so, the first time."
	$(BIN)/python -m pip install --upgrade pip
	$(call LIBRARIES,build)
	@touch $@

$(VENV)/.tools: $(VENV)/.installed
	@echo "Fetching what the tests need; a few minutes, the first time."
	$(call LIBRARIES,build lint test)
	@touch $@

# The newest versions of everything, written down for the next `make test`.
.PHONY: versions
versions: | $(BIN)/python
	$(BIN)/python tools/dependencies.py build lint test | xargs $(BIN)/python -m pip install --upgrade --upgrade-strategy eager
	$(BIN)/python -m pip freeze --exclude neardup > $(VERSIONS)

# The native module, compiled into the source tree; anew when a Rust file changes.
$(VENV)/.built: $(SOURCES) $(VENV)/.installed
	@echo "Compiling the native module; a few minutes, the first time."
	$(BIN)/maturin develop --release --quiet
	@touch $@

demo: $(VENV)/.built
	$(BIN)/neardup demo

test: lint types test-rust test-python

test-rust: $(VENV)/.tools
	HTML5LIB_TESTS=$$($(BIN)/python tools/fetch_html5lib_tests.py) cargo test --quiet --workspace --exclude neardup-python

# Three parts, two at a time, the longest first: tests of Spark, and of what has servers and browsers beside it, mostly wait.
BESIDE := tests/index tests/render tests/web
test-python: $(VENV)/.built $(VENV)/.tools browser
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target other-tests tests-of-spark tests-beside

tests-of-spark:
	$(BIN)/python -m pytest -q tests/spark

tests-beside:
	$(BIN)/python -m pytest -q $(BESIDE)

other-tests:
	$(BIN)/python -m pytest -q --ignore=tests/spark $(BESIDE:%=--ignore=%)

# A browser for the tests of rendering, where the system has none: Debian's, or a word on how to get one. The headless
# shell alone would do; it is the faster one.
HAS_BROWSER := command -v chromium-headless-shell || command -v chromium || command -v google-chrome
browser:
	@command -v chromium-headless-shell >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-headless-shell; \
	  fi >/dev/null 2>&1; \
	  { $(HAS_BROWSER); } >/dev/null || \
	    echo "No Chromium was found: tests of rendering are skipped. As root: apt-get install chromium-headless-shell"; }

# What is read from strangers (fuzz/), each target for FUZZ_SECONDS; what is found stays in fuzz/artifacts. Then the
# property tests of the core and of Python, FUZZ times with cases not seen before.
FUZZ ?= 20
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := csv html jsonl records warc
$(BIN)/cargo-fuzz: | $(BIN)/python
	cargo install --quiet --locked cargo-fuzz --root $(VENV)

.PHONY: fuzz-targets
fuzz-targets: $(BIN)/cargo-fuzz
	for target in $(FUZZ_TARGETS); do \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cargo fuzz run --sanitizer none $$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=4096 || exit 1; \
	done

fuzz: fuzz-targets $(VENV)/.built $(VENV)/.tools
	for round in $$(seq $(FUZZ)); do \
	  PROPTEST_RNG_SEED=$$(od -An -N7 -tu8 /dev/urandom | tr -d ' ') cargo test --quiet -p neardup-core -p neardup-engine --lib || exit 1; \
	done
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -q -m hypothesis

lint: $(VENV)/.tools
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	cargo fmt --check
	cargo clippy --quiet --workspace --all-targets -- --deny warnings

types: $(VENV)/.built $(VENV)/.tools
	$(BIN)/mypy
	$(BIN)/mypy --config-file tools/mypy.ini
	$(BIN)/python -m mypy.stubtest neardup._native --mypy-config-file pyproject.toml

# The generated reference, and the outputs shown in README and docs, written anew.
reference: $(VENV)/.built $(VENV)/.tools
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/transcripts.py README.md $$(find docs -name '*.md' -not -path 'docs/reference/*' | sort)

# The pictures in the documentation, taken anew; needs a Chromium (CHROMIUM names it where it is not on the path).
.PHONY: screenshots
screenshots: $(VENV)/.built $(VENV)/.tools
	$(BIN)/python tools/screenshots.py

wheel: $(VENV)/.installed
	$(BIN)/maturin build --release --out dist

include benchmarks/targets.mk

clean:
	rm -rf $(VENV) target dist demo
