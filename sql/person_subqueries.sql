-- Subqueries in expressions about the person of a row: EXISTS, IN and one row of aggregates. A count of persons has epsilon 100, and one
-- of rows 25: noise on it is 0 except with a probability below 1e-10.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_cohorts_owner LOGIN;
CREATE ROLE regress_dpq_cohorts_analyst LOGIN;
CREATE SCHEMA regress_dpq_cohorts AUTHORIZATION regress_dpq_cohorts_owner;
GRANT USAGE ON SCHEMA regress_dpq_cohorts TO regress_dpq_cohorts_analyst;
SELECT dp_grant_budget('regress_dpq_cohorts_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_cohorts_analyst');
SET SESSION AUTHORIZATION regress_dpq_cohorts_owner;
SET search_path = regress_dpq_cohorts, public;
CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO region VALUES (1, 'north'), (2, 'south');
GRANT SELECT ON region TO regress_dpq_cohorts_analyst;
-- 40 patients; patient p has p % 4 visits, the first of kind web, the last ones in 2025. Patient 100 has 30 visits. Five visits are nobody's.
CREATE TABLE patients (id int PRIMARY KEY, region int, birth date);
INSERT INTO patients SELECT p, 1 + p % 2, date '1950-01-01' + p FROM generate_series(1, 40) p;
INSERT INTO patients VALUES (100, 1, '2000-01-01');
CREATE TABLE visits (patient bigint, day date, minutes int, kind text);
INSERT INTO visits SELECT p, date '2022-06-15' + 365 * i, 5 * i, CASE WHEN i = 1 THEN 'web' ELSE 'ward' END FROM generate_series(1, 40) p, generate_series(1, p % 4) i;
INSERT INTO visits SELECT 100, '2024-01-01', i, 'ward' FROM generate_series(1, 30) i;
INSERT INTO visits SELECT NULL, '2024-01-01', 10, 'web' FROM generate_series(1, 5) i;
CREATE TABLE calls (patient bigint, minutes int);
INSERT INTO calls SELECT i % 10, i FROM generate_series(1, 50) i;
CREATE TABLE rows_alone (patient bigint, minutes int);
CREATE TABLE others (id int PRIMARY KEY);
SELECT dp_protect_table('patients', 'id', 1, 'patient'), dp_protect_table('visits', 'patient', 4, 'patient'),
       dp_protect_table('calls', 'patient', unit => 'patient'), dp_protect_table('rows_alone'), dp_protect_table('others', 'id', 1);
