-- The ledger's record of each charge, and who sees which budget and charges
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_ledger;
CREATE ROLE regress_dpq_ledger_other;
CREATE SCHEMA AUTHORIZATION regress_dpq_ledger;
SELECT dp_grant_budget('regress_dpq_ledger', 10, smallest_charge => 1e-6);
SELECT dp_grant_budget('regress_dpq_ledger_other', 5);
SET ROLE regress_dpq_ledger;
CREATE TABLE t AS SELECT x::float8, x % 2 AS a, x % 3 AS b FROM generate_series(1, 100) x;
GRANT USAGE ON SCHEMA regress_dpq_ledger TO regress_dpq_ledger_other;
GRANT SELECT ON t TO regress_dpq_ledger_other;

SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS m FROM t;
SELECT dp_quantile(x::numeric, 0.9, 1e-6, 0, 100) IS NOT NULL AS q FROM t;
SELECT dp_quantiles(x, '{0.25,0.75}', 0.25, 0, 100, dp_options(granularity => 1)) IS NOT NULL AS qs FROM t;
SELECT a, dp_median(x, 0.1, 0, 100) IS NOT NULL AS m FROM t GROUP BY a ORDER BY a;
SELECT a, b, dp_median(x, 0.1, 0, 100) IS NOT NULL AS m FROM t GROUP BY CUBE (a, b) HAVING count(*) < 0;
SELECT a, b, dp_median(x, 0.1, 0, 100) IS NOT NULL AS m FROM t GROUP BY CUBE (a, b) LIMIT 0;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS m FROM t GROUP BY ();
SELECT dp_median(x, 0.2, 0, 100) IS NOT NULL AS m, dp_median(x, 0.3, 0, 100) IS NOT NULL AS m FROM t;
SELECT dp_median(x, 1, 100, 0) FROM t;

-- The ledger has the number of groups only if it is 1 for any data.
SELECT number, role, session_role = session_user AS session, function, mechanism, neighbours, epsilon, delta,
       grouping_sets, groups, query
  FROM dp_ledger;
SELECT bool_and(charged_at BETWEEN now() - interval '1 hour' AND clock_timestamp()) AS charged_now FROM dp_ledger;
-- threat 48: an analyst sees minutes of UTC, also in a time zone that is some seconds off, and the order of the numbers.
SET TIME ZONE INTERVAL '00:00:32' HOUR TO SECOND;
SELECT bool_and(mod(extract(epoch FROM charged_at), 60) = 0) AS minutes FROM dp_ledger;
RESET TimeZone;
SELECT array_agg(number) = array_agg(number ORDER BY number) AS in_order, min(number) AS first, max(number) = count(*) AS complete
  FROM dp_ledger;
-- The budget and the ledger agree.
SELECT epsilon_spent = (SELECT sum(epsilon) FROM dp_ledger) AS agree FROM dp_budget;

-- threat 49: the ledger cuts a long query text after 2 kB, between two characters, and stores each text of a budget once.
SELECT format('SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL FROM t -- %s', repeat(chr(228), 10000)) AS long \gset
:long;
SELECT octet_length(query) BETWEEN 2045 AND 2048 AS cut, query = left(:'long', length(query)) AS between_characters
  FROM dp_ledger WHERE length(query) > 1000;
:long;
:long;
RESET ROLE;
SELECT count(*) AS charges, count(DISTINCT query) AS texts FROM dp_ledger WHERE role = 'regress_dpq_ledger' AND length(query) > 1000;
SELECT count(*) AS stored FROM dpquantile.query_text JOIN dpquantile.budget USING (budget_id)
 WHERE role = 'regress_dpq_ledger'::regrole AND length(query) > 1000;
-- Every charge has its text.
SELECT count(*) AS dangling
  FROM dpquantile.ledger l LEFT JOIN dpquantile.query_text t USING (budget_id, query_hash)
 WHERE l.query_hash IS NOT NULL AND t.query IS NULL;
