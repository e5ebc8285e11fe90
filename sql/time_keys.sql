-- Public lists of keys that are computed of times: units of times that a constant interval shifts, parts of times that repeat, and the
-- texts of times. Epsilon is so large that counts are exact.
SET timezone = 'UTC';
SET datestyle = ISO;
CREATE ROLE regress_dpq_times_owner LOGIN;
CREATE ROLE regress_dpq_times_analyst LOGIN;
CREATE SCHEMA regress_dpq_times AUTHORIZATION regress_dpq_times_owner;
GRANT USAGE ON SCHEMA regress_dpq_times TO regress_dpq_times_analyst;
SELECT dp_grant_budget('regress_dpq_times_analyst', 1e6), dp_restrict_role('regress_dpq_times_analyst');
SET search_path = regress_dpq_times, public;
SET SESSION AUTHORIZATION regress_dpq_times_owner;
-- Weeks from Sunday or Saturday, as Metabase, Superset and Lightdash write them, and other units of shifted times: around both shifts of
-- the clock, and where a day is missing, each row between the bounds is in a group. The moments from which the clock is another one:
CREATE TABLE shifts (zone text, at timestamptz);
INSERT INTO shifts VALUES ('Europe/Berlin', '2024-03-31 01:00Z'), ('Europe/Berlin', '2024-10-27 01:00Z'),
  ('America/New_York', '2024-03-10 07:00Z'), ('America/New_York', '2024-11-03 06:00Z'),
  ('Australia/Lord_Howe', '2024-04-06 15:00Z'), ('Australia/Lord_Howe', '2024-10-05 15:30Z'),
  ('Asia/Kathmandu', '1985-12-31 18:30Z'), ('Asia/Kathmandu', '2024-06-30 18:15Z'),
  ('America/Sao_Paulo', '2018-02-18 02:00Z'), ('America/Sao_Paulo', '2018-11-04 03:00Z'),
  ('Pacific/Apia', '2011-12-30 10:00Z'), ('Pacific/Apia', '2012-03-31 14:00Z'),
  ('Africa/Monrovia', '1972-01-07 00:44:30Z'), ('Africa/Monrovia', '2024-06-30 00:00Z');
CREATE TABLE moments AS
  SELECT zone, shifts.at AS shift, shifts.at + i * interval '10 minutes' AS at FROM shifts, generate_series(-300, 300) i;
SELECT dp_protect_table('moments'), dp_set_domain('moments', 'at', '1970-01-01Z'::timestamptz, '2024-12-31Z');
SELECT dp_grant_private_access('moments', 'regress_dpq_times_analyst', epsilon => 100);
GRANT SELECT ON shifts TO regress_dpq_times_analyst;
SET SESSION AUTHORIZATION regress_dpq_times_analyst;
CREATE TEMP TABLE keys AS SELECT * FROM (VALUES
  ('week from Sunday', 'date_trunc(''week'', at + interval ''1 day'') + interval ''-1 day'''),
  ('local week', 'date_trunc(''week'', (at + interval ''1 day'')::timestamp) - interval ''1 day'''),
  ('hour', 'date_trunc(''hour'', at + interval ''1 day'')')) AS k (name, key);
CREATE TEMP TABLE bounds AS SELECT * FROM (VALUES
  (interval '-2 days', interval '40 minutes'), ('-50 minutes', '2 days'), ('-2 days', '-23 hours -10 minutes'), ('-25 hours', '1 day')) AS b (lower, upper);
\set ECHO none
SELECT 'SET timezone = ' || quote_literal(zone),
       format('CREATE TEMP TABLE answer_%s AS SELECT %L AS name, %L - sum(n) AS missing FROM (SELECT count(*) AS n FROM moments WHERE at BETWEEN %L AND %L AND shift = %L GROUP BY %s) g',
              row_number() OVER (), name, (extract(epoch FROM upper - lower) / 600)::int + 1, at + lower, at + upper, at, key)
  FROM shifts, bounds, keys WHERE name = 'week from Sunday' OR upper > '0' AND lower <> '-25 hours' \gexec
