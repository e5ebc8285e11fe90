-- Tables that protect persons with max_rows: a query sees at most so many rows of each person. With epsilon 50 a row, noise on a
-- count is 0 except with a probability below 1e-20. (protected_queries.sql: shapes of queries; protected_tables.sql: who may protect.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_unit_owner LOGIN;
CREATE ROLE regress_dpq_unit_analyst LOGIN;
CREATE SCHEMA regress_dpq_unit AUTHORIZATION regress_dpq_unit_owner;
GRANT USAGE ON SCHEMA regress_dpq_unit TO regress_dpq_unit_analyst;
SELECT dp_grant_budget('regress_dpq_unit_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_grant_budget('regress_dpq_unit_owner', 10000, 1e-6, 'zcdp');
SELECT dp_restrict_role('regress_dpq_unit_analyst');
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SET search_path = regress_dpq_unit, public;
CREATE TABLE ward (id int PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO ward SELECT i, 'ward ' || i FROM generate_series(1, 60) i;
CREATE TABLE visit (patient text, cost int, ward int, reason text, at date);
-- Patients 1 to 10 have as many visits, "often" has 50, each in a ward of its own, and 7 visits have no patient.
INSERT INTO visit
  SELECT 'patient ' || p, 10 * p + i, i, 'reason ' || i % 3, date '2024-01-01' + i FROM generate_series(1, 10) p, generate_series(1, p) i;
INSERT INTO visit SELECT 'often', 500, i, 'reason', date '2024-01-01' + i FROM generate_series(1, 50) i;
INSERT INTO visit SELECT NULL, 500, i, 'reason', date '2024-01-01' FROM generate_series(1, 7) i;

-- What the owner states
SELECT dp_protect_table('visit', max_rows => 4);
SELECT dp_protect_table('visit', 'patient', -1);
SELECT dp_protect_table('visit', 'patient', 1001);
SELECT dp_protect_table('visit', 'patient');
SELECT dp_protect_table('visit', 'patient', 3);
SELECT dp_protect_table('visit', 'patient', 4);
SELECT dp_protect_table('visit', user_id => 'patient', max_rows => 4);
GRANT SELECT ON ward TO regress_dpq_unit_analyst;
CREATE VIEW recent WITH (security_barrier) AS SELECT patient AS person, cost, ward FROM visit WHERE at > '2024-01-02';
CREATE TABLE stay (patient int, cost int, at date) PARTITION BY RANGE (at);
CREATE TABLE stay_early PARTITION OF stay FOR VALUES FROM (MINVALUE) TO ('2024-01-15');
CREATE TABLE stay_late PARTITION OF stay FOR VALUES FROM ('2024-01-15') TO (MAXVALUE);
INSERT INTO stay SELECT p, 10 * p + i, date '2024-01-01' + i FROM generate_series(1, 30) p, generate_series(1, 30) i;
SELECT dp_protect_table('recent', 'person', 2), dp_protect_table('stay', 'patient', 4);
SELECT dp_set_domain('visit', 'cost', 0, 600, 1), dp_set_domain('visit', 'reason', '{reason,reason 0,reason 1,reason 2,none}');
SELECT dp_grant_private_access(t, 'regress_dpq_unit_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{visit,recent,stay}'::regclass[]) t;
SELECT relation, user_id, max_rows FROM dp_protected_tables;

SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
SET search_path = regress_dpq_unit, public;

-- 1 + 2 + 3 + 4 * 7 of the patients 1 to 10, and 4 of "often": 38. The stated epsilon is charged, for the person.
SELECT dp_count(200) FROM visit;
SELECT function, epsilon, rho IS NOT NULL AS rho, neighbours FROM dp_ledger;
-- An aggregate of a table that the role may read limits nobody's rows, beside one of persons.
SELECT (SELECT dp_count(200) FROM visit) AS visits, (SELECT dp_count(100) FROM ward) AS wards;
-- A group of one person is never shown, so what would only have such groups is refused.
SELECT patient, count(*) FROM visit GROUP BY patient;
-- threat 78: at most four rows of a person, whichever way they are counted
SELECT dp_count(200) FROM visit WHERE patient = 'often';
SELECT sum(n) FROM (SELECT w.id, dp_count(v.patient, 200) AS n FROM ward w LEFT JOIN visit v ON v.ward = w.id AND v.patient = 'often' GROUP BY w.id) t;
SELECT dp_count(200) FILTER (WHERE ward <= 25) + dp_count(200) FILTER (WHERE ward > 25) AS all_wards, dp_count(200) FILTER (WHERE ward % 2 > 5) AS none
  FROM visit WHERE patient = 'often';
SELECT dp_count(200), dp_count(cost, 200) AS costs, dp_count_distinct(ward, 200) AS wards, round((dp_stats(cost, 1000, 0, 600)).count) AS stats,
       dp_histogram(cost, 200, ARRAY[0, 250, 600]::float8[])
  FROM visit WHERE patient = 'often';
SELECT dp_count(200) FROM visit WHERE patient IS NULL;
SELECT dp_count(200) FROM visit WHERE patient IS NULL OR patient = 'patient 1';
-- A condition chooses first.
SELECT dp_count(200) FROM visit WHERE ward <= 2;
-- Groups keep their places if no row of them is seen.
SELECT count(*) FROM (SELECT w.id, dp_count(v.patient, 200) FROM ward w LEFT JOIN visit v ON v.ward = w.id GROUP BY w.id) t;
-- Which rows are seen is another choice in each execution.
SELECT count(DISTINCT wards) > 1 AS several
  FROM (SELECT g, string_agg(id::text, ' ' ORDER BY id) AS wards
          FROM generate_series(1, 12) g,
               LATERAL (SELECT w.id, dp_count(v.patient, 200) AS n FROM ward w LEFT JOIN visit v ON v.ward = w.id AND v.patient = 'often' AND v.cost > g
                         GROUP BY w.id) t
         WHERE n > 0 GROUP BY g) s;

-- Every aggregate of rows
SELECT dp_sum(cost, 1000, 0, 600) BETWEEN 4140 AND 4310 AS sum, dp_median(cost, 1000, 0, 600) BETWEEN 60 AND 110 AS median,
       dp_quantiles(cost, ARRAY[0.01, 0.99], 1000, 0, 600) IS NOT NULL AS quantiles,
       dp_cdf_quantile(dp_cdf(cost, 1000, 0, 600), 0.5) BETWEEN 55 AND 115 AS cdf,
       dp_avg(cost, 1000, 0, 600) BETWEEN 105 AND 118 AS avg, cardinality(dp_synthesize(cost, 10, 1000, 0, 600)) AS synthetic
  FROM visit;
SELECT function, epsilon, neighbours FROM dp_ledger ORDER BY number DESC LIMIT 1;
-- All persons are counted with the whole epsilon, also by groups that are chosen.
SELECT dp_count_distinct(patient, 50) FROM visit;
SELECT function, epsilon, neighbours FROM dp_ledger ORDER BY number DESC LIMIT 1;
SELECT reason, dp_count(200) <= 4 * 11 AS n, dp_count_distinct(patient, 200) BETWEEN 1 AND 11 AS patients
  FROM visit GROUP BY reason HAVING dp_keep_group(patient, 100, 1e-6, 4) ORDER BY 1;
SELECT dp_user_mean(patient, cost, 100, 0, 600, dp_options(method => 'bounded', max_contributions => 2)) IS NOT NULL AS mean FROM visit;

-- Derived tables and CTEs that leave out the person, views, partitions, joins
SELECT dp_count(200) FROM (SELECT cost FROM visit) t;
SELECT dp_count(200) FROM (SELECT c FROM (SELECT cost + 1 AS c, ward AS w FROM visit) t WHERE c > 0) u;
WITH v AS (SELECT cost, ward FROM visit), w AS (SELECT cost FROM v)
SELECT (SELECT dp_count(200) FROM v) AS v, (SELECT dp_count(200) FROM w WHERE cost = 500) AS w, (SELECT dp_count(cost, 200) FROM v) AS c;
SELECT t.name, dp_count(v.cost, 200) FROM (VALUES ('ward 1'), ('ward 60')) t (name)
  LEFT JOIN (SELECT cost, name FROM visit JOIN ward w ON w.id = ward WHERE patient <> 'often') v ON v.name = t.name GROUP BY 1;
-- One visit after 2024-01-02 for patient 2, two for the others but patient 1
SELECT dp_count(200) FROM recent;
SELECT dp_count(200) FROM (SELECT cost FROM recent WHERE person = 'often') t;
SELECT dp_count(200), dp_count(200) FILTER (WHERE at < '2024-01-15') + dp_count(200) FILTER (WHERE at >= '2024-01-15') AS parts FROM stay;
SELECT dp_count(200) FROM visit LEFT JOIN ward w ON w.id = visit.ward;
SELECT dp_count(200) FROM visit, ward w WHERE w.id = visit.ward AND w.name LIKE 'ward %' AND patient = 'often';

-- What is refused: aggregates with a delta, among them dp_keep_group of rows; other persons; grouping sets
SELECT dp_iqr(cost, 100, 1e-6) FROM visit;
SELECT dp_iqr(cost, 100, 0, dp_options(method => 'quantiles', lower => 0, upper => 600)) IS NOT NULL AS iqr FROM visit;
SELECT reason, dp_count(200) FROM visit GROUP BY reason HAVING dp_keep_group(100, 1e-6);
SELECT dp_user_mean(reason, cost, 100, 0, 600, dp_options(method => 'bounded', max_contributions => 2)) FROM visit;
SELECT reason, dp_count(200) > 0 AS some FROM visit GROUP BY reason;
SELECT ward, reason, dp_count(200) FROM visit GROUP BY GROUPING SETS (ward, reason);
SELECT dp_count(0.00001) FROM visit;
SELECT dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, 1000)) FROM visit;
SELECT dpquantile.limited_row(1, 2);

-- Plain SQL
SELECT count(*) BETWEEN 37 AND 39 AS rows, count(DISTINCT patient) AS patients, avg(cost) BETWEEN 80 AND 160 AS avg,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) BETWEEN 50 AND 120 AS median
  FROM visit;
