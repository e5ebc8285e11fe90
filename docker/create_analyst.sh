#!/usr/bin/env bash
# Creates the extension, and a restricted role analyst with a budget. The container of compose.yaml runs it once, when its
# data directory is new.
set -euo pipefail

ANALYST_PASSWORD=$(</run/secrets/analyst_password)
export ANALYST_PASSWORD
# In one transaction: no role can log in that is not restricted.
psql --no-psqlrc --quiet --single-transaction --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'END'
\getenv password ANALYST_PASSWORD
\getenv epsilon ANALYST_EPSILON
\getenv delta ANALYST_DELTA
CREATE EXTENSION dpquantile;
CREATE ROLE analyst LOGIN PASSWORD :'password';
SELECT dp_grant_budget('analyst', :'epsilon', :'delta');
SELECT dp_restrict_role('analyst');
END
