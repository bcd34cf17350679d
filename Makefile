.DEFAULT_GOAL := help
.PHONY: help build dev tools lint generate test test-unit bench chaos chaos-lease chaos-addon record clean

BIN ?= $(CURDIR)/.bin
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Options of `fairlead dev`: make dev ARGS='--clean'
ARGS ?=
export BIN
# A folder above with a go.work must not reach into our modules.
export GOWORK := off

# What the local stack runs; with NODE=1 also what runs pods.
STACK := etcd kube-apiserver kube-controller-manager kube-scheduler temporal-devserver
STACK += $(if $(shell command -v kubectl),,kubectl)
STACK += $(if $(NODE),kubelet kube-proxy)

help: ## prints this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## builds .bin/fairlead
	go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/fairlead .

dev: ## runs the whole stack in the foreground; NODE=1 adds a node for pods, ARGS='--clean' starts empty
	@deploy/tools/build.sh $(STACK)
	@$(if $(NODE),deploy/images/build.sh $(BIN))
	@echo "building fairlead ..."
	@$(MAKE) --no-print-directory -s build
	@exec $(BIN)/fairlead dev $(if $(NODE),--node) $(ARGS)

tools: ## builds every tool and container image that is missing or stale
	@deploy/tools/build.sh $$(deploy/tools/build.sh --list)
	@deploy/images/build.sh $(BIN)

lint: ## golangci-lint, workflowcheck, shell syntax, and whether generated files are up to date
	@deploy/tools/lint.sh

generate: ## writes deepcopy functions, CRDs and RBAC from the Go types
	@deploy/tools/generate.sh

test: ## lint and all tests, those on a real node too; says where the time goes
	@deploy/tools/test.sh

test-unit: ## the tests of this module alone: no lint, races, lifecycles through faults, or node
	go test ./...

# Which benchmarks, how often for benchstat, and smaller sizes such as '-parked 1000'.
BENCH ?= .
COUNT ?= 1
SIZES ?=
bench: ## prints the figures of docs/benchmarks.md; BENCH=regexp selects, COUNT=5 repeats, SIZES='-parked 1000' shrinks
	@deploy/tools/build.sh etcd kube-apiserver temporal-devserver helm
	@for i in $$(seq $(COUNT)); do \
	  FAIRLEAD_BIN=$(BIN) go test ./bench -count 1 -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 3h $(if $(SIZES),-args $(SIZES)) || exit 1; \
	done

# Options of `make chaos`, `make chaos-lease` and `make chaos-addon`; SEED=0 draws one.
SEED ?= 0

chaos: N ?= 100
chaos: ## runs N=100 lifecycles of Proxies through faults drawn from SEED; the last line counts what leaked
	@deploy/tools/build.sh etcd kube-apiserver temporal-devserver
	@go build -o $(BIN)/chaos ./bench/chaos
	@$(BIN)/chaos -bin-dir $(BIN) -lifecycles $(N) -seed $(SEED)

chaos-lease: N ?= 50
chaos-lease: M ?= 20
chaos-lease: ## kills the lease API N=50 times under load, and its leader M=20 times each in three ways; needs root
	@deploy/tools/build.sh etcd kube-apiserver
	@$(MAKE) --no-print-directory -s build
	@go build -o $(BIN)/chaos-lease ./bench/leases
	@$(BIN)/chaos-lease -bin-dir $(BIN) -kills $(N) -blows $(M) -seed $(SEED)

chaos-addon: N ?= 0
chaos-addon: ## kills the worker in N lives of add-ons, at another write in each; without N once before and once after each write
	@deploy/tools/build.sh etcd kube-apiserver temporal-devserver
	@$(MAKE) --no-print-directory -s build
	@go build -o $(BIN)/chaos-addon ./bench/addons
	@$(BIN)/chaos-addon -bin-dir $(BIN) -lives $(N) -seed $(SEED)

record: ## records new workflow histories for the replay tests
	go test -count=1 -run TestRecord ./workflows/... -record

clean: ## removes the binaries; the state of the stack in .fairlead stays
	rm -rf $(BIN)
