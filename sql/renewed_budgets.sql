-- threat 79: a budget that is renewed with the calendar. Nothing is given back inside a period, whatever the clock does.
-- (The test moves the stored start of a period, as a superuser, in the place of waiting.)
\set SHOW_CONTEXT never
\set VERBOSITY terse
\set ask 'SELECT dp_median(x, 1, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x'

-- The calendar, in UTC whatever the session's time zone is
SET timezone = 'Asia/Kathmandu';
SELECT every, at AT TIME ZONE 'UTC' AS at, dpquantile.period_start(every, at) AT TIME ZONE 'UTC' AS starts,
       dpquantile.period_end(every, dpquantile.period_start(every, at)) AT TIME ZONE 'UTC' AS ends
  FROM (VALUES ('2024-02-29 23:59:59.999999 UTC'::timestamptz), ('2024-03-01 00:00 UTC'), ('2024-12-30 12:00 UTC')) t (at)
 CROSS JOIN unnest('{day,week,month,year}'::text[]) WITH ORDINALITY e (every, number)
 ORDER BY at, number;
RESET timezone;

CREATE ROLE regress_dpq_renewed;
CREATE VIEW regress_dpq_period AS
  SELECT trim_scale(epsilon_spent) AS ever, trim_scale(epsilon_before) AS before, trim_scale(delta_before) AS delta_before,
         trim_scale(rho_before) AS rho_before,
         every, period_start = date_trunc(every, now(), 'UTC') AS is_present
    FROM dpquantile.budget WHERE role::text = 'regress_dpq_renewed';
CREATE VIEW regress_dpq_left AS
  SELECT epsilon_limit, epsilon_spent, epsilon_remaining, delta_spent, rho_spent, epsilon_sum, every,
         renewed_at = (date_trunc('year', now() AT TIME ZONE 'UTC') + interval '1 year') AT TIME ZONE 'UTC' AS next_year
    FROM dp_budget WHERE role::text = 'regress_dpq_renewed';

SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '30 days');
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '24 hours');
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '1 month 1 day');
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '0');
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '-1 month');
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => period::interval)
  FROM unnest('{1 day,1 week,1 month,12 months,1 year}'::text[]) period;
SELECT * FROM regress_dpq_left;
-- A quarter begins in January, April, July or October.
BEGIN;
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '3 months');
SELECT every, renewed_at = (date_trunc('quarter', now() AT TIME ZONE 'UTC') + interval '3 months') AT TIME ZONE 'UTC' AS next_quarter
  FROM dp_budget WHERE role = 'regress_dpq_renewed';
SELECT dpquantile.period_start('quarter', at) AT TIME ZONE 'UTC' AS start, dpquantile.period_end('quarter', at) AT TIME ZONE 'UTC' AS "end"
  FROM unnest('{2026-03-31 23:59:59.999999+00,2026-04-01 00:00+00,2024-12-31 23:30-01}'::timestamptz[]) at;
ROLLBACK;

-- What is spent in a year counts in that year only.
SET ROLE regress_dpq_renewed;
:ask;
:ask;
:ask;
RESET ROLE;
SELECT * FROM regress_dpq_left;
UPDATE dpquantile.budget SET period_start = period_start - interval '1 year' WHERE role = 'regress_dpq_renewed'::regrole;
SELECT * FROM regress_dpq_left;
SELECT fits FROM dp_budget_fits(1) WHERE role = 'regress_dpq_renewed' AND query = 'any other without delta';
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;
SELECT * FROM regress_dpq_period;
SELECT * FROM regress_dpq_left;
-- Neither does a year that passed without a charge add anything.
UPDATE dpquantile.budget SET period_start = period_start - interval '5 years' WHERE role = 'regress_dpq_renewed'::regrole;
SET ROLE regress_dpq_renewed;
:ask;
:ask;
:ask;
RESET ROLE;
SELECT * FROM regress_dpq_left;
SELECT number, epsilon FROM dp_ledger WHERE role = 'regress_dpq_renewed';

-- The clock goes back: the budget stays in its period.
UPDATE dpquantile.budget SET period_start = period_start + interval '1 year' WHERE role = 'regress_dpq_renewed'::regrole;
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;
SELECT epsilon_remaining FROM regress_dpq_left;
SELECT subject, status, regexp_replace(detail, '[0-9]+', 'N', 'g') AS detail FROM dp_health()
 WHERE check_name = 'budget' AND subject = 'regress_dpq_renewed';
UPDATE dpquantile.budget SET period_start = period_start - interval '1 year' WHERE role = 'regress_dpq_renewed'::regrole;
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;
SELECT subject, status, detail FROM dp_health() WHERE check_name = 'budget' AND subject = 'regress_dpq_renewed';

