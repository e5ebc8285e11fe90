#!/usr/bin/env bash
# Upgrades PostgreSQL 15 with the last version of the extension to PostgreSQL 17 with this tree's, and checks that nothing
# spent is lost: test/upgrade/pg_upgrade.sh in a throwaway Debian 13 with PostgreSQL 15 of Debian 12. Needs root.
# The last version is built from this tree's history, if src/sql/updates has a step from it to this one. Else this version is the old one,
# and the new one is made up by test/upgrade/next_version.pl. scripts/chroot.sh lists the variables for the chroot. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/chroot-work.sh
source scripts/chroot-work.sh
require_root

# The last commit of the last version. A tree without its history has none, nor has a shallow clone.
last_version() {
  local begun
  begun=$(git_here log -1 --format=%H -G'^default_version' -- dpquantile.control 2>/dev/null) || return 1
  git_here rev-parse -q --verify "$begun^" 2>/dev/null
}

last=
if compgen -G "src/sql/updates/*--$(scripts/version.sh).sql" >/dev/null; then
  last=$(last_version) || die "This tree lacks the history with the last version: clone the whole of it."
fi

begin_work upgrade
root=$work/root
log=$work/log

# Like a Debian 12 that was upgraded to 13
make_system() {
  chroot_create "$root" trixie ca-certificates g++ make libssl-dev libboost-dev \
    postgresql-17 postgresql-server-dev-17 postgresql-common
  sed 's/trixie/bookworm/g' "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/bookworm.list"
  chroot_run "$root" apt-get -qq update
  chroot_install "$root" postgresql-15 postgresql-server-dev-15
}

copy_trees() {
  chroot_copy_tree "$root" new
  if [[ -n $last ]]; then
    mkdir "$root/src/old"
    git_here archive "$last" | tar -C "$root/src/old" -xf -
  else
    cp -a "$root/src/new" "$root/src/old"
    echo "The new version is made up: $(perl test/upgrade/next_version.pl "$root/src/new")"
  fi
}

echo "Making a Debian 13 with PostgreSQL 15 and 17 in $root"
run_in_group make_system >"$log" 2>&1
if ((status)); then
  tail -n 30 "$log"
  exit 1
fi
copy_trees
run_in_group chroot_run "$root" new/test/upgrade/pg_upgrade.sh /src/old /src/new
((!status))
