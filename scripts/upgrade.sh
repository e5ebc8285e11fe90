#!/usr/bin/env bash
# Upgrades PostgreSQL 15 with the last version of the extension to PostgreSQL 17 with this tree's, and checks that nothing
# spent is lost: test/upgrade/pg_upgrade.sh in a throwaway Debian 13 with PostgreSQL 15 of Debian 12. Needs root.
#   upgrade.sh [DIR]   DIR: where to make the chroot; by default a temporary directory
# The environment variables of chroot.sh apply. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The tree may belong to another user than root.
git_here() { git -c safe.directory="$PWD" "$@"; }

# The last commit of the last version. A tree without its history has none.
last_version() {
  local begun
  begun=$(git_here log -1 --format=%H -G'^default_version' -- dpquantile.control 2>/dev/null) || return 1
  git_here rev-parse -q --verify "$begun^" 2>/dev/null
}

((EUID == 0)) || { echo "Only root can make and enter a chroot." >&2 && exit 1; }
root=${1:-$(mktemp -u /var/tmp/dpquantile-upgrade-XXXXXX)}
trap 'scripts/chroot.sh remove "$root"' EXIT
echo "Making a Debian 13 with PostgreSQL 15 and 17 in $root"
scripts/chroot.sh create "$root" trixie ca-certificates g++ make libssl-dev libboost-dev \
  postgresql-17 postgresql-server-dev-17 postgresql-common >"$root.log" 2>&1 || { tail "$root.log" && exit 1; }
# What remains after an upgrade of Debian 12 to 13.
sed 's/trixie/bookworm/g' "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/bookworm.list"
{
  scripts/chroot.sh run "$root" apt-get -qq update &&
    scripts/chroot.sh run "$root" env DEBIAN_FRONTEND=noninteractive \
      apt-get -qq -y install --no-install-recommends postgresql-15 postgresql-server-dev-15
} >>"$root.log" 2>&1 || { tail "$root.log" && exit 1; }
rm "$root.log"

mkdir "$root/src/new" "$root/src/old"
tar --exclude=./{.git,.demo,.build,results,tmp_check,output_iso} --exclude='*.o' --exclude='*.so' --exclude='*.bc' \
  --exclude='*.d' -cf - . | tar -C "$root/src/new" -xf -
if last=$(last_version); then
  git_here archive "$last" | tar -C "$root/src/old" -xf -
else
  echo "This tree has no history: the old cluster gets the extension of this tree, too."
  cp -a "$root/src/new/." "$root/src/old/"
fi
scripts/chroot.sh run "$root" new/test/upgrade/pg_upgrade.sh /src/old /src/new