SELECT reason, count(*) FROM visit WHERE patient = 'often' GROUP BY reason;
SELECT ward, count(*) > 0 AS some FROM visit WHERE ward <= 1 GROUP BY ward;
SELECT ward, count(*) > 0 AS some FROM (SELECT ward FROM visit) t WHERE ward <= 1 GROUP BY ward;
SELECT cost, count(*) FROM (SELECT cost, patient FROM visit WHERE cost < 500) t GROUP BY cost HAVING count(*) > 1000;
-- The errors are those of a part of epsilon: a quarter a row, and all of it for the number of persons. With epsilon 100 all of them would be 0.
SET dpquantile.epsilon = 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.25, 0.95) AS rows, dp_error_of(count(DISTINCT patient)) = dp_histogram_error(1, 0.95) AS persons
  FROM visit;
RESET dpquantile.epsilon;
SELECT private_aggregate, epsilon, charged_for, problem FROM dp_explain('SELECT count(*), avg(cost) FROM visit');

SELECT a.private_aggregate, a.expected_error = b.expected_error AS same
  FROM dp_explain('SELECT dp_count(4) FROM visit') a, dp_explain('SELECT dp_count(1) FROM ward') b;

-- A plan is made anew if the limit changes.
PREPARE visits AS SELECT dp_count(200) FROM visit WHERE patient = 'often';
EXECUTE visits;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_protect_table('visit', 'patient', 2);
SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
EXECUTE visits;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_protect_table('visit', 'patient', 0);
SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
EXECUTE visits;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_protect_table('visit', 'patient', 4);
SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
-- threat 259: a session may use fewer rows of a person than the owner allows, not more. Each costs a larger part of epsilon.
SET dpquantile.max_rows = 1;
EXECUTE visits;
SELECT a.private_aggregate, a.expected_error = b.expected_error AS same
  FROM dp_explain('SELECT dp_count(1) FROM visit') a, dp_explain('SELECT dp_count(1) FROM ward') b;