SELECT string_agg('SELECT * FROM ' || relname, ' UNION ALL ') AS answers FROM pg_class WHERE relname ~ '^answer_' AND relkind = 'r' \gset
\set ECHO all
CREATE TEMP VIEW answers AS :answers;
SELECT name, count(*) AS asked, count(*) FILTER (WHERE missing = 0) AS whole FROM answers GROUP BY 1 ORDER BY 1;
SET timezone = 'UTC';
-- Threats 323, 324: clocks that change at a minute past midnight, by three hours and by most of a day, and two that somebody has made
-- up. The minute, hour or day in which they do is cut into pieces, and local times fall or jump far. `odd_bounds` has the number of rows.
SET SESSION AUTHORIZATION regress_dpq_times_owner;
CREATE TABLE odd_shifts (zone text, at timestamptz);
INSERT INTO odd_shifts VALUES ('America/St_Johns', '2011-03-13 03:31Z'), ('America/St_Johns', '2011-11-06 02:31Z'), ('Antarctica/Casey', '2022-10-01 16:01Z'),
  ('Pacific/Kwajalein', '1969-09-30 13:00Z'), ('Antarctica/Vostok', '1994-01-31 17:00Z'), ('Africa/Monrovia', '1972-01-07 00:44:30Z'),
  ('XXX0YYY-20,M3.1.0/1,M10.1.0/1', '2024-10-06 05:00Z'), ('XXX0YYY-0:30,M3.1.0/1:10,M10.1.0/1', '2024-03-03 01:10Z');
CREATE TABLE odd_moments AS
  SELECT zone, s.at AS shift, s.at + step AS at
    FROM odd_shifts s, (SELECT i * interval '20 seconds' FROM generate_series(-30, 30) i UNION SELECT i * interval '7 minutes' FROM generate_series(-200, 200) i) steps (step);
CREATE TABLE odd_bounds AS
  SELECT zone, shift, shift + lower AS lower, shift + upper AS upper, count(*) AS rows
    FROM odd_moments, (VALUES (interval '-10 minutes', interval '5 hours'), ('-5 hours', '10 minutes')) AS b (lower, upper)
   WHERE at BETWEEN shift + lower AND shift + upper GROUP BY 1, 2, 3, 4;
SELECT dp_protect_table('odd_moments'), dp_set_domain('odd_moments', 'at', '1969-01-01Z'::timestamptz, '2024-12-31Z');
SELECT dp_grant_private_access('odd_moments', 'regress_dpq_times_analyst', epsilon => 100);
GRANT SELECT ON odd_bounds TO regress_dpq_times_analyst;
SET SESSION AUTHORIZATION regress_dpq_times_analyst;
CREATE TEMP TABLE odd_keys AS SELECT * FROM (VALUES
  ('minute', 'to_char(at, ''YYYY-MM-DD HH24:MI'')'),
  ('hour', 'date_trunc(''hour'', at::timestamp)'),
  ('beginning of an hour', 'date_trunc(''hour'', at)'),
  ('day', 'at::date'),
  ('two hours of the day before', 'date_bin(''2 hours'', (at - interval ''1 day'')::timestamp, ''2000-01-01'')')) AS k (name, key);
\set ECHO none
SELECT 'SET timezone = ' || quote_literal(zone),
       format('CREATE TEMP TABLE odd_answer_%s AS SELECT %L AS name, %s - sum(n) AS missing FROM (SELECT count(*) AS n FROM odd_moments WHERE zone = %L AND at BETWEEN %L AND %L GROUP BY %s) g',
              row_number() OVER (), name, rows, zone, lower, upper, key)
  FROM odd_bounds, odd_keys \gexec
-- The same where the bounds are known only when the query runs.
SELECT 'SET timezone = ' || quote_literal(zone),
       format('PREPARE odd_%s AS SELECT ''hour, parameters'' AS name, %s - sum(n) AS missing FROM (SELECT count(*) AS n FROM odd_moments WHERE zone = %L AND at BETWEEN $1 AND $2 AND at BETWEEN %L AND %L GROUP BY date_trunc(''hour'', at::timestamp)) g',
              n, rows, zone, lower, upper),
       format('CREATE TEMP TABLE odd_answer_of_parameters_%s AS EXECUTE odd_%s(%L, %L)', n, n, lower, upper)
  FROM (SELECT *, row_number() OVER () AS n FROM odd_bounds) b WHERE shift > '2022-01-01' OR zone = 'Pacific/Kwajalein' \gexec
