# Every task that a person or CI runs. `make` alone lists them.

CARGO ?= cargo
ARGS ?=
MINUTES ?= 5
SECONDS ?= 60
STEPS ?= 1000000
NONSENSE ?= 10000000

.PHONY: help build demo test test-redb log-stores checkers fuzz simulate soak nemesis crash-loops power-loss check fix bench bench-dns

help: ## List the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

build: ## Build every binary for use (release)
	$(CARGO) build --release --locked --workspace --bins

demo: build ## Run a three-member cluster with agents and endpoints on loopback (ARGS="--help" lists the options)
	@$${CARGO_TARGET_DIR:-target}/release/waymark-demo $(ARGS)

test: ## Run all tests, the end-to-end suites with real processes included; installs iproute2 if this is Debian and it is missing
	@tests/install-peers iproute2
	$(CARGO) build --locked --workspace --bins
	$(CARGO) test --locked --workspace

test-redb: ## Run the tests of consensus on members that keep their logs in redb, and those of the log on both
	$(CARGO) test --locked --workspace --lib --features waymark-node/redb -- raft::

log-stores: ## Measure the log on sled and on redb; docs/benchmarks.md says what is printed
	$(CARGO) test --locked --release --workspace --lib --features waymark-node/redb -- --ignored --nocapture log_stores

checkers: ## Compare with Knot and ask through Unbound, which are installed if this is Debian and they are missing
	@tests/install-peers unbound knot
	$(CARGO) build --locked --workspace --bins
	$(CARGO) test --locked --workspace --test checkers -- --ignored

fuzz: ## Feed packets, answers, client subnets and cookies at random, so long each; needs cargo-fuzz (SECONDS=60)
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { echo "cargo-fuzz is missing: cargo install cargo-fuzz --locked" >&2; exit 1; }
	@cd tests && for target in packet answer subnet cookie; do mkdir -p fuzz/found/$$target; \
	RUSTC_BOOTSTRAP=1 nice $(CARGO) fuzz run --sanitizer none $$target \
	"$(CURDIR)/tests/fuzz/found/$$target" "$(CURDIR)/tests/fuzz/corpus/$$target" -- \
	-max_total_time=$(SECONDS) -max_len=1400 -print_final_stats=1 || exit 1; done

simulate: ## Run the pure core under random schedules, so many log entries, and so many senseless commands (STEPS=1000000, NONSENSE=10000000, WAYMARK_SEED=N)
	WAYMARK_STEPS=$(STEPS) WAYMARK_NONSENSE=$(NONSENSE) $(CARGO) test --locked --release --workspace --test simulation -- --nocapture

soak: build ## Kill, restart and change three members under load, and count what gets lost (MINUTES=5)
	@$${CARGO_TARGET_DIR:-target}/release/waymark-soak --minutes $(MINUTES)

nemesis: build ## Have everything befall members that a cluster must bear, and check what was seen (MINUTES=5, SEED=N, ARGS="--help")
	@tests/install-peers iproute2 $(if $(findstring etcd,$(ARGS)),etcd-server)
	@$${CARGO_TARGET_DIR:-target}/release/waymark-nemesis --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(ARGS)

crash-loops: build ## Kill all members 200 times under writes, damage a file of one 100 times, and count what gets lost (ARGS="--seed N")
	@$${CARGO_TARGET_DIR:-target}/release/waymark-crash $(ARGS)

power-loss: build ## Shut the file system under a member, alone and as the leader of three, down 120 times on ext4 and 40 times on XFS; takes root and loop devices
	@tests/install-peers xfsprogs
	@$${CARGO_TARGET_DIR:-target}/release/waymark-crash --power ext4 --cycles 120 $(ARGS)
	@$${CARGO_TARGET_DIR:-target}/release/waymark-crash --power xfs --cycles 40 $(ARGS)

check: ## What CI holds: format, lints, docs, tidiness, licences; changes nothing
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items
	$(CARGO) test --locked -p waymark-tests --test tidy
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny --locked check bans licenses sources; \
	else echo "cargo-deny is not installed: licences and sources were not checked"; fi

fix: ## Format and mend what the lints can mend
	$(CARGO) fmt --all
	$(CARGO) clippy --locked --workspace --all-targets --fix --allow-dirty --allow-staged
	$(CARGO) fmt --all

bench: build ## Measure; docs/benchmarks.md says what is printed (ARGS="--only dns" runs a part); installs etcd and blackbox_exporter as below
	@tests/install-peers etcd-server prometheus-blackbox-exporter
	@$${CARGO_TARGET_DIR:-target}/release/waymark-bench $(ARGS)

bench-dns: build ## Measure DNS beside gdnsd and Knot, which are installed if this is Debian and they are missing
	@tests/install-peers gdnsd knot
	@$${CARGO_TARGET_DIR:-target}/release/waymark-bench --only dns $(ARGS)
