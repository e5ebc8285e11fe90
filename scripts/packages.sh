#!/usr/bin/env bash
# Builds what dpquantile is distributed as from the last commit, and tests it in throwaway chroots. Needs root and git.
#   packages.sh [RELEASE...]  Debian releases, bookworm trixie sid by default: each gets the package for its PostgreSQL.
#                             The distribution for PGXN is tested in the first.
# The packages are left in ./packages. A table tells how it went, and the last line is "N passed, N failed".
# scripts/chroot.sh lists the variables for the chroots.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/chroot-work.sh
source "$tree/scripts/chroot-work.sh"
require_root

version=$("$tree/scripts/version.sh")
name=dpquantile-$version
output=$tree/packages
needs=(build-essential libboost-dev libssl-dev postgresql-all postgresql-server-dev-all)
all_releases=(bookworm trixie sid)
releases=("$@")
if ((!${#releases[@]})); then releases=("${all_releases[@]}"); fi
require_known release "${all_releases[*]}" "${releases[@]}"

begin_work packages
passed=0
failed=0

# step NAME FUNCTION: one line of the table. The function's output is in ./packages/RELEASE. $ok tells whether it passed.
step() {
  local log=$output/$release/$1.log start=$SECONDS status
  run_in_group "$2" >"$log" 2>&1
  if ((status)); then
    ok=false
    failed=$((failed + 1))
    tail -n 40 "$log"
  else
    ok=true
    passed=$((passed + 1))
  fi
  printf '%-10s%-14s%s, %d s\n' "$release" "$1" "$(if $ok; then echo passed; else echo failed; fi)" $((SECONDS - start))
}

# The source package's two parts as a tree in a chroot: $2 is the tree's path there.
unpack() {
  mkdir -p "$1$(dirname "$2")"
  git_here archive --prefix="$(basename "$2")/" HEAD | tar -C "$1$(dirname "$2")" -xf -
  git_here archive --format=tar.gz --prefix="$name/" -o "$1$(dirname "$2")/dpquantile_$version.orig.tar.gz" HEAD
  chroot_run "$1" env -C "$2" pg_buildext updatecontrol
}

# dpkg_build CHROOT TREE [COMMAND...]: the command runs dpkg-buildpackage.
dpkg_build() {
  local root=$1 source=$2
  shift 2
  unpack "$root" "$source"
  chroot_run "$root" env -C "$source" DEB_BUILD_OPTIONS="parallel=$(nproc)${checks:+ $checks}" "$@" \
    dpkg-buildpackage --unsigned-source --unsigned-changes
}

build() {
  chroot_create "$build" "$release" "${needs[@]}" debhelper fakeroot lintian
  dpkg_build "$build" "/src/first/$name"
  cp "$build"/src/first/*.{deb,dsc,tar.gz,tar.xz,changes,buildinfo} "$output/$release/"
}

# A build elsewhere, at another time and under another locale makes the same packages.
rebuild() {
  local checks=nocheck package
  dpkg_build "$build" /src/second/path/of/another/length LC_ALL=C TZ=Pacific/Kiritimati
  for package in "$build"/src/first/*.deb; do
    cmp "$package" "$build/src/second/path/of/another/length/../$(basename "$package")"
  done
}

# These tags of lintian do not apply: the package is not uploaded to Debian, the sources have no public address, and
# /usr/lib/postgresql/NN/lib is PostgreSQL's.
not_applicable='initial-upload-closes-no-bugs|debian-watch-file-is-missing|no-homepage-field'
not_applicable+='|upstream-metadata-file-is-missing|repeated-path-segment'
# One source is for several releases, and keeps to what the oldest of them knows.
not_applicable+='|newer-standards-version|out-of-date-standards-version|package-uses-old-debhelper-compat-version'
not_applicable+='|redundant-priority-optional-field|redundant-rules-requires-root-no-field'
# The library calls no function of libc with a checked form but memcpy and memmove, which lintian does not count; nm shows __memcpy_chk.
# It also finds words in machine code.
not_applicable+='|hardening-no-fortify-functions|spelling-error-in-binary'

# The lintian of some releases does not know all of these tags, so it cannot be told to suppress them.
lint() {
  local tags
  tags=$(chroot_run "$build" sh -c 'lintian --allow-root --display-info --pedantic --fail-on none /src/first/*.changes')
  echo "$tags"
  if grep -vE "^N:|^$|: ($not_applicable)( |$)" <<<"$tags"; then return 1; fi
}

# The package is installed in a Debian that has nothing else for PostgreSQL. It needs the minor release of its headers.
install_package() {
  chroot_create "$clean" "$release" ca-certificates
  cp "$output/$release"/postgresql-*-dpquantile_*.deb "$clean/src/"
  chroot_run "$clean" sh -c 'dpkg-deb --field /src/*.deb Depends' | grep -E 'postgresql-[0-9]+ \(>[>=] [0-9]+\.[0-9]+\)'
  chroot_run "$clean" sh -c 'apt-get -qq -y install --no-install-recommends /src/*.deb'
  chroot_run "$clean" pg_virtualenv psql -X -v ON_ERROR_STOP=1 -c "CREATE EXTENSION dpquantile" \
    -c "SELECT dp_grant_budget('postgres', 1)" -c "SELECT dp_median(i, 1, 0, 100) FROM generate_series(1, 100) AS i"
}

autopkgtests() {
  chroot_install "$clean" autopkgtest
  cp -a "$build/src/first/$name" "$clean/src/$name"
  chroot_run "$clean" sh -c "autopkgtest /src/*.deb /src/$name -- null"
}

# Installs and tests what make dist packs, as its users do.
pgxn() {
  chroot_create "$pgxn" "$release" "${needs[@]}" pgxnclient
  make -C "$tree" dist
  cp "$tree/$name.zip" "$pgxn/src/"
  mv "$tree/$name.zip" "$output/"
  chroot_run "$pgxn" pgxn install --yes "/src/$name.zip"
  chroot_run "$pgxn" pg_virtualenv pgxn check --yes "/src/$name.zip"
}

for release in "${releases[@]}"; do
  build=$work/$release-build clean=$work/$release-clean pgxn=$work/$release-pgxn
  rm -rf "${output:?}/$release"
  mkdir -p "$output/$release"
  step build build
  if $ok; then
    step lintian lint
    step install install_package
    if $ok; then step autopkgtest autopkgtests; fi
    step reproducible rebuild
  fi
  if [[ $release == "${releases[0]}" ]]; then step pgxn pgxn; fi
  chroot_remove_all "$work"
done

echo "$passed passed, $failed failed"
((passed && !failed))