SET dpquantile.max_rows = 3;
EXECUTE visits;
SET dpquantile.max_rows = 5;
EXECUTE visits;
SET dpquantile.max_rows = -1;
SET dpquantile.max_rows = 1001;
RESET dpquantile.max_rows;
EXECUTE visits;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_protect_table('visit', 'patient', 0);
SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
SET dpquantile.max_rows = 4;
EXECUTE visits;
RESET dpquantile.max_rows;
-- Hints say what aggregates over rows need.
SELECT reason, dp_count(200) > 0 AS some FROM visit GROUP BY reason;
SELECT avg(ward) FROM visit;
SELECT variance(ward) FROM visit;
SELECT sum(ward) FROM visit;
SELECT min(ward) FROM visit;
SELECT min(pi()) FROM visit;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_protect_table('visit', 'patient', 4);

-- The noise is that of a part of epsilon: of scale 4 / 0.04 = 100 for epsilon 0.04. A count is never below 0, so the absolute error has
-- mean 66 and standard deviation 78. The mean of 400 is between 35 and 110 except with a probability below 1e-10; without the limit's part it
-- would be 22.
SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
SELECT avg(abs(n - 38)) BETWEEN 35 AND 110 AS scale
  FROM generate_series(1, 400) g, LATERAL (SELECT dp_count(0.04) AS n FROM visit WHERE cost > -g) t;