SELECT dp_set_domain('visits', 'minutes', 0, 60), dp_set_domain('visits', 'kind', '{web,ward}'), dp_set_domain('visits', 'day', '2022-01-01', '2026-12-31');
SELECT dp_grant_private_access(t, 'regress_dpq_cohorts_analyst', epsilon => 100, delta => 1e-6)
  FROM unnest('{patients,visits,calls,rows_alone,others}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_cohorts_analyst;
SET search_path = regress_dpq_cohorts, public;

-- Cohorts. Rows of nobody are in no list, so that NOT IN is not NULL for all.
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id);
SELECT count(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE p.id = v.patient AND v.kind = 'web' LIMIT 1);
SELECT count(*) FROM patients WHERE id IN (SELECT patient FROM visits WHERE kind = 'web');
SELECT count(*) FROM patients WHERE id NOT IN (SELECT DISTINCT patient FROM visits WHERE kind = 'web');
SELECT count(*) FROM patients WHERE id = ANY (SELECT patient FROM visits GROUP BY patient HAVING count(*) >= 3);
SELECT count(*) FROM patients p WHERE id IN (SELECT patient FROM visits GROUP BY patient, kind HAVING count(*) >= 2);
SELECT dp_count(100), dp_count_distinct(p.id, 100) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id AND v.kind = 'ward') OR birth = '1950-01-02';
-- The tables of subqueries do not limit the rows of a person: a patient has one row, and the whole epsilon.
SELECT dp_error_of(count(*)) = dp_histogram_error(100, 0.95) AS whole FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id);
SELECT private_aggregate, epsilon, problem FROM dp_explain('SELECT count(*) FROM patients WHERE id IN (SELECT patient FROM visits)');
-- Values
SELECT count(*) FROM patients p WHERE (SELECT count(*) FROM visits v WHERE v.patient = p.id) = 0;
SELECT (SELECT count(*) FROM visits v WHERE v.patient = p.id) AS n, count(*) FROM patients p GROUP BY n ORDER BY n;
SELECT abs(sum((SELECT count(*) FROM visits v WHERE v.patient = p.id)) - 64) < 1 AS right FROM patients p;
SELECT count(*) FROM patients p WHERE p.birth < (SELECT min(day) FROM visits v WHERE v.patient = p.id AND v.patient < 21) - 25000;
SELECT count(*) FROM patients p WHERE (SELECT coalesce(sum(minutes), -1) + count(*) FROM visits v WHERE v.patient = p.id) = -1;
SELECT count(*) FROM patients p WHERE (SELECT coalesce(sum(minutes), -1) FROM visits v WHERE v.patient = p.id GROUP BY v.patient) IS NULL;
SELECT count(*) FROM patients p WHERE (SELECT max(day) FROM visits v WHERE v.patient = p.id HAVING count(*) > 2) > '2025-01-01';
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id HAVING count(*) < 3);
-- threat 313: a long expression with which a column is compared that the subquery names often; its copies are counted before they are made.
DO $$
DECLARE mentions int; detail text;
BEGIN
  FOREACH mentions IN ARRAY '{5,1000}'::int[] LOOP
    BEGIN
      EXECUTE 'SELECT count(*) FROM patients p WHERE (SELECT max(v.patient)' || repeat(' + v.minutes', mentions) || ' FROM visits v WHERE v.patient = p.id AND v.minutes = p.region'
        || repeat(' + p.region', mentions) || ' GROUP BY v.patient, v.minutes) > 3';
      RAISE NOTICE '% mentions: answered', mentions;
    EXCEPTION WHEN statement_too_complex THEN
      GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
      RAISE NOTICE '% mentions: %, %', mentions, SQLERRM, CASE detail WHEN '' THEN 'before the copies' ELSE 'as copies' END;
    END;
  END LOOP;
END $$;
-- In FILTER, CASE and ON, beside keys, in derived tables, CTEs, person groups and lists of FROM
SELECT r.name, count(p.id) FILTER (WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id AND kind = 'web')) AS web, count(p.id) AS all
  FROM region r LEFT JOIN patients p ON p.region = r.id GROUP BY r.name ORDER BY 1;
SELECT CASE WHEN EXISTS (SELECT FROM visits v WHERE v.patient = p.id) THEN 'some' ELSE 'none' END AS visits, count(*) FROM patients p GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM patients p LEFT JOIN (SELECT patient FROM visits GROUP BY patient) v ON v.patient = p.id AND EXISTS (SELECT FROM calls c WHERE c.patient = v.patient)
  WHERE v.patient IS NULL;
SELECT kind, count(*) FROM patients p JOIN visits v ON v.patient = p.id AND p.id NOT IN (SELECT patient FROM visits WHERE minutes > 10) GROUP BY kind ORDER BY 1;
SELECT count(*) FROM visits v, patients p WHERE v.patient = p.id AND EXISTS (SELECT FROM calls c WHERE c.patient = v.patient);
SELECT count(*) FROM (SELECT id, EXISTS (SELECT FROM visits v WHERE v.patient = p.id) AS is_there FROM patients p) x WHERE NOT is_there;
WITH web AS (SELECT v.*, r.name FROM visits v JOIN region r ON r.id = v.minutes / 5 WHERE kind = 'web')
  SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM web WHERE web.patient = p.id AND web.name = 'north');
SELECT count(*) FROM (SELECT patient, count(*) AS n FROM visits v WHERE patient IN (SELECT id FROM patients WHERE region = 1) GROUP BY patient) x WHERE n > 1;
SELECT region, count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id) GROUP BY ROLLUP (region) ORDER BY region;
-- The table itself, and a subquery in a subquery, which may name the person of the row around both
SELECT count(*) FROM visits v WHERE kind = 'ward' AND EXISTS (SELECT FROM visits w WHERE w.patient = v.patient AND w.minutes = 15 AND w.kind = 'ward');
SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM calls c WHERE c.patient = v.patient AND EXISTS (SELECT FROM visits w WHERE w.patient = v.patient AND kind = 'ward'));
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id AND NOT EXISTS (SELECT FROM calls c WHERE c.patient = v.patient));

