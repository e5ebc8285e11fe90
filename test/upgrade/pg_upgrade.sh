#!/usr/bin/env bash
# pg_upgrade.sh OLD NEW: upgrades clusters of PostgreSQL 15 with the extension of the tree OLD to PostgreSQL 17 with the
# extension of the tree NEW, and checks that nothing spent is lost. Then upgrades the extension alone, under open sessions.
# Needs root, and packages of both majors: scripts/upgrade.sh makes a throwaway Debian and calls this there.
# The last line is "N passed, N failed".
set -euo pipefail

old_tree=$1
new_tree=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=$here/../../scripts
work=$(mktemp -d /var/lib/postgresql/upgrade-XXXXXX)
chown postgres: "$work"
passed=0
failed=0
succeeded=true

old_version=$("$scripts/version.sh" "$old_tree")
new_version=$("$scripts/version.sh" "$new_tree")

# ok NAME COMMAND...: counts whether the command succeeds, and keeps it in $succeeded.
ok() {
  local name=$1
  shift
  succeeded=true
  "$@" >"$work/output" 2>&1 || succeeded=false
  if $succeeded; then
    passed=$((passed + 1))
    echo "ok - $name"
  else
    failed=$((failed + 1))
    echo "not ok - $name"
    tail -n 40 "$work/output" | cut -c 1-300 | sed 's/^/#   /'
  fi
}
is() { ok "$1" diff <(echo "$2") <(echo "$3"); }
has() { ok "$1" grep -qE "$3" <(echo "$2"); }

as_postgres() { (cd "$work" && exec runuser -u postgres -- env PGUSER=postgres "$@"); }
bin() { echo "/usr/lib/postgresql/$1/bin/$2"; }

# build TREE MAJOR: in a copy
build() {
  local copy
  copy=$work/$("$scripts/version.sh" "$1")-$2
  mkdir "$copy"
  "$scripts/pack-tree.sh" "$1" | tar -C "$copy" -xf -
  make -C "$copy" -s -j"$(nproc)" with_llvm=no PG_CONFIG="$(bin "$2" pg_config)" >"$work/build.log" 2>&1 ||
    { tail -n 30 "$work/build.log" && return 1; }
}

# install_build VERSION MAJOR
install_build() { make -C "$work/$1-$2" -s with_llvm=no PG_CONFIG="$(bin "$2" pg_config)" install >/dev/null; }

# The cluster that the following functions use: its major, its port and the directory of its socket
major=
port=
psql() { as_postgres "$(bin "$major" psql)" -XAtq -v ON_ERROR_STOP=1 -h "$work" -p "$port" "$@"; }
kept() { psql -d kept -c "$1"; }

# ask ROLE SQL: the output, or the SQLSTATE of the error
ask() {
  psql -U "$1" -d kept -v VERBOSITY=sqlstate -c "$2" 2>&1 | sed -n 's/^ERROR:  //; $p'
}
error_of() { psql -U "$1" -d kept -c "$2" 2>&1 | sed -n 's/^ERROR: *//p'; }
median='SELECT dp_median(age, 0.5, 0, 100) IS NOT NULL FROM person'

summary() { psql -d kept -f "$here/summary.sql"; }
protection() { psql -d kept -f "$here/protection_summary.sql"; }
# Besides what a dump keeps: the roles' OIDs, also of dropped roles, and the key of user ids
identities() {
  kept 'SELECT role::oid, budget_id FROM dpquantile.budget ORDER BY 1, 2'
  kept 'SELECT key FROM dpquantile.user_key'
}
sql_version() { kept "SELECT extversion FROM pg_extension WHERE extname = 'dpquantile'"; }
# Differs from that of every other database if it cannot be read.
catalog() { psql -d "$1" -f "$here/catalog.sql" | grep . || echo "There is no catalog of $1."; }

# settings PORT PRELOADED: lines for postgresql.conf
settings() {
  echo "listen_addresses = ''"
  echo "unix_socket_directories = '$work'"
  echo "port = $1"
  if [[ $2 == preloaded ]]; then echo "shared_preload_libraries = 'dpquantile'"; fi
}

# new_cluster MAJOR NAME PORT PRELOADED
new_cluster() {
  as_postgres "$(bin "$1" initdb)" -D "$work/$2" -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  settings "$3" "$4" | as_postgres tee -a "$work/$2/postgresql.conf" >/dev/null
}
start() { as_postgres "$(bin "$major" pg_ctl)" -s -w -D "$work/$1" -l "$work/$1.log" start; }
stop() { as_postgres "$(bin "$major" pg_ctl)" -s -w -D "$work/$1" stop; }

fill() {
  psql -d postgres -c 'CREATE DATABASE kept'
  kept 'CREATE EXTENSION dpquantile'
  psql -d kept -f "$here/contents.sql"
  kept "SELECT dp_restrict_role('delta')" >/dev/null
}

