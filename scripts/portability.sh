#!/usr/bin/env bash
# Builds and tests with other compilers and for other processors, in throwaway Debians (chroot.sh). Needs root.
#   portability.sh compilers [COMPILER...]           the extension and core's unit tests, with the warnings of CI
#   portability.sh architectures [ARCHITECTURE...]   core's unit tests under qemu; i386: all SQL tests too, without qemu
# TESTS="base/* cdf/cdf_encoding_test": of the unit tests, only those of these files in test/unit, without those of
#   long_tests.txt, because qemu is slow. Architectures only.
# CROSS_RELEASE=bookworm: the Debian with the cross compilers; trixie by default. A mirror may lack packages of a release.
# Prints a table in Markdown. The last line counts the rows: "N passed, N failed". Logs are kept in .build/portability.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/chroot-work.sh
source scripts/chroot-work.sh

# compiler, Debian release, its PostgreSQL
compilers='
g++-12     bookworm 15
clang++-14 bookworm 15
clang++-16 bookworm 15
g++-13     trixie   17
g++-14     trixie   17
clang++-19 trixie   17
g++-15     sid      18
g++-16     sid      18
clang++-23 sid      18'
# architecture, prefix of its cross compiler, emulator
architectures='
i386    native                none
arm64   aarch64-linux-gnu     qemu-aarch64
armhf   arm-linux-gnueabihf   qemu-arm
ppc64el powerpc64le-linux-gnu qemu-ppc64le
riscv64 riscv64-linux-gnu     qemu-riscv64
s390x   s390x-linux-gnu       qemu-s390x'

declare -A systems=([bookworm]='Debian 12' [trixie]='Debian 13' [sid]='Debian unstable')
build_packages=(make libssl-dev libboost-dev libgtest-dev)
logs=.build/portability
jobs=-j$(nproc)
# Variables of make that choose the unit tests
chosen_tests=()
passed=0
failed=0

# Makes googletest with the compiler, in the directory /googletest/COMPILER. Each g++ links its own libstdc++, and that of an
# older one lacks what Debian's googletest needs.
make_googletest() {
  # shellcheck disable=SC2016 # the inner shell expands them
  chroot_run "$1" bash -ec '
    source=/usr/src/googletest/googletest
    mkdir -p "/googletest/$1"
    cd "/googletest/$1"
    "$1" -c -O1 -I "$source" -I "$source/include" "$source/src/gtest-all.cc" "$source/src/gtest_main.cc"
    ar rcs libgtest.a gtest-all.o
    ar rcs libgtest_main.a gtest_main.o
  ' bash "$2"
}

test_compiler() {
  local compiler=$1 release=$2 major=$3 root=$work/$2
  if [[ ! -e $root ]]; then
    chroot_create "$root" "$release" "${build_packages[@]}" g++ "postgresql-server-dev-$major"
  fi
  chroot_install "$root" "${compiler/clang++/clang}"
  make_googletest "$root" "$compiler"
  chroot_copy_tree "$root" "$compiler"
  chroot_run "$root" env CI=1 make -C "$compiler" "$jobs" CXX="$compiler" \
    GOOGLETEST="/googletest/$compiler/libgtest_main.a /googletest/$compiler/libgtest.a" all quick
  rm -rf "${root:?}/src/$compiler"
}

test_i386() {
  local root=$work/i386
  CHROOT_ARCH=i386 chroot_create "$root" bookworm "${build_packages[@]}" g++ sudo perl procps postgresql-15 \
    postgresql-server-dev-15
  chroot_copy_tree "$root" tree
  # shellcheck disable=SC2016 # the inner shell expands them
  chroot_run "$root" bash -ec '
    cd tree
    make CI=1 "$@" all quick
    make install
    scripts/cluster.sh start /tmp/cluster
    PGHOST=/tmp/cluster/socket PGPORT=5432 PGUSER=postgres make ISOLATION= installcheck
  ' bash "$jobs" "${chosen_tests[@]}"
}

