#!/usr/bin/env bash
# Tests this tree on other systems and versions of PostgreSQL: runs make test on bare Debians in throwaway chroots, one
# after the other, and prints a table. The last line is "N passed, N failed". Needs root.
#   ROWS="13 sid"           the rows to run; all by default
#   SUITES="build regress"  the suites of each row (scripts/test.sh); all by default
#   POSTGRES_16_SOURCE      the source tree or tar file of PostgreSQL 16 for row 16, which no Debian has. Without it the
#                           row takes the packages of apt.postgresql.org.
#   MATRIX_DIRECTORY        where the chroots are made; each takes up to 4 GB for a while (default /var/tmp)
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/chroot.sh
source "$tree/scripts/chroot.sh"

((EUID == 0)) || die "Only root can make and enter a chroot."

"$tree/scripts/install-deps.sh" matrix
work=$(mktemp -d "${MATRIX_DIRECTORY:-/var/tmp}/dpquantile-matrix-XXXXXX")
no_server=99
columns=(build install rooms versions format regress isolation regress-preloaded isolation-preloaded tap clients tap-preloaded unit privacy)
root=$work/root
logs=$work/logs
mkdir "$logs"
table=$logs/table
process_group=
all_passed=0
all_failed=0

cleanup() {
  trap '' INT TERM HUP
  if [[ -n $process_group ]]; then kill -s KILL -- "-$process_group" 2>/dev/null || true; fi
  rm -rf --one-file-system "$root"
  if ((all_failed)); then echo "The logs are in $logs"; else rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# run_suites [VARIABLE=VALUE...]: runs the suites in the chroot as a newcomer would. They take their packages themselves.
run_suites() {
  mkdir "$root/src/dpquantile"
  "$tree/scripts/pack-tree.sh" | tar -C "$root/src/dpquantile" --no-same-owner -xf -
  chroot_run "$root" env SUITES="${SUITES:-}" SUITE_TIMEOUT="${SUITE_TIMEOUT:-}" "$@" make -C dpquantile test
}

test_debian() {
  chroot_create "$root" "$1" make
  run_suites
}

# The last point release, with its older minor of PostgreSQL
test_debian_without_updates() { CHROOT_SECURITY=no test_debian "$1"; }

test_16() {
  if [[ -n ${POSTGRES_16_SOURCE:-} ]]; then test_16_from_source; else test_16_from_packages; fi
}

# The server does not run as root.
test_16_from_source() {
  chroot_create "$root" bookworm make gcc perl bison flex pkg-config libicu-dev libipc-run-perl liblz4-dev libreadline-dev \
    libssl-dev libxml2-dev libzstd-dev zlib1g-dev
  mkdir "$root/src/postgresql"
  unpack_source "$POSTGRES_16_SOURCE" | tar -C "$root/src/postgresql" --no-same-owner -xf -
  chroot_run "$root" useradd --system --create-home postgres
  # Products of the user's own build may be there.
  # shellcheck disable=SC2016 # the inner shell expands it
  chroot_run "$root" env -C /src/postgresql sh -ec '
    if [ -e GNUmakefile ]; then make -s distclean; fi
    ./configure -q --prefix=/opt/postgresql-16 --enable-tap-tests --with-openssl --with-icu --with-lz4 --with-zstd --with-libxml
    make -s -j"$(nproc)" world-bin
    make -s install-world-bin'
  run_suites PG_CONFIG=/opt/postgresql-16/bin/pg_config
}

# Writes the source tree or the content of the tar file as a tar file whose names begin in the tree.
unpack_source() {
  if [[ -d $1 ]]; then
    tar -C "$1" --exclude=./.git -cf - .
  else
    local unpacked=$work/postgresql
    mkdir "$unpacked"
    tar -C "$unpacked" --strip-components=1 -xf "$1"
    tar -C "$unpacked" -cf - .
    rm -rf "$unpacked"
  fi
}

test_16_from_packages() {
  chroot_create "$root" bookworm make ca-certificates postgresql-common
  if ! chroot_run "$root" /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y; then
    echo "apt.postgresql.org does not answer."
    exit "$no_server"
  fi
  run_suites PG_MAJOR=16
}

# The versions of PostgreSQL and the compiler in $log, as cells of the table
versions() {
  sed -nE 's/^PostgreSQL ([^ ,]+).* ([0-9.]+)$/ \1 | \2 |/p' "$log" | grep . || echo ' – | – |'
}

# The suites' counts in $log, as cells
cells() {
  local column
  for column in "${columns[@]}"; do
    awk -v column="$column" '
      $1 == column && $3 == "passed," && $5 == "failed," { cell = $4 > 0 ? $2 " passed, " $4 " failed" : $2 }
      END { printf " %s |", cell }' "$log"
  done
}

# Runs a row's command in its own process group, so that all of its processes can be ended. Sets status.
run() {
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  process_group=$!
  set +m
  wait "$process_group" || status=$?
  process_group=
}

# The logs of the suites and the clusters
keep_logs() {
  local suite_logs
  for suite_logs in "$root"/tmp/dpquantile-test-*/logs; do
    if [[ -d $suite_logs ]]; then cp -a "$suite_logs" "$logs/$name"; fi
  done
}

names=()
# row NAME DESCRIPTION COMMAND...: the command sets up the chroot $root, runs suites there and ends with the line "N passed,
# N failed". Its status is $no_server if PostgreSQL cannot be had. The functions that it calls use its variables.
row() {
  names+=("$1")
  [[ " ${ROWS:-$1} " == *" $1 "* ]] || return 0
  local name=$1 description=$2 log=$logs/$1.log status=0 start=$SECONDS passed=0 failed=0 result
  echo "$description"
  run "${@:3}"
  read -r passed failed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1) || true
  if ((status == no_server)); then
    result="no server to be had"
  elif ((!failed && (status || !passed))); then
    tail -n 30 "$log"
    result="could not be run"
    failed=1
  else
    result="$passed passed, $failed failed"
  fi
  # What the suites printed, without their sum
  sed -nE '/^PostgreSQL [0-9]/,$ { /^make|^[0-9]+ passed, [0-9]+ failed$/d; p }' "$log"
  if ((failed)); then keep_logs; fi
  all_passed=$((all_passed + passed))
  all_failed=$((all_failed + failed))
  echo "| $description |$(versions) $result |$(cells) $((SECONDS - start)) |" >>"$table"
  rm -rf --one-file-system "$root"
}

header() {
  local column
  printf '| system | PostgreSQL | g++ | result |'
  for column in "${columns[@]}" seconds; do printf ' %s |' "$column"; done
  printf '\n|---|---|---|---|'
  for column in "${columns[@]}" seconds; do printf -- '---:|'; done
  echo
}
header >"$table"

row 12 "Debian 12" test_debian bookworm
row 12-old "Debian 12 without security updates" test_debian_without_updates bookworm
row 16 "Debian 12" test_16
row 13 "Debian 13" test_debian trixie
row 13-old "Debian 13 without security updates" test_debian_without_updates trixie
row sid "Debian unstable" test_debian sid

for name in ${ROWS:-}; do
  if [[ " ${names[*]} " != *" $name "* ]]; then
    echo "ROWS: there is no row $name, only: ${names[*]}"
    all_failed=$((all_failed + 1))
  fi
done
echo
cat "$table"
echo
echo "$all_passed passed, $all_failed failed"
((all_passed && !all_failed))