SELECT string_agg('SELECT * FROM ' || relname, ' UNION ALL ') AS answers FROM pg_class WHERE relname ~ '^odd_answer_' AND relkind = 'r' \gset
\set ECHO all
CREATE TEMP VIEW odd_answers AS :answers;
SELECT name, count(*) AS asked, count(*) FILTER (WHERE missing = 0) AS whole FROM odd_answers GROUP BY 1 ORDER BY 1;
SET timezone = 'UTC';
-- Threat 324: local times and days that are compared with moments, also of hours that a clock skips or shows twice, and of offsets of
-- more than a day. Each row that PostgreSQL counts is in a group, also where the moments are known only when the query runs.
SET SESSION AUTHORIZATION regress_dpq_times_owner;
CREATE TABLE local_shifts AS SELECT * FROM odd_shifts UNION ALL VALUES ('Europe/Oslo', timestamptz '2024-03-31 01:00Z'), ('Europe/Oslo', '2024-10-27 01:00Z'),
  ('Europe/Oslo', '2024-06-30 22:00Z'), ('Australia/Lord_Howe', '2024-04-06 15:00Z'), ('Australia/Lord_Howe', '2024-10-05 15:30Z'),
  ('America/Sao_Paulo', '2018-11-04 03:00Z'), ('Pacific/Apia', '2011-12-30 10:00Z'), ('XXX0YYY-20,M3.1.0/1,M10.1.0/1', '2024-03-03 01:00Z'),
  ('XXX-100YYY-101,M3.1.0/1,M10.1.0/1', '2024-02-27 21:00Z'), ('XXX-100YYY-101,M3.1.0/1,M10.1.0/1', '2024-10-01 20:00Z'),
  ('XXX100YYY99,M3.1.0/1,M10.1.0/1', '2024-03-07 05:00Z');
CREATE TABLE local_times AS
  SELECT zone, shift, at, at::date AS day FROM (SELECT zone, at::text AS shift, (at AT TIME ZONE zone) + i * interval '10 minutes' AS at FROM local_shifts, generate_series(-650, 650) i) t;
CREATE TABLE local_ranges AS
  SELECT row_number() OVER (ORDER BY s.zone, s.at, lower, condition) AS n, zone, s.at::text AS shift, (s.at + lower)::text AS lower, (s.at + upper)::text AS upper, condition, key, NULL::bigint AS rows, NULL::bigint AS groups
    FROM local_shifts s,
         (VALUES (interval '-20 minutes', interval '4 hours'), ('20 minutes', '23 hours'), ('-4 hours', '20 minutes'), ('-50 minutes', '-10 minutes'), ('0', '30 hours'),
                 ('20 hours', '100 hours'), ('-100 hours', '-99 hours')) AS b (lower, upper),
         (VALUES ('at >= $1 AND at < $2', 'date_trunc(''hour'', at)'), ('at > $1 AND at <= $2', 'date_bin(''10 minutes'', at, ''2000-01-01'')'),
                 ('$1 <= at::timestamptz AND at::timestamptz <= $2', 'date_trunc(''hour'', at)'), ('at BETWEEN $1 AND $2', 'date_trunc(''hour'', at::timestamptz AT TIME ZONE ''UTC'')'),
                 ('day >= $1 AND day <= $2', 'date_trunc(''day'', day::timestamp)'), ('day > $1 AND day < $2', 'date_trunc(''hour'', day)')) AS c (condition, key);
-- Some of them, for the time that they take
DELETE FROM local_ranges WHERE n % 5 > 0 AND n % 11 > 0;
CREATE FUNCTION with_literals(range local_ranges) RETURNS text RETURN replace(replace(range.condition, '$1', format('%L::timestamptz', range.lower)), '$2', format('%L::timestamptz', range.upper));
DO $$
DECLARE r local_ranges;
BEGIN
  FOR r IN SELECT * FROM local_ranges LOOP
    PERFORM set_config('timezone', r.zone, true);
    EXECUTE format('UPDATE local_ranges SET (rows, groups) = (SELECT count(*), count(DISTINCT %s) FROM local_times WHERE zone = %L AND shift = %L AND %s) WHERE n = %s',
                   r.key, r.zone, r.shift, with_literals(r), r.n);
  END LOOP;
