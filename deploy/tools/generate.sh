#!/bin/bash
# generate.sh: writes what is made from the Go types and their markers: deepcopy
# functions beside them, deploy/crds and deploy/rbac. generate.sh --check says what
# is stale instead, and changes nothing.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../..")
bin=$(realpath -m "${BIN:-$root/.bin}")
export GOFLAGS=-buildvcs=false

# generate DIR: in a checkout of the module.
generate() (
  cd "$1"
  "$bin/controller-gen" object paths=./api/...
  "$bin/controller-gen" crd paths=./api/crawl/... paths=./api/addons/... output:crd:dir=deploy/crds
  "$bin/controller-gen" rbac:roleName=fairlead output:rbac:dir=deploy/rbac \
    paths=./starter/... paths=./worker/... paths=./activities/... paths=./api/...
)

"$here/build.sh" controller-gen
if [ "${1:-}" != --check ]; then
  generate "$root"
  exit
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar -C "$root" --exclude=./.git --exclude=./.bin --exclude=./.fairlead -cf - . | tar -C "$copy" -xf -
generate "$copy"
stale=0
for dir in api deploy/crds deploy/rbac; do
  diff -ru "$root/$dir" "$copy/$dir" || stale=1
done
if [ $stale = 1 ]; then
  echo "generated files are stale, as shown: run make generate" >&2
  exit 1
fi
