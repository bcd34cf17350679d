#!/bin/bash
# build.sh NAME...: builds the named tools into .bin/ (BIN=DIR: into another
# directory), those that are missing or stale. build.sh --list prints the names.
#
# A tool is stale when its key changed: a hash of its module's go.mod, go.sum and
# own sources, this script and the Go version. The keys are in .bin/.stamps/.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../..")
bin=$(realpath -m "${BIN:-$root/.bin}")
stamps=$bin/.stamps
# The flags are part of the build cache's key: one value everywhere.
export GOWORK=off CGO_ENABLED=0 GOFLAGS='-mod=readonly -trimpath -buildvcs=false'

# NAME | MODULE | PACKAGE | SECONDS of a cold build on two idle cores
tools='
etcd                    | deploy/tools/kubernetes | go.etcd.io/etcd/server/v3                        | 60
kube-apiserver          | deploy/tools/kubernetes | k8s.io/kubernetes/cmd/kube-apiserver             | 240
kubectl                 | deploy/tools/kubernetes | k8s.io/kubernetes/cmd/kubectl                    | 40
kubelet                 | deploy/tools/kubernetes | k8s.io/kubernetes/cmd/kubelet                    | 60
kube-controller-manager | deploy/tools/kubernetes | k8s.io/kubernetes/cmd/kube-controller-manager    | 60
kube-scheduler          | deploy/tools/kubernetes | k8s.io/kubernetes/cmd/kube-scheduler             | 20
kube-proxy              | deploy/tools/kubernetes | k8s.io/kubernetes/cmd/kube-proxy                 | 20
temporal-devserver      | temporal/devserver      | .                                                | 400
golangci-lint           | deploy/tools/lint       | github.com/golangci/golangci-lint/v2/cmd/golangci-lint | 90
controller-gen          | deploy/tools/generate   | sigs.k8s.io/controller-tools/cmd/controller-gen  | 60
workflowcheck           | deploy/tools/generate   | go.temporal.io/sdk/contrib/tools/workflowcheck   | 15
helm                    | deploy/tools/helm       | helm.sh/helm/v3/cmd/helm                         | 60
'

names() { awk -F' *[|] *' 'NF { print $1 }' <<< "$tools"; }

# field NAME N: a column of the table.
field() { awk -F' *[|] *' -v name="$1" -v n="$2" '$1 == name { print $n }' <<< "$tools"; }

# key NAME: what the tool is made from, as a hash.
key() {
  local module
  module=$root/$(field "$1" 2)
  {
    go -C "$module" version
    go env GOOS GOARCH
    cat "$here/build.sh" "$module/go.mod" "$module/go.sum"
    find "$module" -name '*.go' ! -name '*_test.go' -print0 | sort -z | xargs -0 -r cat
  } | sha256sum | cut -d' ' -f1
}

fresh() { [ -x "$bin/$1" ] && [ "$(cat "$stamps/$1" 2> /dev/null)" = "$(key "$1")" ]; }

# stale NAME...: those of the names that must be built.
stale() {
  local name
  for name in "$@"; do fresh "$name" || echo "$name"; done
}

# ldflags MODULE: without them the Kubernetes programs call themselves v0.0.0-master,
# and Helm is not the one of a release: its charts are told of Kubernetes 1.20.
ldflags() {
  local flags='-s -w' version package
  if [ "$1" = deploy/tools/kubernetes ]; then
    version=$(go -C "$root/$1" list -m -f '{{.Version}}' k8s.io/kubernetes)
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      flags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<< "$version")"
      flags+=" -X $package.gitTreeState=clean -X $package.gitCommit=unknown -X $package.buildDate=1970-01-01T00:00:00Z"
    done
  fi
  if [ "$1" = deploy/tools/helm ]; then
    flags+=" -X helm.sh/helm/v3/internal/version.version=$(go -C "$root/$1" list -m -f '{{.Version}}' helm.sh/helm/v3)"
    version=$(go -C "$root/$1" list -m -f '{{.Version}}' k8s.io/client-go)
    flags+=" -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$(cut -d. -f2 <<< "$version")"
  fi
  echo "$flags"
}

# built_as NAME: the file name that go build gives it.
built_as() {
  local package
  package=$(field "$1" 3)
  [ "$package" != . ] || package=$(field "$1" 2)
  sed -E 's|/v[0-9]+$||; s|.*/||' <<< "$package"
}

# duration SECONDS: in words.
duration() { if [ "$1" -lt 90 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

# tell_time: a sign of life while the compiler says nothing. It leaves no sleep
# behind, which would hold the lock and the output.
tell_time() {
  local seconds=0
  trap 'kill "$!"; exit' TERM
  while true; do
    sleep 30 &
    wait "$!"
    seconds=$((seconds + 30))
    echo "  still building after $(duration $seconds)"
  done
}

# compile MODULE NAME...: in one go, since they share most packages.
compile() {
  local module=$1 name packages=() cold=0 started=$SECONDS ticker code=0
  shift
  for name in "$@"; do
    packages+=("$(field "$name" 3)")
    cold=$((cold + $(field "$name" 4)))
  done
  echo "building $* (cold about $(duration $cold) on 2 cores, once) ..."
  tell_time 9>&- &
  ticker=$!
  go -C "$root/$module" build -ldflags "$(ldflags "$module")" -o "$work/" "${packages[@]}" > "$work/log" 2>&1 || code=$?
  kill "$ticker" 2> /dev/null || true
  wait "$ticker" 2> /dev/null || true
  if [ $code != 0 ]; then
    grep -v '^go: downloading' "$work/log" | tail -n 30 >&2 || true
    echo "building $* failed; what was in $bin before is still there" >&2
    exit 1
  fi
  for name in "$@"; do
    mv "$work/$(built_as "$name")" "$bin/$name"
    key "$name" > "$stamps/$name"
  done
  echo "built $* in $((SECONDS - started)) s"
}

if [ "${1:-}" = --list ]; then
  names
  exit
fi
for name in "$@"; do
  names | grep -qxF -e "$name" || { echo "build.sh: no tool is called $name; there are:" $(names) >&2; exit 2; }
done
[ -n "$(stale "$@")" ] || exit 0

mkdir -p "$stamps"
exec 9> "$stamps/lock"
flock -n 9 || { echo "waiting for another build into $bin ..."; flock 9; }
work=$(mktemp -d "$stamps/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
for module in $(for name in "$@"; do field "$name" 2; done | sort -u); do
  group=$(for name in $(stale "$@"); do [ "$(field "$name" 2)" != "$module" ] || echo "$name"; done)
  # shellcheck disable=SC2086 # one word each
  [ -z "$group" ] || compile "$module" $group
done
