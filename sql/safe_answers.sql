-- What is computed of answers does not fail after the charge (threat 204): it is NULL where PostgreSQL raises an error. Two counts of one
-- query are the same answer, so that their difference is 0. Counts have epsilon 100: noise on them is 0 except with a probability below 1e-10.
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_dpq_safe_owner LOGIN;
CREATE ROLE regress_dpq_safe_analyst LOGIN;
CREATE SCHEMA regress_dpq_safe AUTHORIZATION regress_dpq_safe_owner;
GRANT USAGE ON SCHEMA regress_dpq_safe TO regress_dpq_safe_analyst;
SELECT dp_grant_budget('regress_dpq_safe_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_safe_analyst');
SET SESSION AUTHORIZATION regress_dpq_safe_owner;
SET search_path = regress_dpq_safe, public;
CREATE TABLE shop (id int PRIMARY KEY, size int);
INSERT INTO shop VALUES (1, 5), (2, 0);
GRANT SELECT ON shop TO regress_dpq_safe_analyst;
CREATE TABLE visits (kind text NOT NULL, amount int, city text);
INSERT INTO visits SELECT CASE WHEN i % 4 = 0 THEN 'web' ELSE 'store' END, i % 10, CASE i WHEN 7 THEN 'Vaduz' ELSE 'Oslo' END FROM generate_series(1, 40) i;
SELECT dp_protect_table('visits'), dp_set_domain('visits', 'kind', '{web,store,phone}'), dp_set_domain('visits', 'amount', 0, 9),
       dp_grant_private_access('visits', 'regress_dpq_safe_analyst', epsilon => 100, delta => 1e-12);
SET SESSION AUTHORIZATION regress_dpq_safe_analyst;
SET search_path = regress_dpq_safe, public;