END$$;
SELECT dp_protect_table('local_times'), dp_set_domain('local_times', 'at', '1969-01-01'::timestamp, '2024-12-31'), dp_set_domain('local_times', 'day', '1969-01-01'::date, '2024-12-31');
SELECT dp_grant_private_access('local_times', 'regress_dpq_times_analyst', epsilon => 100);
GRANT SELECT ON local_ranges TO regress_dpq_times_analyst;
SET SESSION AUTHORIZATION regress_dpq_times_analyst;
\set ECHO none
SELECT 'SET timezone = ' || quote_literal(zone),
       format('CREATE TEMP TABLE local_answer_%s AS SELECT %s AS n, ''literals'' AS kind, sum(n) AS rows, count(*) AS groups FROM (SELECT count(*) AS n FROM local_times WHERE zone = %L AND shift = %L AND %s GROUP BY %s) g',
              n, n, zone, shift, with_literals(r), key)
  FROM local_ranges r WHERE groups > 0 AND n % 5 = 0 \gexec
SELECT 'SET timezone = ' || quote_literal(zone),
       format('PREPARE local_%s (timestamptz, timestamptz) AS SELECT %s AS n, ''parameters'' AS kind, sum(n) AS rows, count(*) AS groups FROM (SELECT count(*) AS n FROM local_times WHERE zone = %L AND shift = %L AND %s AND %s GROUP BY %s) g',
              n, n, zone, shift, condition, format(CASE WHEN condition ~ 'day' THEN 'day BETWEEN %L::date AND %L::date' ELSE 'at BETWEEN %L::timestamp AND %L::timestamp' END,
                                                   (lower::timestamptz AT TIME ZONE zone)::date - 3, (upper::timestamptz AT TIME ZONE zone)::date + 3), key),
       format('CREATE TEMP TABLE local_answer_of_parameters_%s AS EXECUTE local_%s(%L, %L)', n, n, lower, upper)
  FROM local_ranges WHERE groups > 0 AND key !~ 'bin' AND n % 11 = 0 \gexec