is_preloaded() {
  kept "SELECT count(*) FROM pg_shmem_allocations WHERE name = 'dpquantile charges'"
}

# What holds before ALTER EXTENSION UPDATE, in a cluster that has the new library
check_before_update() {
  is "$1: the database keeps the version of its objects" "$old_version" "$(sql_version)"
  is "$1: budgets, ledger and released values are kept" "$2" "$(summary)"
  is "$1: role OIDs and the key of user ids are kept" "$3" "$(identities)"
  has "$1: no answer before the update" "$(error_of second "$median")" \
    "^dpquantile's SQL objects are version $old_version, but its library is version $new_version$"
  is "$1: nothing was charged for it" "$2" "$(summary)"
}

# check_after_update NAME SUMMARY [FILTER]: the filter takes out of both catalogs what need not be the same.
check_after_update() {
  is "$1: the objects are those of the new version" "$new_version" "$(sql_version)"
  is "$1: the update keeps budgets, ledger and released values" "$2" "$(summary)"
  psql -d postgres -c 'CREATE DATABASE fresh' && psql -d fresh -c 'CREATE EXTENSION dpquantile'
  is "$1: the same objects as after CREATE EXTENSION" "$(catalog fresh | ${3:-cat})" "$(catalog kept | ${3:-cat})"
  is "$1: an exhausted budget stays exhausted" 53400 "$(ask analyst "$median")"
  is "$1: a revoked budget stays revoked" 42501 "$(ask revoked "$median")"
  is "$1: a query is answered" t "$(ask second "$median")"
  is "$1: an approved query is answered" t "$(ask second 'SELECT age_median(0.5) IS NOT NULL')"
  is "$1: the numbers of charges go on" 4 \
    "$(kept "SELECT max(number) FROM dp_ledger WHERE role = 'second'")"
  is "$1: a query about users is answered" t \
    "$(ask 'Second analyst' 'SELECT dp_user_mean(id, age, 0.5, 0, 100) IS NOT NULL FROM person')"
  is "$1: rho goes on" t "$(ask zcdp "$median")"
  is "$1: the smallest charge is kept" 22023 \
    "$(ask 'Second analyst' 'SELECT dp_median(age, 0.1, 0, 100) FROM person')"
  is "$1: a restricted role stays restricted" 42501 "$(ask delta 'SELECT pg_current_wal_lsn()')"
}

# pg_upgrade makes conditions and functions from PostgreSQL's text of them, which has fewer brackets and more names.
in_other_words() {
  sed -E 's/[()]//g; s/ AS \w+//g'
}

# A dump has the comment of the version that it was made with.
without_comment() { grep -v '^extension dpquantile | comment '; }

update() { ok "$1: ALTER EXTENSION UPDATE" kept 'ALTER EXTENSION dpquantile UPDATE'; }

# ---- pg_upgrade ----------------------------------------------------------------------------------

# run_pg_upgrade NAME: from $work/NAME-15 to $work/NAME-17
run_pg_upgrade() {
  local options=(-b "$(bin 15 .)" -B "$(bin 17 .)" -d "$work/$1-15" -D "$work/$1-17" -s "$work" -U postgres)
  new_cluster 17 "$1-17" 5417 "$1"
  ok "pg_upgrade, $1: pg_upgrade --check" as_postgres "$(bin 17 pg_upgrade)" "${options[@]}" --check
  ok "pg_upgrade, $1: pg_upgrade" as_postgres "$(bin 17 pg_upgrade)" "${options[@]}"
}

# The extension is updated after PostgreSQL.
pg_upgrade_and_update() {
  local name='pg_upgrade, plain' before ids
  major=15 port=5415
  new_cluster 15 plain-15 "$port" plain
  start plain-15
  fill
  before=$(summary)
  ids=$(identities)
  stop plain-15
  run_pg_upgrade plain
  $succeeded || return 0
  major=17 port=5417
  start plain-17
  check_before_update "$name" "$before" "$ids"
  update "$name"
  check_after_update "$name" "$before"
  stop plain-17
}

# The extension is updated before PostgreSQL, and tables are protected in between. The library is preloaded.
update_and_pg_upgrade() {
  local name='pg_upgrade, preloaded' before ids protection count='SELECT dp_count(1) IS NOT NULL FROM staff'
  major=15 port=5415
  new_cluster 15 preloaded-15 "$port" preloaded
  start preloaded-15
  fill
  before=$(summary)
  stop preloaded-15
  install_build "$new_version" 15
  start preloaded-15
  update "$name"
  is "$name: budgets, ledger and released values are kept" "$before" "$(summary)"
  psql -d kept -f "$here/protection.sql"
  before=$(summary)
  ids=$(identities)
  protection=$(protection)
  stop preloaded-15
  run_pg_upgrade preloaded
  install_build "$old_version" 15
  $succeeded || return 0
  major=17 port=5417
  start preloaded-17
  is "$name: the library is preloaded" 1 "$(is_preloaded)"
  is "$name: role OIDs and the key of user ids are kept" "$ids" "$(identities)"
  is "$name: protected tables, domains and budgets for tables are kept" "$protection" "$(protection)"
  check_after_update "$name" "$before" in_other_words
  is "$name: what is left of a budget for a table can be spent" t "$(ask researcher "$count")"
  # The answer to the same query is kept for an hour and costs nothing.
  is "$name: and no more" 53400 "$(ask researcher "$count WHERE salary < 50")"
  stop preloaded-17
}

