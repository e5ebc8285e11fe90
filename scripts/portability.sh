#!/usr/bin/env bash
# Builds and tests with other compilers and for other processors, in throwaway Debians (chroot.sh). Needs root.
#   portability.sh compilers [COMPILER...]           the extension and core's unit tests, with the warnings of CI
#   portability.sh architectures [ARCHITECTURE...]   core's unit tests under qemu; i386: all SQL tests too, without qemu
# Prints a line for each. Logs are kept in .build/portability.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/chroot.sh
source scripts/chroot.sh

# compiler, Debian, its PostgreSQL
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

logs=.build/portability
failures=0
jobs=-j${JOBS:-$(nproc)}

rows_of() {
  local table=$1 name
  shift
  if ((!$#)); then
    sed '/^$/d' <<<"$table"
    return
  fi
  for name in "$@"; do
    grep -F "$name " <<<"$table" || die "There is no $name. There are: $(awk '{print $1}' <<<"$table" | xargs)"
  done
}

# $1: a chroot, $2: the name of a fresh copy of the tree in it
copy_tree() {
  rm -rf "${1:?}/src/$2"
  mkdir "$1/src/$2"
  git ls-files -z | tar --null -T - -c | tar -x -C "$1/src/$2"
}

# The number of tests in the output of several parts of a test program.
tests() {
  sed -n "s/^\[  $1  \] \([0-9]*\) tests*[.,].*/\1/p" "$2" | awk '{n += $1} END {print n + 0}'
}

# The output of pg_regress.
sql_tests() {
  sed -n 's/^# \(All [0-9]* tests passed\).*/SQL: \1/p; s/^ *\(All [0-9]* tests passed\).*/SQL: \1/p' "$1"
  sed -n 's/^#* *\([0-9]* of [0-9]* tests failed\).*/SQL: \1/p' "$1"
}

# $1: name, $2: where, $3: log, $4: exit status
report_line() {
  local result=ok
  if (($4)); then
    result=FAILED
    failures=$((failures + 1))
  fi
  printf '%-11s %-22s %-6s unit tests: %s passed, %s failed' "$1" "$2" "$result" "$(tests PASSED "$3")" "$(tests FAILED "$3")"
  sql_tests "$3" | while read -r line; do printf '; %s' "$line"; done
  echo
}

# $1: name, $2: where, then a command; its output goes to the log.
run_and_report() {
  local name=$1 where=$2 log=$logs/$1.log status=0
  shift 2
  "$@" >"$log" 2>&1 || status=$?
  report_line "$name" "$where" "$log" "$status"
}

build_packages=(make libssl-dev libboost-dev libgtest-dev)

test_compiler() {
  local compiler=$1 suite=$2 major=$3 root=$work/$2 package=${1/clang++/clang}
  if [[ ! -e $root ]]; then
    chroot_create "$root" "$suite" "${build_packages[@]}" g++ "postgresql-server-dev-$major" >"$logs/$suite.log" 2>&1
  fi
  chroot_run "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "$package" \
    >>"$logs/$suite.log" 2>&1
  copy_tree "$root" "$compiler"
  run_and_report "$compiler" "$suite, PostgreSQL $major" \
    chroot_run "$root" env CI=1 make -C "$compiler" "$jobs" with_llvm=no CXX="$compiler" all quick
  rm -rf "${root:?}/src/$compiler"
}

cross_packages() {
  awk '$3 != "none" {print "g++-" $2}' <<<"$architectures"
}

make_cross_chroot() {
  local root=$1 packages
  mapfile -t packages < <(cross_packages)
  chroot_create "$root" trixie make libboost-dev qemu-user "${packages[@]}"
}

test_i386() {
  local root=$work/i386
  CHROOT_ARCH=i386 chroot_create "$root" bookworm "${build_packages[@]}" g++ sudo perl procps postgresql-15 \
    postgresql-server-dev-15 >"$logs/i386-chroot.log" 2>&1
  copy_tree "$root" tree
  # shellcheck disable=SC2016 # the inner shell expands them
  run_and_report i386 'native, PostgreSQL 15' chroot_run "$root" bash -ec '
    cd tree
    make CI=1 "$1" with_llvm=no all quick
    make with_llvm=no install
    scripts/cluster.sh start /tmp/cluster
    PGHOST=/tmp/cluster/socket PGPORT=5432 PGUSER=postgres make with_llvm=no ISOLATION= installcheck
  ' bash "$jobs"
}

test_architecture() {
  local name=$1 prefix=$2 emulator=$3 root=$work/cross
  if [[ $name == i386 ]]; then
    test_i386
    return
  fi
  if [[ ! -e $root ]]; then make_cross_chroot "$root" >"$logs/cross.log" 2>&1; fi
  # shellcheck disable=SC2016 # the inner shell expands them
  chroot_run "$root" bash -ec 'dpkg --add-architecture "$1"; apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "libssl-dev:$1" "libgtest-dev:$1"' \
    bash "$name" >>"$logs/cross.log" 2>&1
  copy_tree "$root" "$name"
  # The sanitizers would not run under qemu.
  run_and_report "$name" "$emulator" chroot_run "$root" make -C "$name" "$jobs" CI=1 CXX="$prefix-g++" SANITIZERS=-O2 \
    TEST_SANITIZERS=-O1 RUNNER="$emulator" unit
  rm -rf "${root:?}/src/$name"
}

case ${1:-} in
  compilers) table=$compilers test=test_compiler ;;
  architectures) table=$architectures test=test_architecture ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
shift
((EUID == 0)) || die "Only root can make and enter a chroot."
rows=$(rows_of "$table" "$@")
mkdir -p "$logs"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/dpquantile-portability-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
while read -r -u 3 name second third; do
  "$test" "$name" "$second" "$third"
done 3<<<"$rows"
((!failures))