-- Persons whose rows look alike do not lose the same rows. 400 persons have four rows a day in ten shops, and ten of each person are seen: 400 a
-- day on average, with a standard deviation of at most 19. An error of 120 has a probability below 1e-6 for all days and shops together (Chernoff).
-- If all persons lost the same rows, the numbers would be multiples of 400.
RESET SESSION AUTHORIZATION;
CREATE TABLE alike AS SELECT p AS person, i % 10 AS day, 'shop ' || i % 10 AS shop FROM generate_series(1, 400) p, generate_series(1, 40) i;
-- No person has more rows than are seen.
CREATE TABLE whole AS SELECT i % 500 AS person, i % 1000 AS place, i * 7919 % 101 AS cost FROM generate_series(0, 9999) i;
ALTER TABLE alike OWNER TO regress_dpq_unit_owner;
ALTER TABLE whole OWNER TO regress_dpq_unit_owner;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_protect_table('alike', 'person', 10), dp_protect_table('whole', 'person', 20), dp_set_domain('alike', 'day', 0, 9),
       dp_set_domain('alike', 'shop', ARRAY(SELECT 'shop ' || i FROM generate_series(0, 9) i)), dp_set_domain('whole', 'place', 0, 999),
       dp_set_domain('whole', 'cost', 0, 100, 1) \g /dev/null
