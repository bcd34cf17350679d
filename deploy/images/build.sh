#!/bin/bash
# build.sh: builds the container images of the one-node cluster, without a
# registry, as .bin/images/{pause,squid}.tar (BIN=DIR: into another directory).
#
# An image whose key did not change is left alone: a hash of the scripts and
# sources it is made from, and of the Go version. The keys are in .bin/.stamps/.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=$(realpath -m "${BIN:-$here/../../.bin}")
out=$bin/images
stamps=$bin/.stamps
mkdir -p "$out" "$stamps"
exec 9> "$stamps/images.lock"
flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# key FILE...: a hash of what an image is made from.
key() { { go env GOVERSION GOARCH; cat "$@"; } | sha256sum | cut -d' ' -f1; }

# fresh NAME KEY: whether the image was made from the same inputs.
fresh() { [ -f "$out/$1.tar" ] && [ "$(cat "$stamps/image-$1" 2> /dev/null)" = "$2" ]; }

pause() {
  local k
  k=$(key "$here/build.sh" "$here/archive.sh" "$here/pause/main.go")
  fresh pause "$k" && return
  echo "building image pause"
  CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$work/root/pause" "$here/pause/main.go"
  tar -C "$work/root" --sort=name --mtime=@0 --owner=0 --group=0 -cf "$work/pause.tar" pause
  "$here/archive.sh" localhost/pause:dev "$work/pause.tar" "$out/pause.tar" '{"Entrypoint":["/pause"]}'
  echo "$k" > "$stamps/image-pause"
}

squid() {
  local k
  k=$(key "$here/build.sh" "$here/archive.sh" "$here/squid/rootfs.sh")
  fresh squid "$k" && return
  echo "building image squid (Debian packages, about 20 s)"
  command -v mmdebstrap > /dev/null || { echo "mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }
  "$here/squid/rootfs.sh" "$work/squid.tar"
  "$here/archive.sh" localhost/squid:dev "$work/squid.tar" "$out/squid.tar" \
    '{"User":"13:13","Entrypoint":["/usr/sbin/squid"],"Cmd":["-N","-f","/etc/squid/squid.conf"]}'
  echo "$k" > "$stamps/image-squid"
}

pause
squid