SELECT string_agg('SELECT * FROM ' || relname, ' UNION ALL ') AS answers FROM pg_class WHERE relname ~ '^local_answer_' AND relkind = 'r' \gset
\set ECHO all
CREATE TEMP VIEW local_answers AS :answers;
SELECT kind, count(*) AS asked, count(*) FILTER (WHERE a.rows = r.rows) AS whole FROM local_answers a JOIN local_ranges r USING (n) GROUP BY 1 ORDER BY 1;
-- And no other group is shown where no clock changes: an end may lie within ten minutes.
SELECT count(*) AS asked, count(*) FILTER (WHERE a.groups = r.groups) AS exact FROM local_answers a JOIN local_ranges r USING (n) WHERE shift = '2024-06-30 22:00:00+00' AND key !~ 'bin';
SET timezone = 'UTC';
-- BETWEEN beside another condition, with ends that are known only when the query runs
PREPARE days_between AS SELECT at::date AS day, count(*) FROM moments WHERE zone = 'Europe/Berlin' AND at BETWEEN $1 AND $2 AND at > '2024-10-01Z' GROUP BY 1 ORDER BY 1;
EXECUTE days_between('2024-10-26Z', '2024-10-28 12:00Z');
-- The other weeks of the tools, and years that do not begin in January
SELECT date_trunc('week', at + interval '1 day') + interval '5 days' AS week, count(*) FROM moments WHERE at BETWEEN '2024-03-08Z' AND '2024-03-12Z' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('week', at - interval '6 days') + interval '6 days' AS week, count(*) FROM moments WHERE at BETWEEN '2024-03-08Z' AND '2024-03-12Z' GROUP BY 1 ORDER BY 1;
SELECT (date_trunc('week', (at AT TIME ZONE 'Asia/Tokyo') + interval '2 days') - interval '2 days')::date AS week, count(*) FROM moments WHERE at BETWEEN '2024-03-08Z' AND '2024-03-12Z' GROUP BY 1 ORDER BY 1;
SELECT to_char(date_trunc('week', at + interval '1 day') - interval '1 day', 'YYYY-MM-DD') AS week, count(*) FROM moments WHERE at BETWEEN '2024-03-08Z' AND '2024-03-12Z' GROUP BY 1 ORDER BY 1;
SELECT extract(year FROM at + interval '3 months') AS year, count(*) FROM moments WHERE at > '2018-01-01' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('quarter', at + interval '1 month' * 2) - interval '1 month' * 2 AS quarter, count(*) FROM moments WHERE at > '2024-01-01' GROUP BY 1 ORDER BY 1;
-- No day is a month before 30 and 31 March, and three are one after 29 February.
SELECT date_trunc('week', at + interval '1 month') AS week, count(*) FROM moments WHERE at BETWEEN '2024-02-17Z' AND '2024-03-05Z' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('day', at - interval '1 month') AS day, count(*) FROM moments WHERE at BETWEEN '2024-03-29 12:00Z' AND '2024-03-31 12:00Z' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', at + interval '1 month 1 day') AS month, count(*) FROM moments WHERE at > '2024-09-28' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('week', at + (shift - at)) AS week, count(*) FROM moments WHERE at > '2024-01-01' GROUP BY 1 ORDER BY 1;
-- More than 1000 dates, too
SET SESSION AUTHORIZATION regress_dpq_times_owner;
CREATE TABLE days AS SELECT date '2010-01-01' + i AS day FROM generate_series(0, 5000) i;
SELECT dp_protect_table('days'), dp_set_domain('days', 'day', '2000-01-01', '2024-01-01');
SELECT dp_grant_private_access('days', 'regress_dpq_times_analyst', epsilon => 100);
-- The whole months of an age, as cohorts have them, follow from the bounds of both moments; its days do not follow from months.
CREATE TABLE stays AS SELECT date '2023-12-28' + i AS first, date '2024-01-28' + j * 3 AS last FROM generate_series(0, 65, 5) i, generate_series(0, 25) j;
SELECT dp_protect_table('stays'), dp_set_domain('stays', 'first', '2023-12-28', '2024-03-02'), dp_set_domain('stays', 'last', '2024-01-28', '2024-04-13');
SELECT dp_grant_private_access('stays', 'regress_dpq_times_analyst', epsilon => 100);
SELECT extract(year FROM age(last, first)) * 12 + extract(month FROM age(last, first)) AS months, count(*) FROM stays GROUP BY 1 ORDER BY 1;
SET SESSION AUTHORIZATION regress_dpq_times_analyst;
SELECT extract(year FROM age(last, first)) * 12 + extract(month FROM age(last, first)) AS months, count(*) FROM stays GROUP BY 1 ORDER BY 1;
SELECT sum(n) FROM (SELECT date_trunc('month', first)::date AS cohort, extract(month FROM age(last::timestamp, first))::int AS months, count(*) AS n FROM stays WHERE extract(month FROM age(last::timestamp, first))::int >= 0 GROUP BY 1, 2) x;
SELECT date_part('year', age(timestamp '2026-01-28', last)) AS years, count(*) FROM stays GROUP BY 1 ORDER BY 1;
SELECT sum(n) FROM (SELECT extract(day FROM age(last, first)) AS days, count(*) AS n FROM stays GROUP BY 1) x;
SELECT extract(month FROM age(last, first)) + extract(day FROM last) AS mixed, count(*) FROM stays GROUP BY 1;
SELECT count(*) AS weeks, sum(n) AS rows FROM (SELECT date_trunc('week', day + interval '1 day') - interval '1 day', count(*) AS n FROM days WHERE day > '2008-01-01' GROUP BY 1) g;
-- A clock that jumps by 70 hours: midnights near to it are later moments than those that follow.
SET timezone = 'AAA-30BBB40,M3.1.0/0:01,M10.1.0/1';
SELECT sum(n) AS rows FROM (SELECT date_trunc('day', day::timestamptz, 'America/New_York'), count(*) AS n FROM days WHERE day >= '2011-10-03' AND day < '2011-11-12' GROUP BY 1) g;
SET timezone = 'UTC';
-- Parts that repeat have a list without bounds, or with wide ones: each row is in a group, and no group is without rows.
SET SESSION AUTHORIZATION regress_dpq_times_owner;
CREATE TABLE moments_of_a_century AS
  SELECT at, at AT TIME ZONE 'UTC' AS local, (at AT TIME ZONE 'UTC')::date AS day FROM generate_series(timestamptz '1950-01-01Z', '2050-01-01Z', '47 hours 13 minutes') at;
