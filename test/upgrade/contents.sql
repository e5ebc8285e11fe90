-- Budgets of both accountants, charges, an archive, renamed and dropped roles, and released values: what a database with
-- the extension may hold when it is upgraded. For psql as a superuser of a fresh cluster, in a database with any version
-- of the extension. Its roles:
--   analyst           accountant pure, has spent everything, some of it in the archive
--   "Second analyst"  accountant pure, a smallest charge, functions of users
--   delta             accountant pure, has spent delta
--   zcdp              accountant zcdp, has spent rho, rho alone and delta
--   revoked           has a charge, and a budget no more
--   second            was named first when it got its budget and its first charge
--   leaver            had a budget and a charge, and is dropped
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE TABLE person AS
  SELECT i % 50 AS id, (i % 7)::text AS district, (i % 101)::float8 AS age FROM generate_series(1, 400) i;
GRANT SELECT ON person TO PUBLIC;
CREATE ROLE analyst LOGIN;
CREATE ROLE "Second analyst" LOGIN;
CREATE ROLE delta LOGIN;
CREATE ROLE zcdp LOGIN;
CREATE ROLE revoked LOGIN;
CREATE ROLE first LOGIN;
CREATE ROLE leaver LOGIN;
SELECT dp_grant_budget('analyst', 3), dp_grant_budget('"Second analyst"', 7.5, smallest_charge => 0.25),
       dp_grant_budget('delta', 4, 1e-5), dp_grant_budget('zcdp', 5, 1e-6, 'zcdp', charged_delta => 1e-7), dp_grant_budget('revoked', 9),
       dp_grant_budget('first', 6), dp_grant_budget('leaver', 2), dp_grant_budget('postgres', 100, 1e-6, 'zcdp') \g /dev/null

SET SESSION AUTHORIZATION analyst;
SELECT dp_median(age, 1.5, 0, 100) FROM person \g /dev/null
SET SESSION AUTHORIZATION zcdp;
SELECT dp_quantiles(age, '{0.1, 0.9}', 0.5, 0, 100, dp_options('auto')) FROM person \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM dp_archive_ledger('infinity') \g /dev/null

SET SESSION AUTHORIZATION analyst;
SELECT dp_median(age, 1.25, 0, 100), dp_cdf(age, 0.25, 0, 100) FROM person \g /dev/null
SET SESSION AUTHORIZATION "Second analyst";
SELECT district, dp_user_mean(id, age, 0.5, 0, 100) FROM person GROUP BY district \g /dev/null
SET SESSION AUTHORIZATION delta;
SELECT dp_iqr(age, 1, 1e-6) FROM person \g /dev/null
SET SESSION AUTHORIZATION zcdp;
SELECT dp_quantiles(age, '{0.1, 0.9}', NULL, 0, 100, dp_options(rho => 0.01)) FROM person \g /dev/null
SELECT dp_keep_group(0.1, 1e-8) FROM person \g /dev/null
SET SESSION AUTHORIZATION revoked;
SELECT dp_median(age, 1, 0, 100) FROM person \g /dev/null
SET SESSION AUTHORIZATION leaver;
SELECT dp_median(age, 2, 0, 100) FROM person \g /dev/null
SET SESSION AUTHORIZATION first;
SELECT dp_median(age, 1, 0, 100) FROM person \g /dev/null
RESET SESSION AUTHORIZATION;
ALTER ROLE first RENAME TO second;
SET SESSION AUTHORIZATION second;
SELECT dp_median(age, 2, 0, 100) FROM person \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT dp_revoke_budget('revoked') \g /dev/null
DROP ROLE leaver;

CREATE TABLE release (
  name text PRIMARY KEY,
  cdf dp_cdf NOT NULL CHECK (dp_cdf_rows(cdf) > 0),
  median float8 GENERATED ALWAYS AS (dp_cdf_quantile(cdf, 0.5)) STORED
);
CREATE INDEX ON release (dp_cdf_rows(cdf));
INSERT INTO release SELECT 'bins', dp_cdf(age, 1, -0.1, 1e3, dp_options(bins => 30)) FROM person;
INSERT INTO release
  SELECT 'rho', dp_cdf(age, NULL, 0, 100, dp_options('binary', granularity => 5, rho => 0.5)) FROM person;

-- An approved query, and a view of what the extension shows: they depend on its objects.
CREATE FUNCTION age_median(epsilon float8) RETURNS float8
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  RETURN (SELECT dp_median(age, epsilon, 0, 100) FROM person);
CREATE VIEW spent AS SELECT role, epsilon_spent FROM dp_budget;
