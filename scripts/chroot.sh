#!/usr/bin/env bash
# A throwaway Debian in a directory, for checks on another release than this one. Needs root. Installs debootstrap if it is
# missing.
#   chroot.sh create DIR RELEASE [PACKAGE...]   RELEASE: bookworm, trixie, sid, ...; installs the packages as well
#   chroot.sh run DIR COMMAND...                runs a command as root in DIR/src; its processes and mounts end with it
#   chroot.sh remove DIR
# CHROOT_ARCH=i386: of another architecture that this processor runs
# CHROOT_SECURITY=no: without security updates, so the last point release with its older minor of PostgreSQL
# CHROOT_MIRROR: http://deb.debian.org/debian; security updates come from the same address with -security at its end
# CHROOT_CACHE=DIR: keeps the bare system of each release there for the next chroot
# CHROOT_DIRECTORY=DIR: where other scripts make their chroots, by default /var/tmp; each takes up to 4 GB
set -euo pipefail

chroot_tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/errors.sh
source "$chroot_tree/scripts/errors.sh"
mirror=${CHROOT_MIRROR:-http://deb.debian.org/debian}
# Only a directory with this file is entered or removed.
marker=.dpquantile-throwaway

require_root() { ((EUID == 0)) || die "Only root can make and enter a chroot."; }

# chroot_directory NAME: makes a directory for a script's chroots.
chroot_directory() { mktemp -d "${CHROOT_DIRECTORY:-/var/tmp}/dpquantile-$1-XXXXXX"; }

require_marker() { [[ -e $1/$marker ]] || die "$1 was not made by scripts/chroot.sh"; }

# Only stable releases have security updates.
sources() {
  echo "deb $mirror $1 main"
  if [[ $1 =~ ^(bookworm|trixie)$ && ${CHROOT_SECURITY:-yes} != no ]]; then
    echo "deb $mirror-security $1-security main"
  fi
}

# debootstrap of an old release has no script for a new one. They all are that of sid.
bootstrap() {
  local release=$1 root=$2 script=
  command -v debootstrap >/dev/null || "$chroot_tree/scripts/install-deps.sh" chroot
  if [[ ! -e /usr/share/debootstrap/scripts/$release ]]; then script=/usr/share/debootstrap/scripts/sid; fi
  debootstrap ${CHROOT_ARCH:+"--arch=$CHROOT_ARCH"} --variant=minbase "$release" "$root" "$mirror" ${script:+"$script"}
}

# Several scripts may fill the cache: the file gets its name when it is complete. A script that is killed leaves the incomplete
# file, and the next one overwrites it.
keep_in_cache() {
  mkdir -p "$CHROOT_CACHE"
  # shellcheck disable=SC2016 # the inner shell expands them
  flock "$CHROOT_CACHE" sh -ec 'tar -C "$1" -cf "$2.new" . && mv "$2.new" "$2"' sh "$@"
}

bare_system() {
  local release=$1 root=$2 cache=${CHROOT_CACHE:+$CHROOT_CACHE/$1${CHROOT_ARCH:+-$CHROOT_ARCH}.tar}
  if [[ -n $cache && -e $cache ]]; then
    tar -C "$root" -xf "$cache"
  else
    bootstrap "$release" "$root"
    if [[ -n $cache ]]; then keep_in_cache "$root" "$cache"; fi
  fi
}

configure_apt() {
  local root=$1 release=$2
  sources "$release" >"$root/etc/apt/sources.list"
  # Packages must not start servers. A mirror may be older than the time that its index is valid for; the signatures
  # are checked.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  cat >"$root/etc/apt/apt.conf.d/99throwaway" <<'CONFIGURATION'
Acquire::Check-Valid-Until "false";
Acquire::Retries "3";
DPkg::Options { "--force-unsafe-io"; };
CONFIGURATION
}

chroot_create() {
  local root=$1 release=$2
  mkdir -p "$(dirname "$root")"
  mkdir "$root" || die "A chroot needs a new directory."
  touch "$root/$marker"
  bare_system "$release" "$root"
  configure_apt "$root" "$release"
  mkdir -p "$root/src"
  chroot_run "$root" apt-get -qq update
  # A bare system has no security updates, and one from the cache may be old.
  chroot_run "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y dist-upgrade
  if (($# > 2)); then chroot_install "$root" "${@:3}"; fi
}

# chroot_install DIR PACKAGE...
chroot_install() {
  chroot_run "$1" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${@:2}"
}

# chroot_copy_tree DIR NAME: copies this tree to DIR/src/NAME.
chroot_copy_tree() {
  require_marker "$1"
  mkdir "$1/src/$2"
  "$chroot_tree/scripts/pack-tree.sh" | tar -C "$1/src/$2" --no-same-owner -xf -
}

# A namespace of its own for mounts and processes: nothing stays mounted or running, however the command ends.
chroot_run() {
  local root
  root=$(readlink -f "$1")
  shift
  require_marker "$root"
  if [[ -e /etc/resolv.conf ]]; then cp -L /etc/resolv.conf "$root/etc/resolv.conf"; fi
  # shellcheck disable=SC2016 # the inner shell expands them
  unshare --mount --pid --fork --kill-child --propagation private bash -c '
    root=$1
    shift
    # So that "/" is a mount in the chroot, as this script needs it to be if it runs there.
    mount --bind "$root" "$root" || exit 125
    mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 125
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" || exit 125
    exec chroot "$root" env -i -C /src HOME=/root USER=root LOGNAME=root LANG=C.UTF-8 LC_ALL=C.UTF-8 \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} ${CI:+CI="$CI"} "$@"
  ' bash "$root" "$@"
}

chroot_remove() {
  [[ -e $1 ]] || return 0
  require_marker "$1"
  rm -rf --one-file-system "$1"
}

# chroot_remove_all DIR: removes the chroots in a directory.
chroot_remove_all() {
  local root
  for root in "$1"/*/; do
    if [[ -d $root ]]; then chroot_remove "${root%/}"; fi
  done
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  if [[ ! ${1:-} =~ ^(create|run|remove)$ || -z ${2:-} || ($1 != remove && -z ${3:-}) ]]; then
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
  fi
  require_root
  command=$1
  shift
  "chroot_$command" "$@"
fi