SELECT dp_protect_table('moments_of_a_century'), dp_set_domain('moments_of_a_century', 'at', '1900-01-01Z'::timestamptz, '2100-01-01Z');
SELECT dp_grant_private_access('moments_of_a_century', 'regress_dpq_times_analyst', epsilon => 100);
SELECT count(*) FROM moments_of_a_century;
ALTER TABLE moments_of_a_century ALTER at SET NOT NULL, ALTER local SET NOT NULL, ALTER day SET NOT NULL;
SET SESSION AUTHORIZATION regress_dpq_times_analyst;
\set ECHO none
SELECT format('SELECT %L AS format, count(*) AS groups, sum(n) AS rows, min(n) > 0 AS full FROM (SELECT to_char(%s, %L) AS key, count(*) AS n FROM moments_of_a_century GROUP BY 1) g', f, c, f)
  FROM (VALUES ('at', 'HH24:00'), ('local', 'HH24"h"'), ('local', 'HH12 am'), ('at', 'MI'), ('local', 'Dy HH24'), ('day', 'FMDay'), ('day', 'Dy, DD.'), ('at', 'D'), ('local', 'ID'),
         ('local', 'Mon'), ('day', 'FMMonth DD'), ('at', 'RM'), ('local', '"Q"Q'), ('local', 'W'), ('local', 'WW'), ('day', 'IW'), ('local', 'IDDD'), ('local', 'DDD'), ('local', 'IW ID'),
         ('local', '"Week \" "IW"\\"'), ('local', 'DD HH24')) AS k (c, f) \gexec
\set ECHO all
SELECT extract(isodow FROM local) * 100 + extract(hour FROM local) AS hour, count(*) FROM moments_of_a_century GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT to_char(at, 'HH24') || ':00' AS hour, count(*) FROM moments_of_a_century GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT coalesce(to_char(nullif(at, at), 'HH24'), 'none') AS hour, count(*) FROM moments_of_a_century GROUP BY 1 ORDER BY 2 DESC LIMIT 2;
-- "Mi" is an M and the last digit of an ISO year. Years never repeat, and minutes of a day are too many.
SELECT to_char(local, 'Mi') AS key, count(*) FROM moments_of_a_century GROUP BY 1;
SELECT to_char(local, 'YYYY') AS key, count(*) FROM moments_of_a_century GROUP BY 1;
SELECT to_char(local, 'HH24:MI') AS key, count(*) FROM moments_of_a_century GROUP BY 1;
SELECT to_char(local, 'HH24:SS') AS key, count(*) FROM moments_of_a_century GROUP BY 1;