test_under_emulator() {
  local name=$1 prefix=$2 emulator=$3 root=$work/cross
  if [[ ! -e $root ]]; then chroot_create "$root" "${CROSS_RELEASE:-trixie}" make libboost-dev qemu-user; fi
  chroot_run "$root" dpkg --add-architecture "$name"
  chroot_run "$root" apt-get -qq update
  chroot_install "$root" "g++-$prefix" "libssl-dev:$name" "libgtest-dev:$name" "libstdc++6:$name"
  chroot_copy_tree "$root" "$name"
  # The sanitizers would not run under qemu.
  chroot_run "$root" make -C "$name" "$jobs" CI=1 CXX="$prefix-g++" SANITIZERS='-O2 -g0' DEBUG_INFO=-g0 optimiser=-O1 LONG_TESTS= \
    RUNNER="$emulator" "${chosen_tests[@]}" unit
  rm -rf "${root:?}/src/$name"
}

test_architecture() { if [[ $1 == i386 ]]; then test_i386; else test_under_emulator "$@"; fi; }

# The following functions read $log. A test program runs in several parts, each of which prints its own sum.
unit_tests() { sed -n "s/^\[  $1  \] \([0-9]*\) tests*[.,].*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'; }

# The sum of pg_regress: the format before PostgreSQL 16 and the one since
sql_tests() {
  sed -nE 's/^[ #]*All ([0-9]+) tests passed.*/\1 passed/p; s/^[ #]*([0-9]+ of [0-9]+) tests failed.*/\1 failed/p' "$log" |
    grep . || echo –
}

compiler_cells() { echo "$1 | ${systems[$2]} | $3"; }
architecture_cells() { if [[ $3 == none ]]; then echo "$1 | native"; else echo "$1 | $3"; fi; }

# row NAME COLUMN...: a row of the table $kind
row() {
  local log=$logs/$1.log status=0 unit_passed unit_failed result=ok
  run_in_group "test_$kind" "$@" >"$log" 2>&1
  unit_passed=$(unit_tests PASSED)
  unit_failed=$(unit_tests FAILED)
  if ((status || unit_failed || !unit_passed)); then
    result=FAILED
    failed=$((failed + 1))
    tail -n 30 "$log" >&2
    # It may be half made. The next row makes another.
    chroot_remove_all "$work"
  else
    passed=$((passed + 1))
  fi
  printf '| %s | %s | %s passed, %s failed |' "$("${kind}_cells" "$@")" "$result" "$unit_passed" "$unit_failed"
  if [[ $kind == architecture ]]; then printf ' %s |' "$(sql_tests)"; fi
  echo
}

# The files of $TESTS, without the tests that take long
choose_tests() {
  local pattern patterns found files=() long
  read -ra patterns <<<"${TESTS:-}"
  for pattern in "${patterns[@]}"; do
    mapfile -t found < <(compgen -G "test/unit/$pattern.cpp")
    ((${#found[@]})) || die "TESTS: no file test/unit/$pattern.cpp"
    files+=("${found[@]}")
  done
  ((${#files[@]})) || return 0
  long=$(printf '%s\n' "${files[@]}" |
    awk 'NR == FNR { chosen[$1]; next } "test/unit/" $1 ".cpp" in chosen { print $2 }' - test/unit/long_tests.txt | paste -sd:)
  chosen_tests=(quick_sources="\$(sort ${files[*]})")
  if [[ -n $long ]]; then chosen_tests+=({unit,quick}_filter="'-$long'"); fi
}

usage() {
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

# Sets rows to the rows of $table that these names begin, by default to all.
choose_rows() {
  local known
  known=$(awk '{ print $1 }' <<<"$table" | xargs)
  require_known "$kind" "$known" "$@"
  mapfile -t rows < <(awk -v wanted=" ${*:-$known} " 'NF && index(wanted, " " $1 " ")' <<<"$table")
}

case ${1:-} in
  compilers)
    kind=compiler table=$compilers
    header=$'| compiler | system | PostgreSQL | result | unit tests |\n|---|---|---|---|---|'
    ;;
  architectures)
    kind=architecture table=$architectures
    choose_tests
    header=$'| architecture | how | result | unit tests | SQL tests |\n|---|---|---|---|---|'
    ;;
  *) usage ;;
esac
choose_rows "${@:2}"
require_root

mkdir -p "$logs"
begin_work portability

echo "$header"
for columns in "${rows[@]}"; do
  read -ra columns <<<"$columns"
  row "${columns[@]}"
done
echo
echo "$passed passed, $failed failed"
((passed && !failed))
