#!/bin/bash
# test.sh: everything that proves the code on this machine, in stages. All stages
# run, whatever fails; a table at the end says where the time went.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../..")
bin=$(realpath -m "${BIN:-$root/.bin}")
cd "$root" || exit 1
export GOWORK=off GOFLAGS=-buildvcs=false FAIRLEAD_BIN=$bin
# Packages of the tests that need a real node, or root: they have the build tag node,
# and names by which they can be told from the others of their package.
read -r -a node_tests <<< "${NODE_TESTS:-$(grep -rl --include='*_test.go' '^//go:build node$' . | xargs -n 1 dirname | sort -u | tr '\n' ' ')}"

tools() {
  "$here/build.sh" $("$here/build.sh" --list) && "$root/deploy/images/build.sh" "$bin"
}
devserver() {
  # The flags of build.sh, so that its build cache is used.
  CGO_ENABLED=0 go -C temporal/devserver test -trimpath -count=1 ./...
}

# Packages of which goroutines share something; the stack of the tour is one program
# with all of them. The race detector needs a C compiler, nothing else does.
races() {
  CGO_ENABLED=1 go test -race -count=1 -timeout 15m ./api/... ./activities/... ./starter/... ./worker/... ./temporal/... ./deploy/local/child &&
    CGO_ENABLED=1 go test -race -count=1 -timeout 5m -run '^TestTour$' .
}

results=()
failed=()

# stage NAME COMMAND...
stage() {
  local started=$SECONDS result=ok
  echo "=== $1"
  "${@:2}" || { result=FAILED && failed+=("$1"); }
  results+=("$(printf '%-36s %6d s  %s' "$1" $((SECONDS - started)) $result)")
}

table() {
  echo
  printf '%s\n' "${results[@]}"
  printf '%-36s %6d s\n' 'in all' $SECONDS
}

stage 'tools' tools
if [ ${#failed[@]} -gt 0 ]; then # without them everything else fails too
  table
  exit 1
fi
stage 'lint' "$here/lint.sh"
stage 'unit, workflow, integration tests' go test -count=1 -timeout 15m ./...
stage 'data races' races
stage 'Temporal server of our own' devserver
stage 'a hundred lifecycles through faults' make --no-print-directory chaos N=100
stage 'leases through kills and failovers' make --no-print-directory chaos-lease N=5 M=2
stage 'add-ons through kills of the worker' make --no-print-directory chaos-addon N=24
stage 'tests on a node with real pods' go test -tags=node -run '^TestNode' -count=1 -timeout 20m "${node_tests[@]}"
table
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