-- Other columns of the row, which = compares with ones of the subquery: of patient p with p % 4 = 3 visits 2 and 3 are of one kind. 4 visits of patient 100 are seen.
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id AND v.minutes = 5 * p.region);
SELECT count(*) FROM visits v WHERE (patient, kind) IN (SELECT patient, kind FROM visits GROUP BY patient, kind HAVING count(*) > 1);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient AND w.kind = v.kind GROUP BY w.patient, w.kind HAVING count(*) > 1);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM visits w WHERE w.patient = v.patient AND w.day = v.day + 365);
SELECT count(*) FROM visits v WHERE NOT EXISTS (SELECT FROM visits w WHERE w.patient = v.patient AND w.day = v.day + 365 AND w.kind = 'ward');
SELECT count(*) FROM visits v WHERE minutes > (SELECT avg(minutes) FROM visits w WHERE w.patient = v.patient AND w.kind = v.kind);
SELECT count(*) FROM visits v WHERE (SELECT count(*) FROM visits w WHERE w.patient = v.patient AND w.kind = v.kind AND w.minutes > 10) = 0;
SELECT count(*) FROM visits v LEFT JOIN (SELECT patient, kind, count(*) AS n FROM visits GROUP BY patient, kind) w ON w.patient = v.patient AND w.kind = v.kind WHERE n > 1;
-- All ways to ask for persons with several rows
SELECT count(*) FROM visits v WHERE EXISTS (SELECT w.patient, count(*) FROM visits w WHERE w.patient = v.patient GROUP BY v.patient, w.patient HAVING count(*) > 2);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient GROUP BY w.patient HAVING count(*) > 2);
SELECT count(*) FROM visits v WHERE 2 < (SELECT count(*) FROM visits w WHERE w.patient = v.patient GROUP BY w.patient);
SELECT count(*) FROM patients WHERE id = ANY (ARRAY(SELECT patient FROM visits GROUP BY patient HAVING count(*) > 2));
SELECT count(*) FROM patients WHERE NOT id = ANY (ARRAY(SELECT patient FROM visits WHERE minutes > 10));
SELECT count(*) FROM patients WHERE id <> ALL (ARRAY(SELECT patient FROM visits));
SELECT count(*) FROM patients WHERE id IN (SELECT patient FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) v WHERE n > 2);
WITH often AS (SELECT patient FROM visits GROUP BY patient HAVING count(*) > 2) SELECT count(*) FROM visits WHERE patient NOT IN (SELECT patient FROM often);