SELECT dp_grant_private_access('alike', 'regress_dpq_unit_analyst', epsilon => 100), dp_grant_private_access('whole', 'regress_dpq_unit_analyst', epsilon => 40);
SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
SELECT count(*) AS days, count(*) FILTER (WHERE n BETWEEN 281 AND 519) AS fair FROM (SELECT day, count(*) AS n FROM alike GROUP BY day) t;
SELECT count(*) AS shops, count(*) FILTER (WHERE n BETWEEN 281 AND 519) AS fair FROM (SELECT shop, count(*) AS n FROM alike GROUP BY shop) t;
-- Where no person's rows are cut, answers are within the errors that are told with a probability of 95 %: of 1000 at least 905 of each kind, except with
-- a probability below 1e-6 (Chernoff).
SELECT count(*) AS places, count(*) FILTER (WHERE abs(a.n - t.n) <= n_error) >= 905 AS counts, count(*) FILTER (WHERE abs(a.sum - t.sum) <= sum_error) >= 905 AS sums,
       count(*) FILTER (WHERE abs(a.avg - t.avg) <= avg_error) >= 905 AS means, count(*) FILTER (WHERE abs(a.variance - t.variance) <= variance_error) >= 905 AS variances,
       count(*) FILTER (WHERE abs(a.stddev - t.stddev) <= stddev_error) >= 905 AS deviations
  FROM (SELECT place, count(*) AS n, dp_error_of(count(*)) AS n_error, sum(cost), dp_error_of(sum(cost)) AS sum_error, avg(cost), dp_error_of(avg(cost)) AS avg_error,
               variance(cost), dp_error_of(variance(cost)) AS variance_error, stddev(cost), dp_error_of(stddev(cost)) AS stddev_error
          FROM whole GROUP BY place) a
  JOIN (SELECT i % 1000 AS place, count(*) AS n, sum(i * 7919 % 101), avg(i * 7919 % 101), variance(i * 7919 % 101), stddev(i * 7919 % 101)
          FROM generate_series(0, 9999) i GROUP BY 1) t USING (place);

-- Plans: of parallel workers, with memory for few rows, and with sorted groups. The rows of 20000 persons, 1 to 9 of each
RESET SESSION AUTHORIZATION;
SET search_path = regress_dpq_unit, public;
CREATE TABLE many AS SELECT p AS person, i AS number, md5(p::text || i) AS text FROM generate_series(1, 20000) p, generate_series(1, 1 + p % 9) i;
ALTER TABLE many OWNER TO regress_dpq_unit_owner;
ANALYZE many;
CREATE TABLE moved AS SELECT p AS person, p % 3 AS before, p % 3 AS after FROM generate_series(1, 30) p;
ALTER TABLE moved OWNER TO regress_dpq_unit_owner;
SELECT sum(least(n, 3)) AS expected FROM (SELECT count(*) AS n FROM many GROUP BY person) t \gset
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_protect_table('many', 'person', 3), dp_grant_private_access('many', 'regress_dpq_unit_analyst');
SELECT dp_protect_table('moved', 'person', 3), dp_grant_private_access('moved', 'regress_dpq_unit_analyst');
SET SESSION AUTHORIZATION regress_dpq_unit_analyst;
SELECT dp_count(150) = :expected AS rows, dp_count(text, 150) = :expected AS texts FROM many;
SET work_mem = '64kB';
SELECT dp_count(150) = :expected AS rows, dp_count(text, 150) = :expected AS texts FROM many;
SELECT sum(n) = :expected AS rows FROM (SELECT k, dp_count(m.person, 150) AS n FROM generate_series(1, 9) k LEFT JOIN many m ON m.number = k GROUP BY k) t;
SET enable_hashagg = off;
SELECT sum(n) = :expected AS rows FROM (SELECT k, dp_count(m.person, 150) AS n FROM generate_series(1, 9) k LEFT JOIN many m ON m.number = k GROUP BY k) t;
-- Each group is one, also if another column is equal to the key: that one is not kept.
SELECT after, dp_count(150) FROM moved WHERE before = after GROUP BY after HAVING dp_keep_group(person, 50, 1e-6, 1);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT dp_count(150) = :expected AS rows, dp_count(text, 150) = :expected AS texts FROM many;
RESET ALL;
RESET SESSION AUTHORIZATION;

