#!/usr/bin/env bash
# Asks private queries through the drivers of several languages, and runs the examples of docs/languages.md, on a
# throwaway cluster. Prints a line for each driver and mode; the last line is "N passed, N failed".
#   run.sh [CLIENT...]   psql psycopg2 psycopg3 sqlalchemy jdbc odbc node r pgcli pgbouncer; all by default
# INSTALLED=1: the packages and the extension are installed already.
set -euo pipefail

clients=("$@")
if ((!$#)); then clients=(psql psycopg2 psycopg3 sqlalchemy jdbc odbc node r pgcli pgbouncer); fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
[[ -n ${INSTALLED:-} ]] || "$tree/scripts/install-deps.sh" clients
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

passed=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-clients-XXXXXX")
chmod 755 "$work"
examples=$work/examples
pooler=

cleanup() {
  if [[ -n $pooler ]]; then kill "$pooler" 2>/dev/null || true; fi
  cluster_remove "$work/cluster"
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

install_extension() {
  local as_root=()
  make -s -C "$tree" -j"$(nproc)" >/dev/null
  if [[ ! -w $("$PG_CONFIG" --pkglibdir) ]]; then as_root=(sudo); fi
  "${as_root[@]}" make -s -C "$tree" PG_CONFIG="$PG_CONFIG" install >/dev/null
}

free_port() {
  local port
  while port=$((20000 + RANDOM % 10000)); do
    if ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  done
  echo "$port"
}

# Drivers such as JDBC need TCP. Only this machine can connect, with a password.
start_server() {
  export PGHOST=127.0.0.1 PGDATABASE=demo PGPORT PGPASSWORD
  PGPORT=$(free_port)
  PGPASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  cluster_start "$work/cluster"
  cluster_psql "$work/cluster" -X -q -U postgres -d postgres -v ON_ERROR_STOP=1 -v password="$PGPASSWORD" <<END
ALTER SYSTEM SET listen_addresses = '127.0.0.1';
ALTER SYSTEM SET port = $PGPORT;
ALTER ROLE postgres PASSWORD :'password';
CREATE DATABASE demo;
\connect demo
\i $here/setup.sql
END
  cluster_stop "$work/cluster"
  echo 'host all all 127.0.0.1/32 scram-sha-256' | as_owner tee "$work/cluster/data/pg_hba.conf" >/dev/null
  cluster_start "$work/cluster"
}

# Writes each example of the page to a file, and the output that the page shows for it to FILE.out.
extract_examples() {
  mkdir "$examples"
  awk -v directory="$examples" '
    /^<!-- example: / { file = directory "/" $3; next }
    /^```/ { if (inside && file) file = file ~ /\.out$/ ? "" : file ".out"; inside = !inside; next }
    inside && file { print > file }
    !inside && NF { file = "" }
  ' "$tree/docs/languages.md"
}

# Answers are random, and the width of a column of answers with them.
mask() {
  perl -pe 's/(?<![\w.])-?\d+(\.\d+)?(e[+-]\d+)?/$& eq "53400" ? $& : "#"/ge;
    s/-{2,}/--/g; s/[ \t]+/ /g; s/ $//' "$1"
}

# example NAME COMMAND...: runs an example and compares its output with the page.
example() {
  local name=$1 status=0
  shift
  (cd "$examples" && "$@") >"$examples/$name.got" 2>&1 || status=$?
  if ((!status)) && diff <(mask "$examples/$name.out") <(mask "$examples/$name.got"); then
    echo "ok - $name prints what the page shows"
  else
    cat "$examples/$name.got"
    echo "not ok - $name prints what the page shows"
  fi
}

# The example prints the counts that it decodes and those of the text.
decoded_as_text() {
  local got=$examples/$1.got
  if [[ -s $got && $(sed -n 1p "$got") == "$(sed -n 2p "$got")" ]]; then
    echo "ok - $1 decodes what the text says"
  else
    cat "$got"
    echo "not ok - $1 decodes what the text says"
  fi
}

# check TITLE COMMAND...: counts the lines "ok" and "not ok" of a command, and prints their sums. The
# line "client ..." of its output goes before the title.
check() {
  local title=$1 log=$work/log status=0 ok not_ok
  shift
  "$@" >"$log" 2>&1 </dev/null || status=$?
  ok=$(grep -c '^ok - ' "$log" || true)
  not_ok=$(grep -c '^not ok - ' "$log" || true)
  if ((!not_ok && (status || !ok))); then not_ok=1; fi
  if ((not_ok)); then grep -v '^ok - ' "$log"; fi
  title="$(sed -n 's/^client //p' "$log") $title"
  printf '%-64s %3d passed, %d failed\n' "${title# }" "$ok" "$not_ok"
  passed=$((passed + ok))
  failed=$((failed + not_ok))
}

# Debian's packages are for Debian's Python, whatever python3 of the PATH is.
python() { PYTHONPATH=$examples PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
java() { command java -cp /usr/share/java/postgresql.jar "$@"; }

run_psql() {
  check '' "$here/check_psql.sh"
  check 'psql: example' example psql_example.sql psql -X -U analyst -d demo -f psql_example.sql
}

run_psycopg2() {
  check '' python "$here/check_psycopg2.py"
  check 'psycopg 2: example' example psycopg2_example.py python psycopg2_example.py
}

run_psycopg3() {
  local mode
  for mode in text binary client; do check '' python "$here/check_psycopg3.py" "$mode"; done
  check 'psycopg 3: example' example psycopg3_example.py python psycopg3_example.py
}

run_sqlalchemy() {
  check '' python "$here/check_sqlalchemy.py"
  check 'SQLAlchemy and pandas: example' example pandas_example.py python pandas_example.py
}

run_jdbc() {
  local options url="jdbc:postgresql://$PGHOST:$PGPORT/demo?user=analyst&password=$PGPASSWORD"
  for options in '' prepareThreshold=-1 prepareThreshold=1 preferQueryMode=simple autosave=always \
    preferQueryMode=extendedCacheEverything stringtype=unspecified; do
    check "$options" java "$here/CheckJdbc.java" "$options"
  done
  check 'JDBC: example' example JdbcExample.java java JdbcExample.java "$url"
  check 'JDBC: example of binary answers' example CdfBytes.java java CdfBytes.java "$url"
  check 'JDBC: its counts' decoded_as_text CdfBytes.java
}

run_odbc() {
  local options
  for options in '' UseServerSidePrepare=0 'UseDeclareFetch=1;Fetch=7' Protocol=7.4-2; do
    check "$options" python "$here/check_odbc.py" "$options"
  done
  check 'ODBC: example' example odbc_example.py python odbc_example.py
}

# Debian's node-pg needs Debian's Node.js.
find_node_pg() {
  export NODE_PATH=/usr/share/nodejs:/usr/lib/nodejs
  if node -e 'require("pg")' 2>/dev/null; then return; fi
  npm install --silent --prefix "$work/node" pg@8.8.0 >/dev/null
  NODE_PATH=$work/node/node_modules
}

run_node() {
  find_node_pg
  check '' node "$here/check_node.js"
  check 'node-pg: example' example node_example.js node node_example.js
}

run_r() {
  check '' Rscript "$here/check_rpostgresql.R"
  check 'RPostgreSQL: example' example r_example.R Rscript r_example.R
}

run_pgcli() { check '' env HOME="$work" LC_ALL=C.UTF-8 "$here/check_pgcli.sh"; }

# Starts pgbouncer with the page's configuration and a pool of two connections.
start_pooler() {
  local pool_port=$1 try
  mkdir -m 700 "$work/pooler"
  if ((EUID == 0)); then chown "$owner:" "$work/pooler"; fi
  printf '"%s" "'"$PGPASSWORD"'"\n' analyst poor careful | as_owner tee "$work/pooler/users.txt" >/dev/null
  { sed "s/port=5432/port=$PGPORT/; s/6432/$pool_port/; s|users.txt|$work/pooler/users.txt|" "$examples/pgbouncer.ini" &&
    printf '%s\n' 'default_pool_size = 2' 'unix_socket_dir ='; } | as_owner tee "$work/pooler/pgbouncer.ini" >/dev/null
  as_owner /usr/sbin/pgbouncer "$work/pooler/pgbouncer.ini" >"$work/pooler.log" 2>&1 &
  pooler=$!
  for ((try = 0; try < 100; try++)); do
    if (: <>"/dev/tcp/127.0.0.1/$pool_port") 2>/dev/null; then return; fi
    sleep 0.1
  done
  cat "$work/pooler.log"
  return 1
}

run_pgbouncer() {
  local server_port=$PGPORT pool_port
  pool_port=$(free_port)
  start_pooler "$pool_port"
  local -x PGPORT=$pool_port POOLED=1
  check "$(/usr/sbin/pgbouncer --version | sed -n 's/^PgBouncer/pgbouncer/p'), six clients" \
    python "$here/check_pgbouncer.py" 2 "$server_port"
  check 'through pgbouncer' python "$here/check_psycopg3.py" text
  check 'through pgbouncer' java "$here/CheckJdbc.java" prepareThreshold=0
  check 'psycopg 2 example through pgbouncer' example psycopg2_example.py python psycopg2_example.py
}

if [[ -z ${INSTALLED:-} ]]; then install_extension; fi
start_server
extract_examples
for client in "${clients[@]}"; do "run_$client"; done
echo "$passed passed, $failed failed"
((passed && !failed))