SET ROLE regress_dpq_ledger;

-- A role sees only its own budget and charges, also through a function in a condition.
RESET ROLE;
CREATE FUNCTION regress_dpq_ledger.show(anything text) RETURNS boolean LANGUAGE plpgsql COST 0.0001
  AS $$ BEGIN RAISE NOTICE 'sees %', anything; RETURN true; END $$;
SET ROLE regress_dpq_ledger_other;
SELECT dp_median(x, 0.5, 0, 100) IS NOT NULL AS other FROM regress_dpq_ledger.t;
SELECT role, epsilon_limit, epsilon_spent FROM dp_budget WHERE regress_dpq_ledger.show(role::text);
SELECT role, function, epsilon FROM dp_ledger WHERE regress_dpq_ledger.show(role::text);
SET ROLE regress_dpq_ledger;
SELECT count(*) AS budgets FROM dp_budget;
SELECT role, count(*) FROM dp_ledger GROUP BY role;
SELECT role, count(*) FROM dp_ledger WHERE role = 'regress_dpq_ledger_other' GROUP BY role;

-- The owner of the extension and its members see everything.
RESET ROLE;
SELECT extowner::regrole AS owner FROM pg_extension WHERE extname = 'dpquantile' \gset
SELECT role, count(*) FROM dp_ledger WHERE role LIKE 'regress\_dpq\_ledger%' GROUP BY role ORDER BY role;
CREATE ROLE regress_dpq_ledger_member;
CREATE ROLE regress_dpq_ledger_no_heir NOINHERIT;
GRANT :owner TO regress_dpq_ledger_member, regress_dpq_ledger_no_heir;
SET ROLE regress_dpq_ledger_member;
SELECT role FROM dp_budget WHERE role::text LIKE 'regress\_dpq\_ledger%' ORDER BY role::text;
SELECT role, count(*) FROM dp_ledger WHERE role LIKE 'regress\_dpq\_ledger%' GROUP BY role ORDER BY role;
SET ROLE regress_dpq_ledger_no_heir;
SELECT count(*) AS budgets FROM dp_budget;
SELECT count(*) AS charges FROM dp_ledger;

-- A charge keeps the names that the roles had. A renamed role still sees it.
RESET ROLE;
ALTER ROLE regress_dpq_ledger_other RENAME TO regress_dpq_ledger_renamed;
SET SESSION AUTHORIZATION regress_dpq_ledger_renamed;
SELECT dp_median(x, 0.5, 0, 100) IS NOT NULL AS renamed FROM regress_dpq_ledger.t;
SELECT number, role, session_role = 'regress_dpq_ledger_renamed' AS session, epsilon FROM dp_ledger;
RESET SESSION AUTHORIZATION;

-- The owner sees the time in full, and all charges in the order of time.
SELECT bool_or(mod(extract(epoch FROM charged_at), 60) <> 0) AS in_full,
       array_agg(charged_at) = array_agg(charged_at ORDER BY charged_at) AS in_order
  FROM dp_ledger WHERE role LIKE 'regress\_dpq\_ledger%';
-- threat 48: rows that are stored in another order come in the order of the numbers. No two charges of a budget have the
-- same number.
UPDATE dpquantile.ledger SET groups = groups WHERE role_name = 'regress_dpq_ledger' AND number = 1;
SET ROLE regress_dpq_ledger;
SELECT array_agg(number) = array_agg(number ORDER BY number) AS in_order FROM dp_ledger;
RESET ROLE;
\set VERBOSITY sqlstate
UPDATE dpquantile.ledger SET number = 1 WHERE role_name = 'regress_dpq_ledger' AND number = 2;
\set VERBOSITY default

DROP FUNCTION regress_dpq_ledger.show(text);
DROP OWNED BY regress_dpq_ledger, regress_dpq_ledger_renamed;
DROP ROLE regress_dpq_ledger, regress_dpq_ledger_renamed, regress_dpq_ledger_member, regress_dpq_ledger_no_heir;
