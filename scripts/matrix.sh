#!/usr/bin/env bash
# Tests this tree on other systems and versions of PostgreSQL: runs make test on bare Debians in throwaway chroots, one
# after the other, and prints a table. The last line is "N passed, N failed". Needs root.
#   ROWS="13 sid"           the rows to run; all by default
#   SUITES="build regress"  the suites of each row (scripts/test.sh); by default all, but unit, privacy, exhaustive and fuzz, which see no
#                           server, once for each compiler
#   POSTGRES_16_SOURCE      the source tree or tar file of PostgreSQL 16 for row 16, which no Debian has. Without it the
#                           row takes the packages of apt.postgresql.org.
# scripts/chroot.sh lists the variables for the chroots.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/chroot.sh
source "$tree/scripts/chroot.sh"
# shellcheck source=scripts/process-group.sh
source "$tree/scripts/process-group.sh"

names=()
declare -A systems commands
# row NAME SYSTEM COMMAND...: the command sets up the chroot $root, runs suites there and ends with the line "N passed, N failed".
# Its status is $no_server if PostgreSQL 16 is not available.
row() {
  names+=("$1")
  systems[$1]=$2
  commands[$1]="${*:3}"
}
row 12 "Debian 12" test_debian bookworm
row 12-old "Debian 12 without security updates" test_debian_without_updates bookworm
row 16 "Debian 12, PostgreSQL 16" test_16
row 13 "Debian 13" test_debian trixie
row 13-old "Debian 13 without security updates" test_debian_without_updates trixie
row sid "Debian unstable" test_debian sid
row 19 "Debian unstable with experimental" test_19
# The compiler is that of the row before.
same_compiler=(12-old 16 13-old 19)

read -ra wanted_rows <<<"${ROWS:-${names[*]}}"
require_known row "${names[*]}" "${wanted_rows[@]}"
require_root

work=$(chroot_directory matrix)
root=$work/root
logs=$work/logs
table=$logs/table
no_server=99
all_passed=0
all_failed=0
mkdir "$logs"
read -ra columns <<<"$("$tree/scripts/test.sh" --list)"

cleanup() {
  trap '' INT TERM HUP
  end_process_group
  chroot_remove "$root"
  if ((!all_failed)); then rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Without Citus nothing is distributed, and what looks at a browser is not another PostgreSQL.
default_suites() {
  local others='distributed|bi'
  if [[ " ${same_compiler[*]} " == *" $name "* ]]; then others='distributed|bi|unit|privacy|exhaustive|fuzz'; fi
  printf '%s\n' "${columns[@]}" | grep -vxE "$others" | xargs
}

# run_suites [VARIABLE=VALUE...]: runs the suites in the chroot as a newcomer would. They take their packages themselves.
run_suites() {
  chroot_copy_tree "$root" dpquantile
  chroot_run "$root" env SUITES="${SUITES:-$(default_suites)}" SUITE_TIMEOUT="${SUITE_TIMEOUT:-}" PRELUDE=no "$@" \
    make -C dpquantile test
}

test_debian() {
  chroot_create "$root" "$1" make
  run_suites
}

test_debian_without_updates() { CHROOT_SECURITY=no test_debian "$1"; }

# Only experimental has it. Everything else is that of unstable: experimental may have the half of a transition, such as a new Perl.
test_19() {
  chroot_create "$root" sid make
  echo "deb $mirror experimental main" >>"$root/etc/apt/sources.list"
  printf 'Package: src:postgresql-19\nPin: release a=experimental\nPin-Priority: 990\n' >"$root/etc/apt/preferences.d/experimental"
  chroot_run "$root" apt-get -qq update
  run_suites PG_MAJOR=19
}

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
version_cells() {
  sed -nE 's/^PostgreSQL ([^ ,]+).* ([0-9.]+)$/ \1 | \2 |/p' "$log" | grep . || echo ' – | – |'
}

# The suites' counts in $log, as cells
count_cells() {
  local column
  for column in "${columns[@]}"; do
    awk -v column="$column" '
      $1 == column && $3 == "passed," && $5 == "failed," { cell = $4 > 0 ? $2 " passed, " $4 " failed" : $2 }
      END { printf " %s |", cell }' "$log"
  done
}

keep_logs() {
  local suite_logs
  for suite_logs in "$root"/tmp/dpquantile-test-*/logs; do
    if [[ -d $suite_logs ]]; then cp -a "$suite_logs" "$logs/$name"; fi
  done
}

# run_row NAME: the functions that it calls use its variables.
run_row() {
  local name=$1 log=$logs/$1.log status=0 start=$SECONDS passed=0 failed=0 result command
  read -ra command <<<"${commands[$name]}"
  echo "${systems[$name]}"
  run_in_group "${command[@]}" >"$log" 2>&1
  read -r passed failed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1) || true
  if ((status == no_server)); then
    result="PostgreSQL 16 is not available"
    failed=1
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
  echo "| ${systems[$name]} |$(version_cells) $result |$(count_cells) $((SECONDS - start)) |" >>"$table"
  chroot_remove "$root"
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
for name in "${names[@]}"; do
  if [[ " ${wanted_rows[*]} " == *" $name "* ]]; then run_row "$name"; fi
done
echo
cat "$table"
echo
if ((all_failed)); then echo "The logs are in $logs"; fi
echo "$all_passed passed, $all_failed failed"
((all_passed && !all_failed))
