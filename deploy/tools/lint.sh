#!/bin/bash
# lint.sh: everything that can be said about the code without running it.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../..")
bin=$(realpath -m "${BIN:-$root/.bin}")
export GOWORK=off GOFLAGS=-buildvcs=false

"$here/build.sh" golangci-lint workflowcheck
failed=()

# check WHAT COMMAND...: goes on after a failure, so that one run tells all.
check() {
  echo "lint: $1"
  "${@:2}" || failed+=("$1")
}

# in_module DIR: golangci-lint looks at one module at a time.
in_module() (
  cd "$root/$1"
  "$bin/golangci-lint" run --allow-parallel-runners --config "$root/.golangci.yaml" ./...
)

workflows() (
  cd "$root"
  "$bin/workflowcheck" -config "$here/workflowcheck.yaml" ./workflows/...
)

scripts() {
  local file code=0
  while read -r file; do
    bash -n "$file" || code=1
  done < <(find "$root" -name .bin -prune -o -name .fairlead -prune -o -name .git -prune -o \
    -type f \( -name '*.sh' -o -path "$root/.ci/run" \) -print)
  return $code
}

# node_names: a test with the build tag node that has another name would never run.
node_names() (
  cd "$root"
  code=0
  while read -r file; do
    if grep -q '^//go:build node$' "$file"; then
      ! grep -HnE '^func Test' "$file" | grep -vE 'func Test(Node|Main\()' || code=1
    else
      ! grep -HnE '^func TestNode' "$file" || code=1
    fi
  done < <(find . -name .bin -prune -o -name .git -prune -o -type f -name '*_test.go' -print)
  return $code
)

check 'the module' in_module .
check 'temporal/devserver' in_module temporal/devserver
check 'determinism of workflows/' workflows
check 'shell scripts' scripts
check 'tests on a node, and no others, are called TestNode' node_names
check 'generated files are up to date' "$here/generate.sh" --check

if [ ${#failed[@]} -gt 0 ]; then
  printf 'lint: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
