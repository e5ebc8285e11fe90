#!/usr/bin/env bash
# Builds the container of compose.yaml and tries it with an image and a volume of its own, which it removes. Needs Docker with
# its compose plugin, and an image postgres:17-trixie, which Docker fetches if it is missing. PG_MAJOR=18: with that version.
# The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

POSTGRES_PASSWORD=$(openssl rand -hex 16)
ANALYST_PASSWORD=$(openssl rand -hex 16)
export POSTGRES_PASSWORD ANALYST_PASSWORD
export ANALYST_EPSILON=4 ANALYST_DELTA=2e-5
export COMPOSE_PROJECT_NAME=dpquantile-check-$$ PORT=0
passed=0
failed=0

cleanup() { docker compose down --volumes --rmi local --timeout 10 >/dev/null 2>&1 || true; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP PIPE

up() { docker compose up --detach --wait "$@"; }
owner() { docker compose exec -T server psql -XAtq -v ON_ERROR_STOP=1 -U postgres -c "$1"; }
# The analyst logs in over TCP, from an address that the server does not trust.
analyst() { docker compose exec -T -e PGPASSWORD="$ANALYST_PASSWORD" server psql -XAtq -h server -U analyst -d postgres -c "$1" 2>&1; }

description() { docker compose ps --quiet | xargs docker inspect; }
# In how many lines of its description the container shows a password
shown_passwords() {
  description | grep -cE "$POSTGRES_PASSWORD|$ANALYST_PASSWORD"
}

# check NAME EXPECTED COMMAND...: what the command prints matches the regular expression.
check() {
  local name=$1 expected=$2 output
  shift 2
  output=$("$@") || true
  if [[ $output =~ $expected ]]; then
    passed=$((passed + 1))
    echo "passed: $name"
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n  expected: %s\n  got: %s\n' "$name" "$expected" "$output"
  fi
}

remaining="SELECT epsilon_remaining FROM dp_budget"
median="SELECT salary_median(0.5)"

up --build
owner "
CREATE TABLE staff AS SELECT 20000 + i::float8 AS salary FROM generate_series(1, 10000) AS i;
CREATE FUNCTION salary_median(epsilon float8) RETURNS float8
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  RETURN (SELECT dp_median(salary, epsilon, 0, 500000) FROM staff);
REVOKE EXECUTE ON FUNCTION salary_median(float8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION salary_median(float8) TO analyst;"

check "the library is preloaded" '^1$' owner "SELECT count(*) FROM pg_shmem_allocations WHERE name = 'dpquantile charges'"
check "the version is the chosen one" "^${PG_MAJOR:-17}\$" owner "SELECT current_setting('server_version_num')::int / 10000"
check "the analyst has the chosen budget" '^4\|0\.00002$' analyst "SELECT epsilon_limit, delta_limit FROM dp_budget"
check "the analyst gets an answer" '^2[45][0-9]{3}(\.[0-9]+)?$' analyst "$median"
check "the analyst has paid for it" '^3\.5$' analyst "$remaining"
check "the analyst cannot read the table" 'permission denied for table staff' analyst "SELECT * FROM staff"
check "the analyst is restricted" 'permission denied for function pg_current_wal_lsn' analyst "SELECT pg_current_wal_lsn()"
ANALYST_PASSWORD=wrong check "a wrong password does not do" 'password authentication failed' analyst "$median"
check "the container's description names the file of the password" 'POSTGRES_PASSWORD_FILE=' description
check "the container's description shows no password" '^0$' shown_passwords

docker compose restart
up
check "the budget is the same after a restart" '^3\.5$' analyst "$remaining"
docker compose kill
up
check "the budget is the same after a crash" '^3\.5$' analyst "$remaining"
docker compose down
up
check "the budget is the same in a new container" '^3\.5$' analyst "$remaining"
check "an answer that costs more is refused" 'privacy budget exhausted' analyst "SELECT salary_median(3.6)"

echo "$passed passed, $failed failed"
((passed && !failed))