-- In the query of the answers, with groups of a public list that have no rows
SELECT kind, sum(amount) / count(*) IS NULL AS is_null, dp_count(100) / count(*) AS one FROM visits GROUP BY kind ORDER BY 100 / count(*), kind;
SELECT kind, CASE WHEN count(*) / (count(*) - count(*)) > 1 THEN 'more' ELSE 'unknown' END AS share FROM visits GROUP BY kind HAVING 1 / count(*) IS NULL;
SELECT dp_count(100) / (dp_count(100) - dp_count(100)) AS ratio FROM visits;
-- Expressions of all kinds: what PostgreSQL refuses is NULL, and its reason is a notice unless the function has a variant for rows.
CREATE TEMP TABLE expression (sql text);
INSERT INTO expression VALUES
  ('1 / zero'), ('1 / zero::float8'), ('1.0 / zero'), ('n % zero'), ('mod(n, zero)'), ('sqrt(-n)'), ('ln(zero)'), ('ln(-n::numeric)'), ('power(-n, 0.5)'),
  ('exp(n * 1000.0)'), ('exp(n * 1000::float8)'), ('(n * 2000)::smallint'), ('(n * 10000000000)::int'), ('n::numeric(3, 2)'), ('factorial(-n)'), ('chr(-n::int)'),
  ('n * 9223372036854775807'), ('date ''2020-01-01'' + n::int * 71560000'), ('now() + n * interval ''1000000 years'''), ('interval ''1 day'' / zero'),
  ('(kind || n)::int'), ('kind::numeric'), ('kind::date'), ('kind::timestamptz'), ('kind::inet'), ('kind::jsonb'), ('kind::boolean'), ('(kind || ''}'')::int[]'),
  ('to_date(kind, ''YYYY'')'), ('to_number(kind || ''x'', ''9'')'), ('to_timestamp(kind, ''HH'')'), ('regexp_replace(kind, ''('', kind)'), ('kind ~ ''('''),
  ('overlay(kind placing ''x'' from zero::int - 1)'), ('substring(kind from 1 for -n::int)'), ('decode(kind, ''hex'')'), ('to_char(n, ''9'') :: int'),
  ('width_bucket(n, 1, 1, 5)'), ('(ARRAY[n * 2000, 1]::smallint[])[1]'), ('make_date(n::int, 13, 1)'), ('format(''%z'', n)'), ('kind LIKE left(kind, 1) || ''\'''),
  ('(SELECT 1 / (n - s.size * n / 5) FROM shop s WHERE id = 1)'), ('(SELECT s.size FROM shop s WHERE n > 0)'),
  ('repeat(kind, 1000000000)'), ('dp_cdf_quantile(dp_cdf, 2)');
\set ECHO none
\pset format unaligned
\t on
SELECT format('WITH a AS (SELECT kind, count(*) AS n, count(*) - count(*) AS zero, dp_cdf(amount, 1, 0, 9) FROM visits GROUP BY kind) SELECT %L AS sql, bool_and((%s) IS NULL) AS is_null FROM a WHERE kind = ''store''', sql, sql)
  FROM expression \gexec
\t off
\pset format aligned
\set ECHO all
SELECT 1 / (lag(n, 1, n) OVER (ORDER BY kind) - n) AS ratio FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a ORDER BY 1;
-- What does not fail is as it was.
WITH a AS (SELECT kind, count(*) AS n FROM visits GROUP BY kind)
SELECT kind, n / 3 AS third, n::text || kind AS text, format('%s %I', kind, n), concat(kind, n), (n || '')::numeric AS number, array_to_string(ARRAY[kind, 'x'], '-'), ARRAY[[1, 2], [n, 3]] AS square,
       (n, kind) < (15, 'x') AS less, jsonb_build_object('n', n) ->> 'n' AS json, CASE kind WHEN 'web' THEN 1 / n END AS cases, (SELECT max(x) FROM generate_series(1, n) x) AS most,
       kind ~ '^w' AS is_web, regexp_replace(kind, '[aeiou]', '', 'g') AS consonants, (SELECT n FROM a b WHERE b.kind = 'web') AS webs, round(n, -1) AS tens, upper(kind) AS upper
  FROM a ORDER BY kind;
SELECT n / 10 AS tens, count(*), sum(1 / (n - n)) AS sum, jsonb_object_agg(nullif(kind, 'web'), n) AS objects FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a GROUP BY n / 10 ORDER BY n / 10;
SELECT kind FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a ORDER BY kind LIMIT (SELECT -count(*) FROM visits);
SELECT kind FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a ORDER BY kind OFFSET (SELECT -count(*) FROM visits);
-- The number is there once, and so is its charge.
SELECT count(*) AS charges FROM dp_ledger \gset
SELECT x FROM generate_series(1, 2) x LIMIT (SELECT count(*) FROM visits);
SELECT count(*) - :charges AS charges FROM dp_ledger;
SELECT x FROM (SELECT count(*) AS n FROM visits) a, generate_series(1, n / 20) x;
SELECT x FROM (SELECT count(*) AS n FROM visits) a, abs(1 / (n - n)) x;
PREPARE ratio AS SELECT count(*) / $1::int AS ratio, CASE WHEN $1 = 0 THEN 0 ELSE 1 / $1 END AS share FROM visits;
EXECUTE ratio(0);
EXECUTE ratio(20);
-- Sums of answers that would overflow leave out what is too large, and only that.
SELECT sum(x) AS sum, avg(x) AS mean, stddev(x) AS deviation, sum(x::real) AS single, corr(x, n) AS corr, sum(1e-320::float8 * n) = 1e-320::float8 * sum(n) AS of_tiny
  FROM (SELECT kind, count(*) AS n, CASE kind WHEN 'web' THEN 1e305::float8 * (count(*) * 170) ELSE count(*) END AS x FROM visits WHERE kind <> 'phone' GROUP BY kind) a
 WHERE kind = 'web' OR n > 0;
SELECT sum(x::real * '1e37') OVER (ORDER BY n) AS few, sum(x) OVER (ORDER BY n), avg(x * 1e200) OVER () AS mean, sum(CASE WHEN n = 10 THEN 'Infinity'::float8 ELSE x END) OVER () AS infinite,
       avg(CASE WHEN n = 10 THEN 'NaN'::float8 ELSE x END) OVER () AS undefined FROM (SELECT kind, count(*) AS n, count(*)::float8 AS x FROM visits GROUP BY kind) a ORDER BY n;
-- What a sum is in the order of stays as it is, whatever its type is.
SELECT sum(n::float8 ORDER BY kind) AS by_text, avg(n::float8 ORDER BY now(), n::numeric / 3) AS by_number, sum(n::float8 ORDER BY n::float8) AS by_itself
  FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
-- Frames, and percentiles of answers
SELECT n, count(*) OVER (ORDER BY n ROWS BETWEEN (SELECT count(*) - count(*) FROM visits) PRECEDING AND CURRENT ROW) AS one,
       count(*) OVER (ORDER BY n ROWS BETWEEN CURRENT ROW AND (SELECT nullif(count(*), count(*)) FROM visits) FOLLOWING) AS single,
       sum(n) OVER (ORDER BY n RANGE BETWEEN 10 PRECEDING AND CURRENT ROW) AS near FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a ORDER BY n;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS median, percentile_disc(ARRAY[0, 1, NULL]) WITHIN GROUP (ORDER BY n) AS ends FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
-- A subquery of a large table that the role may read ends with its second row.
SELECT (SELECT a.size + n FROM shop a, generate_series(1, 1000) b, generate_series(1, 1000) c, generate_series(1, 1000) d, generate_series(1, 1000) e) IS NULL AS several
  FROM (SELECT count(*) AS n FROM visits) a;
-- What fails whatever the answers are, and what could, is refused for nothing.
SELECT count(*) AS charges FROM dp_ledger \gset
SELECT count(*), 1 / 0 FROM visits;
PREPARE share AS SELECT count(*), 1 / $1::int FROM visits;
EXECUTE share(0);
SELECT ntile(0) OVER (ORDER BY n) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT n::information_schema.cardinal_number FROM (SELECT count(*) AS n FROM visits) a;
SELECT kind LIKE ANY (ARRAY['a%', kind]) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT regexp_split_to_table(kind, '(') FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT ARRAY[x, '{1}'::bigint[]] FROM (SELECT ARRAY[count(*), 2] AS x FROM visits) a;
SELECT (SELECT ARRAY[n] FROM shop) FROM (SELECT count(*) AS n FROM visits) a;
SELECT n FROM (SELECT count(*) AS n FROM visits) a LIMIT -1;
SELECT array_agg(ARRAY[n]) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT array_agg(ARRAY[n]) OVER () FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT bit_or(CASE WHEN n > 10 THEN B'101' ELSE B'10' END) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT sum(n) OVER (ORDER BY date '2024-01-01' + n::int RANGE BETWEEN CURRENT ROW AND '170000000 years' FOLLOWING) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT percentile_cont(n / 10) WITHIN GROUP (ORDER BY n) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a GROUP BY n;
SELECT percentile_cont(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY n) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT sum(n) OVER (ORDER BY n RANGE (SELECT count(*) FROM visits) PRECEDING) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT sum(n) OVER (ORDER BY n ROWS -1 PRECEDING) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT sum(n) OVER (ORDER BY n::float8 RANGE 'NaN' PRECEDING) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT sum(n) OVER (ORDER BY n ROWS NULL PRECEDING) FROM (SELECT kind, count(*) AS n FROM visits GROUP BY kind) a;
SELECT count(*) = :charges AS nothing_charged FROM dp_ledger;
-- Nothing is computed of a group that is not shown, so that no notice tells of it.
SELECT city, dp_count(1) > 0 AS some FROM visits WHERE city = 'Vaduz' GROUP BY city HAVING (city || dp_count(1))::int IS NULL AND dp_keep_group(1, 1e-12);
-- Arguments that are left out, or named in another order
SELECT make_interval(days => n::int) AS days, make_date(day => 5, month => 10, year => 2000 + n::int) AS day, jsonb_path_query_first(to_jsonb(ARRAY[n]), '$[*] ? (@ > 5)') AS first,
       jsonb_set('{"a": 1}', ARRAY['b'], to_jsonb(n)) AS pair, make_date(day => 35, month => 10, year => n::int) IS NULL AS no_day FROM (SELECT count(*) AS n FROM visits) a;
-- Names that nothing has, and a user who cancels: the transaction is as without the extension.
SELECT (count(*)::text)::regclass IS NULL AS no_table, current_setting('safe.' || count(*)) IS NULL AS no_setting FROM visits;
CREATE TEMP TABLE entry (what text);
SET statement_timeout = '100ms';
SELECT length(factorial(30000 + count(*))::text) FROM visits;
DO $$
BEGIN
  BEGIN
    INSERT INTO entry VALUES ('taken back');
    PERFORM length(factorial(30000 + count(*))::text) FROM visits;
  EXCEPTION WHEN query_canceled THEN
    INSERT INTO entry VALUES ('canceled');
  END;
END
$$;
RESET statement_timeout;
SELECT what, pg_current_xact_id_if_assigned() IS NULL AS is_over FROM entry;
-- Nobody else can have a function called.
RESET SESSION AUTHORIZATION;
SELECT dpquantile.or_null(1, NULL, 2);
SELECT dpquantile.or_null(1, NULL::internal, 2);
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_safe CASCADE;
DROP OWNED BY regress_dpq_safe_owner, regress_dpq_safe_analyst;
DROP ROLE regress_dpq_safe_owner, regress_dpq_safe_analyst;
