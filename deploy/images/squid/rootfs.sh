#!/bin/bash
# rootfs.sh OUT.tar: Debian's squid and the libraries it needs, unpacked without
# maintainer scripts (no perl, no dpkg inside), from the machine's own sources.
set -euo pipefail
out=$(realpath -m "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

sources=$(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2> /dev/null | head -n 1 || true)
[ -n "$sources" ] || { echo "no Debian package sources in /etc/apt" >&2; exit 1; }
mmdebstrap --quiet --mode=root --variant=extract --format=directory \
  --include=squid,base-files,netbase,ca-certificates,dash \
  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
  --aptopt='APT::Install-Recommends "false"' \
  bookworm "$root" "$sources"

cd "$root"
rm -rf usr/share/{doc,man,locale,perl,perl5,bug,lintian} var/lib/{apt,dpkg} var/cache/* \
  usr/bin/perl* usr/lib/*-linux-gnu/perl* usr/lib/*-linux-gnu/libperl*
cat > etc/passwd <<'PASSWD'
root:x:0:0:root:/root:/bin/sh
proxy:x:13:13:proxy:/bin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
PASSWD
cat > etc/group <<'GROUP'
root:x:0:
proxy:x:13:
nogroup:x:65534:
GROUP
cat usr/share/ca-certificates/mozilla/*.crt > etc/ssl/certs/ca-certificates.crt
mkdir -p var/spool/squid var/log/squid run tmp proc sys dev
chmod 1777 tmp
chown 13:13 var/spool/squid var/log/squid
ldconfig -r "$root"
chroot "$root" /usr/sbin/squid -v | sed -n 1p # proves that every library is there
tar --sort=name --mtime=@0 --numeric-owner -cf "$out" .
