#!/usr/bin/env bash
# Asks private queries through the drivers of several languages, and runs the examples of docs/languages.md, on a
# throwaway cluster. Prints a line for each driver and mode; the last line is "N passed, N failed".
#   run.sh [CLIENT...]   psql psycopg2 psycopg3 sqlalchemy jdbc odbc node r pgcli pgbouncer; all by default
# INSTALLED=1: the packages and the extension are installed already.
# CLIENT_TIMEOUT: the number of seconds after which a check fails, by default 600.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/errors.sh disable=SC1091
source "$tree/scripts/errors.sh"
all_clients=(psql psycopg2 psycopg3 sqlalchemy jdbc odbc node r pgcli pgbouncer)
clients=("$@")
if ((!$#)); then clients=("${all_clients[@]}"); fi
require_known client "${all_clients[*]}" "${clients[@]}"
[[ -n ${INSTALLED:-} ]] || "$tree/scripts/install-deps.sh" clients
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"
# shellcheck source=scripts/process-group.sh disable=SC1091
source "$tree/scripts/process-group.sh"
PATH=$("$PG_CONFIG" --bindir):$PATH
client_timeout=${CLIENT_TIMEOUT:-600}

passed=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-clients-XXXXXX")
chmod 755 "$work"
examples=$work/examples
pooler=$work/pooler

cleanup() {
  end_process_group
  stop_pooler
  cluster_remove "$work/cluster"
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

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
  server_port=$PGPORT
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

# Answers are random, and the width of a column of answers with them. An answer has two decimals or four digits before them,
# or it is a probability. 53400 is an SQLSTATE. The limit, in front of what remains, depends on the examples before.
mask() {
  perl -pe 'sub is_answer { $_[0] ne "53400" && $_[0] =~ /\.\d{2}|\d{4}|^0\.\d*[1-9]|^1(\.0)?$|e/ }
    s/[\d.]+(?= +4\.5$)/#/; s/(?<![\w.])-?\d+(\.\d+)?(e[+-]\d+)?/is_answer($&) ? "#" : $&/ge;
    s/-{2,}/--/g; s/[ \t]+/ /g; s/ $//' "$1"
}

# leave_budget EPSILON: lets role analyst spend so much more.
leave_budget() {
  PGPORT=$server_port "$(bin psql)" -X -q -U postgres -d demo -v ON_ERROR_STOP=1 -v epsilon="$1" >/dev/null <<'END'
SELECT dp_grant_budget('analyst', epsilon_spent + :epsilon, 0.1) FROM dp_budget WHERE role = 'analyst';
END
}

# example NAME COMMAND...: runs an example with the budget that it has on the page, and compares its output with the page.
example() {
  local name=$1 status=0
  shift
  leave_budget 6
  (cd "$examples" && "$@") >"$examples/$name.got" 2>&1 || status=$?
  if ((!status)) && diff <(mask "$examples/$name.out") <(mask "$examples/$name.got"); then
    echo "ok - $name prints what the page shows"
  else
    cat "$examples/$name.got"
    echo "not ok - $name prints what the page shows"
  fi
  leave_budget 800
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

# in_time COMMAND...: run_in_group calls it, and ends what is left. The command may be a function, which timeout cannot run.
in_time() {
  local group=$BASHPID
  (sleep "$client_timeout" && echo "not ok - stopped after $client_timeout s" && kill -s KILL -- "-$group") &
  "$@"
}

# check TITLE COMMAND...: counts the lines "ok" and "not ok" of a command, and prints their sums. The
# line "client ..." of its output goes before the title.
check() {
  local title=$1 log=$work/log status ok not_ok
  shift
  run_in_group in_time "$@" >"$log" 2>&1
  ok=$(grep -c '^ok - ' "$log" || true)
  not_ok=$(grep -c '^not ok - ' "$log" || true)
  if ((!not_ok && (status || !ok))); then not_ok=1; fi
  if ((not_ok)); then grep -v '^ok - ' "$log" || true; fi
  title="$(sed -n 's/^client //p' "$log") $title"
  printf '%-64s %3d passed, %d failed\n' "${title# }" "$ok" "$not_ok"
  passed=$((passed + ok))
  failed=$((failed + not_ok))
}

# not_started CLIENT: counts it as a failure.
not_started() {
  printf '%-64s %3d passed, %d failed\n' "$1 could not be started" 0 1
  failed=$((failed + 1))
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
  npm install --silent --prefix "$work/node" pg@8.8.0 >/dev/null || return
  NODE_PATH=$work/node/node_modules
}

run_node() {
  if ! find_node_pg; then
    not_started node-pg
    return
  fi
  check '' node "$here/check_node.js"
  check 'node-pg: example' example node_example.js node node_example.js
}

run_r() {
  check '' Rscript "$here/check_rpostgresql.R"
  check 'RPostgreSQL: example' example r_example.R Rscript r_example.R
}

run_pgcli() { check '' env HOME="$work" LC_ALL=C.UTF-8 "$here/check_pgcli.sh"; }

# pooler_configuration PORT: the page's, and a pool of two connections
pooler_configuration() {
  sed "s/port=5432/port=$server_port/; s/6432/$1/; s|users.txt|$pooler/users.txt|" "$examples/pgbouncer.ini"
  printf '%s\n' 'default_pool_size = 2' 'unix_socket_dir =' "pidfile = $pooler/pid" "logfile = $pooler/log"
}

start_pooler() {
  local pool_port=$1 try
  mkdir -m 700 "$pooler"
  if ((EUID == 0)); then chown "$owner:" "$pooler"; fi
  printf '"%s" "'"$PGPASSWORD"'"\n' reader analyst poor careful | as_owner tee "$pooler/users.txt" >/dev/null
  pooler_configuration "$pool_port" | as_owner tee "$pooler/pgbouncer.ini" >/dev/null
  as_owner /usr/sbin/pgbouncer --daemon --quiet "$pooler/pgbouncer.ini" || return
  for ((try = 0; try < 100; try++)); do
    if (: <>"/dev/tcp/127.0.0.1/$pool_port") 2>/dev/null; then return; fi
    sleep 0.1
  done
  cat "$pooler/log"
  return 1
}

stop_pooler() {
  if [[ -e $pooler/pid ]]; then kill "$(<"$pooler/pid")" 2>/dev/null || true; fi
}

run_pgbouncer() {
  local pool_port
  pool_port=$(free_port)
  if ! start_pooler "$pool_port"; then
    not_started pgbouncer
    return
  fi
  local -x PGPORT=$pool_port POOLED=1
  check "$(/usr/sbin/pgbouncer --version | sed -n 's/^PgBouncer/pgbouncer/p'), six clients" \
    python "$here/check_pgbouncer.py" 2 "$server_port"
  check 'through pgbouncer' python "$here/check_psycopg3.py" text
  check 'through pgbouncer' java "$here/CheckJdbc.java" prepareThreshold=0
  check 'psycopg 2 example through pgbouncer' example psycopg2_example.py python psycopg2_example.py
}

[[ -n ${INSTALLED:-} ]] || "$tree/scripts/install-extension.sh"
start_server
extract_examples
for client in "${clients[@]}"; do "run_$client"; done
echo "$passed passed, $failed failed"
((passed && !failed))