-- The node and its condition, for a role that may read the table
GRANT USAGE ON SCHEMA dpquantile TO regress_dpq_unit_owner;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SET search_path = regress_dpq_unit, public;
EXPLAIN (COSTS off) SELECT ward, dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, 4) AND cost > 10) FROM visit GROUP BY ward;
SELECT dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, 4)) FROM visit WHERE patient = 'often';
-- In rho, with a sixteenth for each of four rows
SELECT dp_count(NULL, dp_options(rho => 400)) FILTER (WHERE dpquantile.limited_row(patient, 4)) FROM visit WHERE patient = 'often';
SELECT function, epsilon, rho, neighbours FROM dp_ledger WHERE role = 'regress_dpq_unit_owner' ORDER BY number DESC LIMIT 1;
SELECT dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, 4)), dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, 5)) FROM visit;
SELECT dp_count(200) FILTER (WHERE NOT dpquantile.limited_row(patient, 4)) FROM visit;
SELECT dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, ward)) FROM visit;
SELECT dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, 0)) FROM visit;
SELECT ward, dp_count(200) FILTER (WHERE dpquantile.limited_row(patient, 4)) FROM visit GROUP BY ROLLUP (ward);
-- Rows come through as they are, in memory and on disk: values of all kinds of types, NULLs, compressed values
RESET SESSION AUTHORIZATION;
CREATE TABLE kind AS
  SELECT i % 150 AS person, i AS number, (i % 300)::int2 AS small, i % 3 = 0 AS third, chr(65 + i % 26)::"char" AS letter, i * 10000000000 AS large,
         i / 7.0 AS quotient, (i / 8.0)::float4 AS eighth, md5(i::text)::uuid AS id, ('n' || i)::name AS name,
         CASE WHEN i % 4 > 0 THEN repeat(md5(i::text), i % 200) END AS text, ARRAY[i, NULL, i + 1] AS list, i * interval '1 day' AS days
    FROM generate_series(1, 3000) i;
ALTER TABLE kind OWNER TO regress_dpq_unit_owner;
\set right 'dpquantile.limited_row(person, 20) AND small = number % 300 AND third = (number % 3 = 0) AND letter = chr(65 + number % 26)::"char" AND large = number * 10000000000 AND quotient = number / 7.0 AND eighth = (number / 8.0)::float4 AND id = md5(number::text)::uuid AND name = \'n\' || number AND list = ARRAY[number, NULL, number + 1] AND days = number * interval \'1 day\' AND text IS NOT DISTINCT FROM CASE WHEN number % 4 > 0 THEN repeat(md5(number::text), number % 200) END'
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT dp_count(1000) FILTER (WHERE :right) AS right FROM kind;
SET work_mem = '64kB';
SELECT dp_count(1000) FILTER (WHERE :right) AS right FROM kind;
-- 150 persons; persons by a number, of which each row has another; a key that is the person
SELECT dp_count(text, 200) FILTER (WHERE dpquantile.limited_row(person, 7)) <= 1050 AS texts,
       dp_count(200) FILTER (WHERE dpquantile.limited_row(person, 7)) AS rows FROM kind;
SELECT dp_count(number, 200) FILTER (WHERE dpquantile.limited_row(quotient, 1)) AS rows FROM kind;
SELECT person, dp_count(200) FILTER (WHERE dpquantile.limited_row(person, 7)) AS rows FROM kind WHERE person < 3 GROUP BY person;
RESET work_mem;
-- The user is also counted. A row that is not chosen is left out without GROUP BY.
SELECT dp_count_distinct(person, 200) AS persons, dp_count(200) FILTER (WHERE dpquantile.limited_row(person, 7)) AS rows FROM kind;
SELECT dp_count_distinct(person, 200) FILTER (WHERE dpquantile.limited_row(person, 7)) AS persons FROM kind;

RESET SESSION AUTHORIZATION;
-- threat 118: an id that is stored in two ways, or has two spellings, is one person; ids that differ are two. One row of each person is seen.
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN padded AS char(12);
CREATE TABLE texts (id text, x int);
CREATE TABLE varchars (id varchar(300));
CREATE TABLE names (id name);
CREATE TABLE bytes (id bytea);
CREATE TABLE uuids (id uuid);
CREATE TABLE chars (id bpchar);
CREATE TABLE fixed_chars (id char(12));
CREATE TABLE domains (id padded);
CREATE TABLE numerics (id numeric);
CREATE TABLE inets (id inet);
CREATE TABLE zoned (id timetz);
CREATE TABLE cases (id text COLLATE no_case);
-- Sizes up to 200 bytes; at each two that differ in the first byte and two that differ in the last. The headers have one byte and four.
INSERT INTO texts SELECT CASE WHEN k % 2 = 0 THEN repeat('x', n - 1) || k WHEN n > 1 THEN k || repeat('x', n - 1) ELSE '' END
  FROM generate_series(1, 200) n, generate_series(1, 4) k;