-- The refusal tells when to ask again.
SET ROLE regress_dpq_renewed;
DO $$
DECLARE
  hint text;
BEGIN
  PERFORM dp_median(x, 1, 0, 1) FROM generate_series(0, 1, 0.5) x;
EXCEPTION WHEN configuration_limit_exceeded THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RAISE NOTICE '%', replace(hint, extract(year FROM now() AT TIME ZONE 'UTC') + 1 || '-01-01', 'NEXT YEAR');
END
$$;
RESET ROLE;

-- A grant with the same calendar gives nothing back. One with another calendar counts everything until its next period begins.
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '1 year'), dp_grant_budget('regress_dpq_renewed', 2);
SELECT * FROM regress_dpq_period;
SELECT dp_grant_budget('regress_dpq_renewed', 2, every => '1 month');
SELECT * FROM regress_dpq_period;
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;
UPDATE dpquantile.budget SET period_start = period_start - interval '1 month' WHERE role = 'regress_dpq_renewed'::regrole;
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;
SELECT * FROM regress_dpq_period;
-- A revocation ends the calendar at the next grant, and then everything counts for ever.
SELECT dp_revoke_budget('regress_dpq_renewed'), dp_grant_budget('regress_dpq_renewed', 6);
SELECT * FROM regress_dpq_period;
SELECT epsilon_spent, epsilon_remaining, every, next_year FROM regress_dpq_left;
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;

-- What the owner adds counts in the present period.
SELECT dp_grant_budget('regress_dpq_renewed', 2, 1e-5, every => '1 year');
UPDATE dpquantile.budget SET period_start = period_start - interval '1 year' WHERE role = 'regress_dpq_renewed'::regrole;
SELECT dp_add_charge('regress_dpq_renewed', 1.5, 1e-6);
SELECT * FROM regress_dpq_period;
SELECT epsilon_spent, delta_spent FROM regress_dpq_left;
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;
UPDATE dpquantile.budget SET period_start = period_start - interval '1 year' WHERE role = 'regress_dpq_renewed'::regrole;
SET ROLE regress_dpq_renewed;
:ask;
RESET ROLE;
SELECT * FROM regress_dpq_period;
SELECT epsilon_spent, delta_spent FROM regress_dpq_left;

-- threat 13: a row that is lost, in a restore for example, is made again from the ledger, and counts everything in its first period.
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_renewed'::regrole;
SELECT dp_grant_budget('regress_dpq_renewed', 8, every => '1 year');
SELECT epsilon_spent, epsilon_remaining FROM regress_dpq_left;
-- threat 51: so does a role that is renamed, or dropped and created again.
ALTER ROLE regress_dpq_renewed RENAME TO regress_dpq_renewed_again;
SELECT epsilon_spent, every FROM dp_budget WHERE role = 'regress_dpq_renewed_again';
DROP ROLE regress_dpq_renewed_again;
CREATE ROLE regress_dpq_renewed;
SELECT dp_grant_budget('regress_dpq_renewed', 8, every => '1 year');
SELECT epsilon_spent, epsilon_remaining FROM dp_budget WHERE role = 'regress_dpq_renewed';

-- Accountant zcdp: rho is renewed.
CREATE ROLE regress_dpq_renewed_zcdp;
SELECT dp_grant_budget('regress_dpq_renewed_zcdp', 1, 1e-6, 'zcdp', every => '1 year');
SET ROLE regress_dpq_renewed_zcdp;
SELECT dp_sum(x, 0.2, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x;
SELECT dp_sum(x, 0.2, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x;
RESET ROLE;
UPDATE dpquantile.budget SET period_start = period_start - interval '1 year' WHERE role = 'regress_dpq_renewed_zcdp'::regrole;
SET ROLE regress_dpq_renewed_zcdp;
SELECT dp_sum(x, 0.2, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x;
SELECT dp_sum(x, 0.2, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x;
SELECT epsilon_limit, epsilon_sum, rho_spent, every FROM dp_budget;
RESET ROLE;

DELETE FROM dpquantile.ledger WHERE role_name LIKE 'regress\_dpq\_renewed%';
DELETE FROM dpquantile.budget_name WHERE role_name LIKE 'regress\_dpq\_renewed%';
DELETE FROM dpquantile.budget WHERE role IN ('regress_dpq_renewed'::regrole, 'regress_dpq_renewed_zcdp'::regrole);
DROP VIEW regress_dpq_period, regress_dpq_left;
DROP ROLE regress_dpq_renewed, regress_dpq_renewed_zcdp;
