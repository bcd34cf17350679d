#!/bin/bash
# archive.sh NAME:TAG ROOTFS.tar OUT.tar CONFIG: packs a file system as an image
# of one layer that `ctr images import` and `docker load` read. CONFIG is the
# image's "config" object.
set -euo pipefail
name=$1 rootfs=$2 out=$(realpath -m "$3") config=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$rootfs" "$work/layer.tar"
layer=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
arch=$(go env GOARCH)
printf '{"architecture":"%s","os":"linux","created":"1970-01-01T00:00:00Z","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"1970-01-01T00:00:00Z","created_by":"archive.sh"}]}' \
  "$arch" "$config" "$layer" > "$work/config"
digest=$(sha256sum "$work/config" | cut -d' ' -f1)
mv "$work/config" "$work/$digest.json"
printf '[{"Config":"%s.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$digest" "$name" > "$work/manifest.json"
tar -C "$work" --sort=name --mtime=@0 --owner=0 --group=0 -cf "$out.tmp" manifest.json "$digest.json" layer.tar
mv "$out.tmp" "$out"