-- What is not about the person of the row (threats 188 and 189)
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.kind = 'web');
SELECT count(*) FROM patients p WHERE region IN (SELECT minutes FROM visits v WHERE v.patient = p.id);
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient > p.id);
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id AND v.day > p.birth);
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id AND EXISTS (SELECT FROM calls c WHERE c.patient = v.patient AND c.minutes = p.region));
SELECT count(*) FROM patients p WHERE (SELECT day FROM visits v WHERE v.patient = p.id ORDER BY day LIMIT 1) > '2024-01-01';
SELECT count(*) FROM patients p WHERE (SELECT count(*) FROM visits v WHERE v.patient = p.id GROUP BY v.kind) > 1;
SELECT count(*) FROM patients p WHERE id IN (SELECT patient FROM visits LIMIT 5);
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id OFFSET 1);
SELECT count(*) FROM patients p WHERE (id, region) IN (SELECT patient, minutes FROM visits);
-- threat 276: other columns, by another comparison, of another type, where NULL in the list would count, or of groups of which a row meets several
SELECT count(*) FROM patients p WHERE (id, region) NOT IN (SELECT patient, minutes FROM visits);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM visits w WHERE w.patient = v.patient AND w.day <> v.day);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM visits w WHERE w.patient = v.patient AND w.minutes = v.minutes * 1.5);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM visits w WHERE w.kind = v.kind AND w.day = v.day);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM visits w WHERE w.patient = v.patient AND w.kind = v.kind COLLATE "C");
SELECT dp_count(100) FROM visits v LEFT JOIN (SELECT patient, kind, day FROM visits GROUP BY 1, 2, 3) w ON w.patient = v.patient AND w.kind = v.kind;
SELECT dp_count(100) FROM visits v LEFT JOIN (SELECT patient, kind FROM visits GROUP BY 1, 2) w ON w.patient = v.patient AND w.kind <> v.kind;
SELECT dp_count(100) FROM visits v LEFT JOIN (SELECT patient, kind FROM visits GROUP BY 1, 2) w ON w.patient = v.patient AND w.kind::bpchar = v.kind::bpchar;
SELECT dp_count(100) FROM visits v LEFT JOIN (SELECT patient, day::timestamp AS at FROM visits GROUP BY 1, 2) w ON w.patient = v.patient AND w.at = timestamptz '2024-01-01';
SELECT dp_count(100) FROM visits v JOIN (SELECT patient, kind FROM visits GROUP BY 1, 2) w ON w.patient = v.patient AND w.kind = v.kind;
SELECT dp_count(100) FROM visits v LEFT JOIN (SELECT g.patient, g.kind FROM (SELECT patient, kind, day FROM visits GROUP BY 1, 2, 3) g WHERE day > '2023-01-01') w ON w.patient = v.patient AND w.kind = v.kind;
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM others o WHERE o.id = p.id);
SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM rows_alone o WHERE o.patient = p.id);
SELECT count(*) FROM region r WHERE EXISTS (SELECT FROM patients p WHERE p.region = r.id);
SELECT count(*) FROM patients p WHERE (SELECT string_agg(kind, ',') FROM visits v WHERE v.patient = p.id) = 'web';
SELECT count(*) FROM patients p WHERE p.id < (SELECT count(*) FROM visits);
SELECT problem FROM dp_explain('SELECT count(*) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.day > p.birth) AND id IN (SELECT minutes FROM visits)');
-- threat 315: a WITH query that has changed is read anew before one that names it is looked at. What was read before ended the server.
WITH n AS (SELECT p.id, (SELECT max(minutes) FROM visits v WHERE v.patient = p.id) AS a, (SELECT max(minutes) FROM calls v WHERE v.patient = p.id) AS b, (SELECT max(minutes) FROM visits v WHERE v.patient = p.id AND v.kind = 'web') AS c FROM patients p),
     d AS (SELECT DISTINCT a, b, c FROM n)
SELECT count(*) IS NOT NULL AS answered FROM visits;
-- threat 316: WITH queries that name the one before twice have twice as many tables at each step, also where nobody names the last one.
SET statement_timeout = '30s';
DO $$
DECLARE
  steps text := (SELECT string_agg(format('c%s AS (SELECT a.id FROM c%s a, c%s b)', i, i - 1, i - 1), ', ') FROM generate_series(1, 30) i);
BEGIN
  FOR i IN 1..2 LOOP
    BEGIN
      EXECUTE CASE i WHEN 1 THEN 'WITH c0 AS (SELECT id FROM region), ' || steps || ' SELECT count(*) FROM visits'
                     ELSE 'SELECT count(*) FROM patients WHERE region IN (WITH c0 AS (SELECT id FROM region), ' || steps || ' SELECT id FROM region)' END;
    EXCEPTION WHEN statement_too_complex THEN RAISE NOTICE '%', SQLERRM;
    END;
  END LOOP;
END $$;
RESET statement_timeout;

-- threat 330: different subqueries, of which each is a join around those before it: 450 took 780 MB, until the stack of the server ended
SELECT 'SELECT count(*) FROM patients p WHERE ' || string_agg('EXISTS (SELECT FROM visits v WHERE v.patient = p.id AND v.minutes = ' || i || ')', ' OR ') AS many FROM generate_series(1, 450) i
\gset
:many;

RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_cohorts CASCADE;
DROP OWNED BY regress_dpq_cohorts_owner, regress_dpq_cohorts_analyst;
DROP ROLE regress_dpq_cohorts_owner, regress_dpq_cohorts_analyst;