-- Parts of a date, and units by their other names
SELECT extract(year FROM day) * 100 + extract(month FROM day) AS month, count(*) FROM days WHERE day >= '2023-08-01' AND day < '2023-10-01' GROUP BY 1 ORDER BY 1;
SELECT make_date(extract(year FROM day)::int, extract(month FROM day)::int, 1) AS month, count(*) FROM days WHERE day BETWEEN '2023-08-31' AND '2023-10-01' GROUP BY 1 ORDER BY 1;
SELECT concat(extract(year FROM day), '-Q', extract(quarter FROM day)) AS quarter, count(*) FROM days WHERE day BETWEEN '2023-03-31' AND '2023-09-30' GROUP BY 1 ORDER BY 1;
SELECT extract(week FROM day) * 10 + extract(isodow FROM day) AS day_of_year, count(*) FROM days WHERE day BETWEEN '2022-12-30' AND '2023-01-03' GROUP BY 1 HAVING count(*) > 0.5 ORDER BY 1;
SELECT count(*) AS days, sum(n) AS rows FROM (SELECT date_part('MONTH', day) * 100 + date_part('days', day), count(*) AS n FROM days GROUP BY 1) d;
SELECT date_part('YEARS', day) AS year, count(*) FROM days WHERE day >= '2022-07-01' GROUP BY 1 ORDER BY 1;
SELECT date_part('DOW', at) AS day, count(*) FROM moments WHERE at BETWEEN '2024-03-08Z' AND '2024-03-12Z' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('months', day)::date AS month, count(*) FROM days WHERE day >= '2023-08-01' GROUP BY 1 ORDER BY 1;

-- Texts of dates and times have the list of these, in the style of dates of the session.
SELECT day::text AS day, count(*) FROM days WHERE day BETWEEN '2012-03-01' AND '2012-03-02' GROUP BY 1 ORDER BY 1;
SELECT CAST(date_trunc('month', at) AS varchar) AS month, count(*) FROM moments WHERE at > '2024-09-15' GROUP BY 1 ORDER BY 1;
-- A day or moment with which < or > compares them has no group.
SELECT day::text AS day, count(*) FROM days WHERE day > '2012-02-28' AND day < '2012-03-02' GROUP BY 1 ORDER BY 1;
SELECT to_char(day + 1, 'MM-DD') AS day, count(*) FROM days WHERE day > '2012-02-28' AND '2012-03-02' > day GROUP BY 1 ORDER BY 1;
SELECT day::text AS day, count(*) FROM days WHERE day > timestamp '2012-02-28' AND day < timestamp '2012-03-02' GROUP BY 1 ORDER BY 1;
SELECT day::text AS day, count(*) FROM days WHERE day >= timestamp '2012-02-28 12:00' AND day <= timestamp '2012-03-01 12:00' GROUP BY 1 ORDER BY 1;
SELECT day::text AS day, count(*) FROM days WHERE day > timestamp '2012-02-28 12:00' AND day < timestamp '2012-03-01 00:00:00.000001' GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN day < '2012-03-01' THEN day ELSE '2012-03-09' END AS day, count(*) FROM days WHERE day > '2012-02-27' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('quarter', at)::date AS quarter, count(*) FROM moments WHERE at >= '2024-01-01Z' AND at < '2024-07-01Z' GROUP BY date_trunc('quarter', at) ORDER BY 1;
PREPARE days_as_text AS SELECT day::text AS day, count(*) FROM days WHERE day BETWEEN '2012-03-01' AND '2012-03-02' GROUP BY 1 ORDER BY 1;
EXECUTE days_as_text;
SET datestyle = 'German';
EXECUTE days_as_text;
SET datestyle = ISO;
SELECT epsilon_spent AS before FROM dp_budget \gset
BEGIN;
DECLARE opened CURSOR FOR SELECT day::text AS day, count(*) FROM days WHERE day BETWEEN '2012-03-01' AND '2012-03-02' GROUP BY 1;
SET LOCAL datestyle = 'SQL';
FETCH ALL FROM opened;
ROLLBACK;
-- So is a cursor whose condition compares a date with a moment.
BEGIN;
DECLARE opened CURSOR FOR SELECT date_trunc('year', day::timestamp) AS year, count(*) FROM days WHERE day::timestamp <= now() - interval '3650 days' GROUP BY 1;
SET LOCAL timezone = 'AAA-30BBB40,M3.1.0/0:01,M10.1.0/1';
FETCH ALL FROM opened;
ROLLBACK;
SELECT epsilon_spent - :before AS charged FROM dp_budget;
RESET SESSION AUTHORIZATION;
SELECT dp_unrestrict_role('regress_dpq_times_analyst');
\set VERBOSITY terse
DROP SCHEMA regress_dpq_times CASCADE;
DROP OWNED BY regress_dpq_times_owner, regress_dpq_times_analyst;
DROP ROLE regress_dpq_times_owner, regress_dpq_times_analyst;
