#!/usr/bin/env bash
# A throwaway Debian in a directory, for checks on another release than this one. Needs root.
#   chroot.sh create DIR SUITE [PACKAGE...]   SUITE: bookworm, trixie, sid, ...; installs the packages as well
#   chroot.sh run DIR COMMAND...              runs a command as root in DIR/src; its processes and mounts end with it
#   chroot.sh remove DIR
# CHROOT_ARCH=i386: of another architecture that this processor runs
# CHROOT_SECURITY=no: without security updates, so the last point release with its older minor of PostgreSQL
# CHROOT_CACHE=DIR: keeps the bare system of each suite there for the next chroot
# CHROOT_MIRROR: http://deb.debian.org/debian
set -euo pipefail

mirror=${CHROOT_MIRROR:-http://deb.debian.org/debian}

die() {
  echo "$*" >&2
  exit 1
}

# Suites without security updates are still being made.
sources() {
  echo "deb $mirror $1 main"
  if [[ $1 =~ ^(bookworm|trixie)$ && ${CHROOT_SECURITY:-yes} != no ]]; then
    echo "deb $mirror-security $1-security main"
  fi
}

# debootstrap of an old release has no script for a new one. They all are that of sid.
bootstrap() {
  local suite=$1 root=$2 script=
  if [[ ! -e /usr/share/debootstrap/scripts/$suite ]]; then script=/usr/share/debootstrap/scripts/sid; fi
  debootstrap ${CHROOT_ARCH:+"--arch=$CHROOT_ARCH"} --variant=minbase "$suite" "$root" "$mirror" ${script:+"$script"}
}

bare_system() {
  local suite=$1 root=$2 cache=${CHROOT_CACHE:+$CHROOT_CACHE/$1${CHROOT_ARCH:+-$CHROOT_ARCH}.tar}
  if [[ -z $cache ]]; then
    bootstrap "$suite" "$root"
    return
  fi
  mkdir -p "$CHROOT_CACHE"
  if [[ ! -e $cache ]]; then
    rm -rf "$cache.new"
    bootstrap "$suite" "$cache.new"
    tar -C "$cache.new" -cf "$cache.tmp" .
    mv "$cache.tmp" "$cache"
    rm -rf "$cache.new"
  fi
  mkdir -p "$root"
  tar -C "$root" -xf "$cache"
}

chroot_create() {
  local root=$1 suite=$2
  shift 2
  [[ ! -e $root ]] || die "$root exists already"
  bare_system "$suite" "$root"
  sources "$suite" >"$root/etc/apt/sources.list"
  # Packages must not start servers. A mirror may be older than the time that its index is valid for; the signatures
  # are checked.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  cat >"$root/etc/apt/apt.conf.d/99throwaway" <<'END'
Acquire::Check-Valid-Until "false";
Acquire::Retries "3";
DPkg::Options { "--force-unsafe-io"; };
END
  mkdir -p "$root/src"
  chroot_run "$root" apt-get -qq update
  if (($#)); then
    chroot_run "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "$@"
  fi
}

# A namespace of its own for mounts and processes: nothing stays mounted or running, however the command ends.
chroot_run() {
  local root
  root=$(readlink -f "$1")
  shift
  [[ -d $root/src ]] || die "$root was not made by this script"
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
      ${http_proxy:+http_proxy="$http_proxy"} ${CI:+CI="$CI"} "$@"
  ' bash "$root" "$@"
}

chroot_remove() {
  [[ -e $1 ]] || return 0
  [[ -d $1/src && -d $1/etc/apt ]] || die "$1 was not made by this script"
  rm -rf --one-file-system "$1"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  if [[ ! ${1:-} =~ ^(create|run|remove)$ || -z ${2:-} || ($1 != remove && -z ${3:-}) ]]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
  fi
  ((EUID == 0)) || die "Only root can make and enter a chroot."
  command=$1
  shift
  "chroot_$command" "$@"
fi
