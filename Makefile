# Run `make` to see what there is. `make demo` and `make test` set everything up by themselves.
OUT ?= out/demo

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: ## install what is missing, build, into .venv
	@bash .ci/setup

demo: export SIMUNIX_COMPILE_LATER = yes
demo: setup ## a real day of a real machine on real Slurm, in virtual time
	.venv/bin/simunix run scenarios/nasa-ipsc.yaml --out $(OUT)

# Hundreds of processes are started: each would compile the modules anew that were edited since the setup.
test test-slow test-endurance: export PYTHONDONTWRITEBYTECODE =
test: setup ## the fast tests (four minutes)
	.venv/bin/pytest -q -rs -n 3 --dist worksteal  # some sleep; what is skipped says why

test-slow test-endurance: export SIMUNIX_CONFORMANCE = yes
test-slow test-endurance: export SIMUNIX_PROGRAMS = 1
# The fast tests verify the invariants; these measure and last.
test-slow test-endurance: export SIMUNIX_CHECK = 0
test-slow: setup ## the slow tests: whole demo, Slurm end to end, CPython's own tests
	.venv/bin/pytest -q -n 8 -m "slow and not endurance" tests/parity  # these sleep
	.venv/bin/pytest -q -n 2 --dist worksteal --durations 10 -m "slow and not endurance" --ignore tests/parity

test-endurance: setup ## what takes longest and seldom finds anything: studies, musl, fuzzing; before a release
	.venv/bin/pytest -q -n 2 --dist worksteal --durations 10 -m endurance

test-all: ## the fast tests, the slow ones, those of endurance
	@$(MAKE) test
	@$(MAKE) test-slow
	@$(MAKE) test-endurance

conformance: export SIMUNIX_CONFORMANCE = yes
conformance: setup ## CPython's own tests inside and outside, file by file, into docs/reference/conformance.md (half an hour)
	.venv/bin/python -m tests.conformance.cpython --page docs/reference/conformance.md

bench bench-short: export SIMUNIX_PEERS = 1
bench-short: setup ## the benchmarks that take minutes; which there are: simunix bench --list
	@mkdir -p out
	.venv/bin/simunix bench --json out/bench-short.json

bench: setup ## every figure of benchmarks/README.md (two hours)
	@mkdir -p out
	.venv/bin/simunix bench --all --json out/bench.json
	.venv/bin/python benchmarks/platform.py
	.venv/bin/python benchmarks/solver.py
	.venv/bin/python benchmarks/report.py
	.venv/bin/python benchmarks/workload_tools.py
	.venv/bin/python benchmarks/network_cost.py

docs: setup ## the documentation as a site, into build/site; fails on a broken link
	.venv/bin/python docs/generate.py
	.venv/bin/python docs/figures.py
	.venv/bin/mkdocs build --strict

format: setup ## format the Python sources
	.venv/bin/ruff format . && .venv/bin/ruff check --fix .

clean: ## remove what was built
	rm -rf .venv build out simunix/lib rsg_server/_native.* rsg_server/_network.* rsg_server/_compiled.* *.egg-info

.PHONY: help setup demo test test-slow test-endurance test-all conformance bench bench-short docs format clean