# by_pg_upgradecluster METHOD: what Debian's users call; the library is preloaded
by_pg_upgradecluster() {
  local name="pg_upgradecluster -m $1" before ids
  major=15 port=5425
  as_postgres pg_createcluster 15 "$1" -p "$port" -s "$work" -o listen_addresses='' \
    -o shared_preload_libraries=dpquantile -- -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  as_postgres pg_ctlcluster 15 "$1" start
  fill
  before=$(summary)
  ids=$(identities)
  ok "$name" as_postgres pg_upgradecluster -v 17 -m "$1" 15 "$1"
  $succeeded || return 0
  major=17
  port=$(as_postgres pg_conftool -s 17 "$1" show port)
  is "$name: the library stays preloaded" 1 "$(is_preloaded)"
  if [[ $1 == upgrade ]]; then
    check_before_update "$name" "$before" "$ids"
    update "$name"
    check_after_update "$name" "$before"
  else
    # It restores with --disable-triggers, which leaves the triggers in another state.
    kept 'SELECT dpquantile.protect_tables()'
    check_after_update "$name" "$before" without_comment
  fi
  as_postgres pg_dropcluster 17 "$1" --stop
  as_postgres pg_dropcluster 15 "$1" --stop
}

# ---- The extension alone -------------------------------------------------------------------------

# A session of the superuser that stays: session SQL prints its answer or SQLSTATE.
open_session() {
  coproc SESSION { psql -d kept -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 2>&1; }
}
session() {
  local line answer=
  printf '%s;\n\\echo end of answer\n' "$1" >&"${SESSION[1]}"
  while read -r line <&"${SESSION[0]}" && [[ $line != 'end of answer' ]]; do answer=$line; done
  echo "${answer#ERROR:  }"
}
close_session() {
  local process=$SESSION_PID
  echo '\q' >&"${SESSION[1]}"
  wait "$process"
}

wait_until_no_session_worker() {
  local try
  for ((try = 0; try < 150; try++)); do
    [[ $(kept "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dpquantile session'") != 0 ]] || return 0
    sleep 0.2
  done
  echo "A session worker does not end." >&2
  return 1
}

# The session has the old library. It stays as it is until the session ends.
under_open_session() {
  local name='under an open session' before
  major=15 port=5435
  install_build "$old_version" 15
  new_cluster 15 open "$port" plain
  start open
  fill
  open_session
  is "$name: a query is answered" t "$(session "$median")"
  before=$(summary)
  install_build "$new_version" 15
  wait_until_no_session_worker
  is "$name: no answer with the new worker" 58000 "$(session "$median")"
  ok "$name: the log says why" grep -q 'a session with the library of another version asked for a charge' "$work/open.log"
  is "$name: the session cannot update the extension" 55000 "$(session 'ALTER EXTENSION dpquantile UPDATE')"
  check_before_update "$name" "$before" "$(identities)"
  update "$name"
  is "$name: no answer in the old session after the update" 58000 "$(session "$median")"
  is "$name: nothing was charged in the old session" "$before" "$(summary)"
  close_session
  check_after_update "$name" "$before"
  stop open
}

# The postmaster has the old library until it restarts.
under_preloaded_library() {
  local name='under a preloaded library' before
  major=15 port=5445
  install_build "$old_version" 15
  new_cluster 15 preloaded "$port" preloaded
  start preloaded
  fill
  install_build "$new_version" 15
  is "$name: the old library and the old objects work together" t "$(ask postgres "$median")"
  before=$(summary)
  has "$name: no update before the restart" "$(error_of postgres 'ALTER EXTENSION dpquantile UPDATE')" \
    "^dpquantile's SQL objects are version $new_version, but its library is version $old_version"
  is "$name: the objects stay as they are" "$old_version" "$(sql_version)"
  stop preloaded
  start preloaded
  check_before_update "$name" "$before" "$(identities)"
  update "$name"
  check_after_update "$name" "$before"
  stop preloaded
}

build "$old_tree" 15
install_build "$old_version" 15
build "$new_tree" 17
install_build "$new_version" 17
build "$new_tree" 15
pg_upgrade_and_update
update_and_pg_upgrade
by_pg_upgradecluster upgrade
by_pg_upgradecluster dump
under_open_session
under_preloaded_library
rm -rf "$work"
echo "$passed passed, $failed failed"
((passed && !failed))
