#!/bin/bash
# build.sh OUT_DIR: builds the container images of the one-node cluster, without
# a registry, as OUT_DIR/images/{pause,squid}.tar. An image whose inputs did not
# change is left alone.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
out=$(realpath -m "$1")/images
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# key FILE...: a hash of what an image is made from.
key() { { go env GOVERSION GOARCH; cat "$@"; } | sha256sum | cut -d' ' -f1; }

# fresh NAME KEY: whether the image was made from the same inputs.
fresh() { [ -f "$out/$1.tar" ] && [ "$(cat "$out/$1.key" 2>/dev/null)" = "$2" ]; }

pause() {
  local k
  k=$(key "$here/build.sh" "$here/archive.sh" "$here/pause/main.go")
  fresh pause "$k" && return
  echo "building image pause"
  CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$work/root/pause" "$here/pause/main.go"
  tar -C "$work/root" --sort=name --mtime=@0 --owner=0 --group=0 -cf "$work/pause.tar" pause
  "$here/archive.sh" localhost/pause:dev "$work/pause.tar" "$out/pause.tar" '{"Entrypoint":["/pause"]}'
  echo "$k" > "$out/pause.key"
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
  echo "$k" > "$out/squid.key"
}

pause
squid
