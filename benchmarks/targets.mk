# The benchmark targets; included by the Makefile, which defines BIN and VENV. BENCH names the work folder
# (default: target/bench), NEARDUP_DATA the folder of real pages (default: pages are generated).

.PHONY: bench bench-quick bench-kernels

bench: $(VENV)/.built $(VENV)/.tools
	$(BIN)/python -m benchmarks.run

bench-quick: $(VENV)/.built $(VENV)/.tools
	$(BIN)/python -m benchmarks.run --quick

# Fails if a kernel needs over 20 % more instructions than benchmarks/kernels/counts.json says.
# If that is meant: make bench-kernels KERNELS=--store
bench-kernels: $(VENV)/.tools
	$(BIN)/python -m benchmarks.kernels.count --fail-above 20 $(KERNELS)
