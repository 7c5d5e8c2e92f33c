# Each target installs what it needs, skips work that is up to date, and reports how long it takes.
# Variables: PORT (run), WHAT (bare), MODE, MAX_TURNS, PRESET, TASK (demo), REPS, PEERS and ONLY (bench), KINDS (test-sites),
# BROWSERS (test-browsers). Example: make demo MODE=endless MAX_TURNS=2

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test test-all test-long test-files test-sites test-browsers test-packages bare dist demo picture bench fmt clippy

quick := target/site/quick

help:
	@echo 'make run | test | test-all | test-long | test-files | test-sites | test-browsers | test-packages | bare | dist | demo | picture | bench | fmt | clippy   (README.md says what they do)'

run:
	@.ci/setup run
	@.ci/build quick $(quick) worker app-worker app
	@node .ci/serve.mjs $(quick) .ci/build quick $(quick) worker convert jq app-worker app

# A quarter of an hour on two cores once everything is built. It says what it leaves for test-all.
test:
	@.ci/setup test
	@source .toolchain.env && node .ci/test.mjs

# The same and what takes long: all attempts to escape, every killed run, pictures, servers and hosts of others, bundlers, every
# build's lints, and cargo and trunk as users type them. About an hour. Whoever touches a subject runs it before calling it done.
test-all:
	@.ci/setup test-all
	@source .toolchain.env && node .ci/test.mjs --all

# The random runs, ten times as many, and the random kills of a run, five times as many: takes a quarter of an hour.
test-long:
	@.ci/setup test
	@.ci/build release dist
	@source .toolchain.env && KILLS=$${KILLS:-40} node .ci/e2e.mjs tests/e2e/kill.test.mjs tests/e2e/resume_api.test.mjs
	@source .toolchain.env && TURNWISE_CASES=$${TURNWISE_CASES:-100000} cargo nextest run --locked --cargo-quiet --test native sim_run::

# Files from the test suites of other readers, read by the tools and compared with the usual reader of each format: ten minutes at most, with downloads of 140 MB.
# It needs pdftotext (Debian: poppler-utils) and takes the packages of Debian that apt-get has. UPDATE=1 writes the table of docs/files.md.
test-files:
	@.ci/setup dist
	@.ci/build release dist
	@source .toolchain.env && node tests/files/fetch.mjs target/test-files
	@node tests/files/compare.mjs dist target/test-files

# The docs agent on real documentation sites from seventeen generators: half an hour, most of it to build the sites the first time.
# make test-all includes two of them. Example: make test-sites KINDS="sphinx vitepress"
test-sites:
	@.ci/setup test
	@.ci/build release dist
	@source .toolchain.env && export KINDS="$${KINDS:-$$(node tests/sites/build.mjs --list)}" && node tests/sites/build.mjs $$KINDS && \
		node --test --test-reporter=spec tests/e2e/sites.test.mjs

# The docs agent, the package and the app in Firefox and in WebKit: two minutes after the build.
test-browsers:
	@.ci/setup browsers
	@.ci/build release dist
	@source .toolchain.env && node --test --test-reporter=spec tests/browsers/browsers.test.mjs

# The npm package in bundlers and frameworks: two minutes after the build. make test-all includes it, make test one bundler.
test-packages:
	@.ci/setup test
	@.ci/build release dist
	@source .toolchain.env && node .ci/test.mjs --all packages

# The first commands on a bare machine: no caches, no tools, a fresh clone of the last commit. Seven minutes for `run`;
# for `test`, as long as the checks take. Example: make bare WHAT="run dist test"
bare:
	@.ci/setup demo
	@source .toolchain.env && node .ci/bare.mjs $${WHAT:-run}

dist:
	@.ci/setup dist
	@.ci/build release dist
	@node .ci/pack.mjs dist
	@node .ci/sizes.mjs dist --guard

demo:
	@.ci/setup demo
	@.ci/build release dist
	@source .toolchain.env && node .ci/demo.mjs

# Records a run in the app for README.md, light and dark: half a minute after the build.
picture:
	@.ci/setup demo
	@.ci/build release dist
	@source .toolchain.env && node .ci/picture.mjs

# About half an hour after the build on two cores, less if nothing else is running. Example: make bench ONLY="cpu memory" REPS=3
bench:
	@.ci/setup bench
	@.ci/build release dist
	@source .toolchain.env && node benches/bench.mjs

fmt:
	@cargo fmt

clippy:
	@.ci/setup run
	@source .toolchain.env && node .ci/test.mjs format clippy

export PORT WHAT MODE MAX_TURNS PRESET TASK REPS PEERS ONLY KINDS BROWSERS