INSERT INTO varchars SELECT id FROM texts;
INSERT INTO bytes SELECT id::bytea FROM texts UNION ALL SELECT decode(repeat('00', n), 'hex') FROM generate_series(0, 70) n;
INSERT INTO texts SELECT repeat(md5(n::text), 200 * n) FROM generate_series(1, 9) n;
ALTER TABLE texts ALTER id SET STORAGE plain;
INSERT INTO texts SELECT id FROM texts WHERE length(id) <= 200;
ALTER TABLE texts ALTER id SET STORAGE external;
INSERT INTO texts SELECT id || '' FROM texts WHERE length(id) > 200;
INSERT INTO names SELECT DISTINCT left(id, 60) FROM varchars;
INSERT INTO uuids SELECT md5((n % 300)::text)::uuid FROM generate_series(1, 900) n;
INSERT INTO chars SELECT repeat(blank, n) FROM generate_series(0, 9) n, unnest(ARRAY[' ', chr(160)]) blank;
INSERT INTO chars SELECT id || repeat(' ', n) FROM (SELECT DISTINCT id FROM varchars) t, unnest('{0,1,2,60}'::int[]) n;
INSERT INTO chars SELECT repeat(' ', n) || 'a' FROM generate_series(0, 70) n;
INSERT INTO fixed_chars SELECT left(id, 12) FROM varchars;
INSERT INTO domains SELECT left(id, 12) FROM varchars;
INSERT INTO numerics SELECT (n || suffix)::numeric FROM generate_series(-50, 50) n, unnest('{"",.0,.00,.5,.50,e9,e-9,000000000}'::text[]) suffix;
INSERT INTO numerics VALUES ('NaN'), ('NaN'), ('Infinity'), ('-Infinity'), ('-0'), ('0.000'), ('1e1000'), ('1e1000');
INSERT INTO inets VALUES ('10.0.0.1'), ('10.0.0.1/32'), ('10.0.0.1/24'), ('::1'), ('10.0.0.2'), ('::1/128');
INSERT INTO zoned VALUES ('12:00+00'), ('12:00+00'), ('13:00+01'), ('12:00+01');
INSERT INTO cases SELECT CASE k WHEN 1 THEN upper(name) ELSE name END FROM unnest('{anna,bert,an,"",patient with a name of more than sixty-four characters in all its words}'::text[]) name,
                         generate_series(1, 3) k;
GRANT SELECT ON texts, varchars, names, bytes, uuids, chars, fixed_chars, domains, numerics, inets, zoned, cases TO regress_dpq_unit_owner;
SET SESSION AUTHORIZATION regress_dpq_unit_owner;
SELECT format('SELECT %1$L AS ids, rows, ids AS persons, seen FROM (SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM %1$I) a,
               (SELECT dp_count(100) FILTER (WHERE dpquantile.limited_row(id, 1)) AS seen FROM %1$I) b', name)
  FROM unnest('{texts,varchars,names,bytes,uuids,chars,fixed_chars,domains,numerics,inets,zoned,cases}'::text[]) name \gexec
-- Also where rows are kept with their values
SELECT dp_count(x, 100) FILTER (WHERE dpquantile.limited_row(id, 1)) AS none, dp_count(100) FILTER (WHERE dpquantile.limited_row(id, 1)) AS seen FROM texts;

RESET SESSION AUTHORIZATION;
SELECT dpquantile.limited_row(patient, 4) FROM visit;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_unit CASCADE;
DROP OWNED BY regress_dpq_unit_owner, regress_dpq_unit_analyst;
DROP ROLE regress_dpq_unit_owner, regress_dpq_unit_analyst;
