-- Standard aggregates over protected tables are answered by private ones, with the bounds and keys of the columns' domains and the
-- epsilon of the grant. With epsilon 100, noise on a count is 0 except with a probability below 1e-40.
-- (column_domains.sql: domains; protected_queries.sql: private aggregates.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_plain_owner LOGIN;
CREATE ROLE regress_dpq_plain_analyst LOGIN;
CREATE SCHEMA regress_dpq_plain AUTHORIZATION regress_dpq_plain_owner;
GRANT USAGE ON SCHEMA regress_dpq_plain TO regress_dpq_plain_analyst;
SELECT dp_grant_budget('regress_dpq_plain_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_plain_analyst');
SET SESSION AUTHORIZATION regress_dpq_plain_owner;
SET search_path = regress_dpq_plain, public;
SET timezone = 'UTC';
CREATE TYPE grade AS ENUM ('junior', 'senior');
CREATE TABLE staff (
  id int, name text, age int, salary numeric, bonus float8, hours real NOT NULL, department text NOT NULL, city text, level grade NOT NULL, hired date,
  entered timestamptz, active boolean NOT NULL);
-- 40 in Sales, 20 in Legal, none in the archive.
INSERT INTO staff
  SELECT i, 'name ' || i, 20 + i % 40, 1000 * (i % 50), i % 10, 40, CASE WHEN i % 3 = 0 THEN 'Legal' ELSE 'Sales' END,
         CASE i WHEN 7 THEN 'Vik' ELSE 'Oslo' END, CASE i % 2 WHEN 0 THEN 'junior' ELSE 'senior' END::grade,
         DATE '2020-01-01' + 10 * i, TIMESTAMPTZ '2020-01-01 UTC' + i * interval '10 days', i % 4 = 0
    FROM generate_series(1, 60) i;
CREATE FUNCTION share(float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE '%', $1; RETURN $1; END $$;
CREATE VIEW grown AS SELECT age AS years, salary, department FROM staff WHERE age >= 30;
CREATE VIEW grades AS SELECT level FROM staff;
CREATE VIEW halves AS SELECT 43 AS years FROM staff;
CREATE VIEW reals AS SELECT 20000006::real AS metres FROM staff;
CREATE TABLE shifts (id int PRIMARY KEY, took interval NOT NULL, whole int NOT NULL, number bigint NOT NULL, part int NOT NULL, rate float8 NOT NULL DEFAULT 'NaN');
INSERT INTO shifts SELECT i, i * interval '1 hour', i % 2, i, i - 5 FROM generate_series(1, 10) i;
CREATE VIEW names AS SELECT name FROM staff WHERE id < 5;
GRANT SELECT ON names TO regress_dpq_plain_analyst;
SELECT dp_protect_table('staff'), dp_protect_table('grown'), dp_protect_table('grades'), dp_protect_table('halves'), dp_protect_table('reals'), dp_protect_table('shifts');
SELECT dp_set_domain('staff', 'age', 0, 120), dp_set_domain('staff', 'salary', 0, 50000, 1000), dp_set_domain('staff', 'bonus', 0, 10),
       dp_set_domain('staff', 'hours', 0, 80), dp_set_domain('staff', 'hired', '2020-01-01', '2021-12-31'),
       dp_set_domain('staff', 'entered', '2020-01-01', '2021-12-31 23:59');
SELECT dp_set_domain('staff', 'department', '{Archive,Legal,Sales}'), dp_set_domain('staff', 'level', '{senior,junior}'),
       dp_set_domain('grown', 'department', '{Legal,Sales}'), dp_set_domain('grown', 'years', 0, 100), dp_set_domain('halves', 'years', 0.5, 99.5, 1),
       dp_set_domain('reals', 'metres', 20000000, 20000012, 2.4), dp_set_domain('shifts', 'took', interval '0', interval '1 day'), dp_set_domain('shifts', 'whole', 0, 1),
       dp_set_domain('shifts', 'number', 0, 9223372036854775807), dp_set_domain('shifts', 'part', -5, 5),
       dp_set_domain('shifts', 'rate', 0, 10);
SELECT dp_grant_private_access(t, 'regress_dpq_plain_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{staff,grown,grades,halves,reals,shifts}'::regclass[]) t;
SELECT relation, domains, smallest_epsilon, epsilon, delta FROM dp_protected_tables;

SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
SET search_path = regress_dpq_plain, public;
SET datestyle = ISO;

-- Each standard aggregate, with answers of its own types
SELECT count(*), count(id), count(*) FILTER (WHERE active), count(DISTINCT city) FROM staff;
SELECT function, epsilon FROM dp_ledger ORDER BY number;
SELECT round(avg(age), -1) AS age, round(avg(salary), -3) AS salary, sum(bonus) BETWEEN 265 AND 275 AS bonus, sum(hours) BETWEEN 2350 AND 2450 AS hours FROM staff;
CREATE TEMP TABLE answer AS
  SELECT count(*), sum(age) AS sum_age, sum(salary) AS sum_salary, sum(bonus) AS sum_bonus, sum(hours) AS sum_hours, avg(age) AS avg_age,
         avg(hours) AS avg_hours, avg(bonus) AS avg_bonus, stddev(age) AS stddev, var_pop(salary) AS var_pop, variance(bonus) AS variance,
         stddev_pop(salary) AS stddev_pop, percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS cont,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY age) AS disc, percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY hired) AS discs,
         percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY salary) AS conts, min(age), max(salary) AS max, min(hired) AS first,
         max(entered) AS last
    FROM staff;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'answer'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count, sum_age BETWEEN 2150 AND 2230 AS sum_age, cont BETWEEN 30 AND 40 AS cont, disc BETWEEN 30 AND 40 AS disc, min, max, first, last
  FROM answer;

-- Several statistics of one column are those of one release, also in HAVING. A count of all rows is one of a column without NULLs.
SELECT dp_private_query('SELECT count(*), count(age), avg(age), stddev(age), var_pop(age), percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM staff');
SELECT dp_private_query('SELECT sum(age) FILTER (WHERE active), avg(age) FILTER (WHERE active), avg(age), sum(salary), count(DISTINCT age) FROM staff');
SELECT dp_private_query('SELECT department, avg(age) FROM staff GROUP BY department HAVING sum(age) > 100');
SELECT dp_private_query('SELECT count(*), sum(hours + 1), avg(age) FROM staff');
SELECT dp_private_query('SELECT department, count(*), avg(hours) FROM staff GROUP BY department');
-- NaN counts in no statistic of its column. All rows are counted by whole numbers if there are some.
SELECT count(*), avg(rate) BETWEEN 0 AND 10 AS rate, avg(part) BETWEEN -1 AND 2 AS part, dp_error_of(count(*)) < 1 AS exact FROM shifts;
SELECT count(*), avg(rate) BETWEEN 0 AND 10 AS rate FROM shifts;
SELECT count(*) AS paid FROM dp_ledger \gset before_
SELECT count(age), round(avg(age), -1) AS avg, sum(age) BETWEEN 2150 AND 2230 AS sum, variance(age) > 0 AS variance, stddev(age) > 0 AS stddev FROM staff;
SELECT count(*) - :before_paid AS charges FROM dp_ledger;

-- threat 76: queries that would take endless time before they are looked at
DO $$
BEGIN
  EXECUTE 'SELECT department, ' || (SELECT string_agg(format('sum(age + %s)', i), ', ') FROM generate_series(1, 300) i) || ' FROM staff GROUP BY department';
EXCEPTION WHEN program_limit_exceeded THEN RAISE NOTICE '%', SQLERRM;
END $$;
DO $$
BEGIN
  EXECUTE 'SELECT ' || (SELECT string_agg(format('count(*) FILTER (WHERE age IN (%s, 1, 2, 3, 4, 5, 6, 7, 8, 9))', i), ', ') FROM generate_series(100, 1700) i) || ' FROM staff';
EXCEPTION WHEN program_limit_exceeded THEN RAISE NOTICE '%', SQLERRM;
END $$;
-- threat 313: derived tables that double a column that is not NULL. After 1000 nodes it may be, as the notice says. Copies of a key for each
-- condition are counted before they are made.
DO $$
DECLARE doublings int;
BEGIN
  FOREACH doublings IN ARRAY '{4,8,60}'::int[] LOOP
    RAISE NOTICE '% doublings', doublings;
    BEGIN
      EXECUTE 'SELECT k, count(*) FROM ' || repeat('(SELECT k = k AS k FROM ', doublings) || '(SELECT number AS k FROM shifts) t' || repeat(') t', doublings) || ' GROUP BY 1';
    EXCEPTION WHEN statement_too_complex THEN RAISE NOTICE '%', SQLERRM;
    END;
  END LOOP;
END $$;
DO $$
DECLARE depth int; detail text;
BEGIN
  FOREACH depth IN ARRAY '{3,100}'::int[] LOOP
    BEGIN
      EXECUTE 'SELECT ' || repeat('date_trunc(''month'', ', depth) || 'entered' || repeat(')', depth) || ', count(*) FROM staff WHERE '
        || (SELECT string_agg(format('entered < ''2021-01-01 UTC''::timestamptz + interval ''%s days''', i), ' AND ') FROM generate_series(1, depth) i) || ' GROUP BY 1';
      RAISE NOTICE '% calls: answered', depth;
    EXCEPTION WHEN statement_too_complex THEN
      GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
      RAISE NOTICE '% calls: %, %', depth, SQLERRM, CASE detail WHEN '' THEN 'before the copies' ELSE 'as copies' END;
    END;
  END LOOP;
END $$;
-- Conditions that have each other in AND and OR. PostgreSQL compares them in as many orders as there are, so that these are not looked at.
DO $$
DECLARE condition text := 'age > 20';
BEGIN
  FOR i IN 1 .. 60 LOOP condition := format('(%s) AND age <> %s OR hours = %s AND age <> %s', condition, i, i, i); END LOOP;
  EXECUTE 'SELECT count(*) FROM staff WHERE ' || condition;
  RAISE NOTICE 'answered';
END $$;

-- The error of each answer, from the same release
SELECT dp_private_query('SELECT department, avg(age), dp_error_of(avg(age)), dp_error_of(count(*)) FROM staff GROUP BY department');
SELECT count(*), dp_error_of(count(*)) AS of_rows, dp_error_of(count(DISTINCT city)) AS of_cities, round(avg(age), -1) AS age,
       dp_error_of(avg(age)) BETWEEN 0.01 AND 0.5 AS of_age, dp_error_of(sum(age)) BETWEEN 1 AND 10 AS of_sum, dp_error_of(stddev(age)) > 0 AS of_stddev
  FROM staff;
SELECT department, count(*), dp_error_of(count(*)), sum(count(*)) OVER () FROM staff GROUP BY ROLLUP (department) ORDER BY 1;
SELECT dp_error_of(var_pop(age)) FROM staff;
-- Percentiles of one column, whose errors are asked, are those of one curve. Without an error they are not.
-- The answers of groups, and of a derived table, are on the grid of the column, too.
SELECT dp_private_query('SELECT department, percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM staff GROUP BY department');
SELECT dp_private_query('SELECT department, percentile_cont(0.5) WITHIN GROUP (ORDER BY age), dp_error_of(percentile_cont(0.5) WITHIN GROUP (ORDER BY age)) FROM staff GROUP BY department');
SELECT department, percentile_cont(0.5) WITHIN GROUP (ORDER BY salary)::int % 1000 AS rest FROM staff GROUP BY department;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x)::int % 1000 AS rest FROM (SELECT salary::float8 AS x FROM staff) s;
SELECT dp_private_query('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age), dp_error_of(percentile_cont(0.5) WITHIN GROUP (ORDER BY age)), '
  'percentile_cont(0.9) WITHIN GROUP (ORDER BY age), percentile_cont(0.9) WITHIN GROUP (ORDER BY age) FILTER (WHERE city = ''Rome'') FROM staff');
-- Whole numbers on a grid of whole numbers have no rounding. Others have half of the granularity.
SELECT of_age = floor(of_age) AS whole, of_salary BETWEEN 500 AND 2500 AS half
  FROM (SELECT dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY age)) AS of_age, dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY salary)) AS of_salary
          FROM staff) t;
-- An answer that is a whole number, where the points of the curve are none, is rounded by up to a half.
SELECT dp_private_query('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY years), dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY years)) FROM halves');
SELECT abs(answer - 43) <= error AS within FROM
  (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY years) AS answer, dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY years)) AS error FROM halves) t;
-- One of type real has 24 bits: 20000004.8 and 20000007.2, between which the values are, become 20000004 and 20000008.
SELECT abs(answer - 20000006) <= error AS within, error < 4 AS is_close FROM
  (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY metres) AS answer, dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY metres)) AS error FROM reals) t;
-- Without rows, too, a percentile is a number between the bounds, and has an error.
SET dpquantile.epsilon = 0.01;
SELECT count(*) AS groups, count(m) FILTER (WHERE m BETWEEN 0 AND 120) AS answers, count(e) AS errors FROM
  (SELECT department, level, percentile_disc(0.5) WITHIN GROUP (ORDER BY age) AS m, dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY age)) AS e
     FROM staff WHERE age < 0 GROUP BY department, level) t;
RESET dpquantile.epsilon;
-- Several percentiles of one column are those of one draw, in order and for the price of one.
SELECT dp_private_query('SELECT percentile_disc(0.6) WITHIN GROUP (ORDER BY age), percentile_disc(0.4) WITHIN GROUP (ORDER BY age), percentile_disc(0.6) WITHIN GROUP (ORDER BY age) + 1, '
  'percentile_cont(0.6) WITHIN GROUP (ORDER BY bonus), percentile_disc(0.2) WITHIN GROUP (ORDER BY age) FILTER (WHERE active), '
  'percentile_disc(0.2) WITHIN GROUP (ORDER BY hired) FROM staff HAVING percentile_disc(0.1) WITHIN GROUP (ORDER BY hired) > ''2020-01-01''');
SELECT count(*) AS paid FROM dp_ledger \gset before_
SELECT low <= middle AND middle <= high AS ordered, low BETWEEN 25 AND 40 AS low, high BETWEEN 40 AND 55 AS high, first < last AS days, pg_typeof(middle) AS type, pg_typeof(last) AS day
  FROM (SELECT percentile_disc(0.2) WITHIN GROUP (ORDER BY age) AS low, percentile_disc(0.5) WITHIN GROUP (ORDER BY age) AS middle,
               percentile_disc(0.8) WITHIN GROUP (ORDER BY age) AS high, percentile_disc(0.1) WITHIN GROUP (ORDER BY hired) AS first,
               percentile_disc(0.9) WITHIN GROUP (ORDER BY hired) AS last FROM staff) t;
SELECT count(*) - :before_paid AS charges FROM dp_ledger;
-- percentile_cont casts whole numbers to float8. It shares the draw and the curve with percentile_disc nevertheless.
SELECT dp_private_query('SELECT percentile_cont(0.6) WITHIN GROUP (ORDER BY age), percentile_disc(0.4) WITHIN GROUP (ORDER BY age), '
  'percentile_cont(0.5) WITHIN GROUP (ORDER BY salary), percentile_disc(0.1) WITHIN GROUP (ORDER BY salary), '
  'percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FILTER (WHERE active), dp_error_of(percentile_cont(0.9) WITHIN GROUP (ORDER BY age) FILTER (WHERE active)) FROM staff');
SELECT low <= high AS ordered FROM
  (SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY age) AS low, percentile_cont(0.6) WITHIN GROUP (ORDER BY age) AS high FROM staff) t;
SELECT count(*) - :before_paid AS charges FROM dp_ledger;
SELECT percentile_disc(0.2) WITHIN GROUP (ORDER BY age DESC), percentile_disc(0.3) WITHIN GROUP (ORDER BY age DESC) FROM staff;
-- Several computed keys at once: each row of their product counts little, because a hash finds it.
SELECT count(*) AS groups, sum(n) AS rows FROM (SELECT extract(dow FROM entered), extract(hour FROM entered), count(*) AS n FROM staff GROUP BY 1, 2) t;
SELECT count(*) AS groups FROM (SELECT lower(department), extract(month FROM hired), floor(salary / 10000), count(*) FROM staff GROUP BY 1, 2, 3) t;
-- A sum of whole numbers is rounded: its error is a whole number, or has a half more.
SET dpquantile.epsilon = 3.5;
SELECT error = floor(error) AND error >= 1 AS whole FROM (SELECT dp_error_of(sum(whole)) AS error FROM shifts) t;
SELECT dp_private_query('SELECT sum(hours), dp_error_of(sum(hours)) FROM staff');
RESET dpquantile.epsilon;
-- dp_stats has no form for intervals, which are asked one by one.
SELECT count(*), count(took), avg(took) BETWEEN '4 hours' AND '7 hours' AS avg, sum(took) BETWEEN '45 hours' AND '65 hours' AS sum FROM shifts;
SELECT dp_error_of(avg(took)) FROM shifts;
-- Its seconds have an error, and bounds that follow from those of the interval.
SELECT dp_private_query('SELECT avg(extract(epoch FROM took)), dp_error_of(avg(extract(epoch FROM took))) FROM shifts');
SELECT abs(answer - 5.5 * 3600) <= 6 * error AS within, error < 3600 AS is_close FROM
  (SELECT avg(extract(epoch FROM took)) AS answer, dp_error_of(avg(extract(epoch FROM took))) AS error FROM shifts) t;
SELECT dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY hired)) FROM staff;
SELECT dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY hired - date '2000-01-01')) BETWEEN 0 AND 100 AS days FROM staff;
SELECT dp_error_of(max(age)) FROM staff;
-- count(*) counts the rows that an outer join makes, also where a column is NOT NULL in its table.
SELECT dp_private_query('SELECT count(*), avg(s.hours) FROM (VALUES (7), (100)) k (id) LEFT JOIN staff s ON s.id = k.id');
SELECT dp_private_query('SELECT count(*), avg(hours) FROM (SELECT s.hours FROM (VALUES (7), (100)) k (id) LEFT JOIN staff s ON s.id = k.id) t');
-- A cast to numeric with a negative scale rounds beyond the bounds.
SELECT avg(whole::numeric(8, -1)) FROM shifts;
-- The bounds of all values of a bigint; a group of zero, not of minus zero
SELECT min(number), max(number) FROM shifts;
SELECT part / 10 AS tens, count(*) FROM shifts GROUP BY part / 10;
SELECT floor(part / 10) AS tens, count(*) FROM shifts GROUP BY floor(part / 10);
-- sum(1) counts rows, by which some tools ask. It has the error of a count.
SELECT sum(1), dp_error_of(sum(1)), sum(1) FILTER (WHERE active) AS active FROM staff;
SELECT dp_private_query('SELECT sum(1), avg(hours), dp_error_of(sum(1)) FROM staff');
SELECT dp_error_of(sum(DISTINCT 1)) FROM staff;
SELECT dp_error_of(sum(2)) FROM staff;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age) BETWEEN 20 AND 60 AS median, dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY age)) BETWEEN 0 AND 3 AS error FROM staff;
SELECT private_aggregate, epsilon FROM dp_explain('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age), dp_error_of(percentile_disc(0.1) WITHIN GROUP (ORDER BY age)) FROM staff');
SELECT dp_error_of(percentile_cont(1.5) WITHIN GROUP (ORDER BY age)) FROM staff;
SELECT dp_error_of(percentile_cont('{0.5}'::float8[]) WITHIN GROUP (ORDER BY age)) FROM staff;
SELECT dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY hired)) FROM staff;
SELECT dp_error_of(percentile_cont(0.5) WITHIN GROUP (ORDER BY age DESC)) FROM staff;
SELECT dp_error_of(count(*) + 1) FROM staff;
SELECT dp_error_of(dp_count(1)) FROM staff;
SELECT dp_error_of(1);
SELECT count(*) AS charges FROM dp_ledger \gset
SELECT dp_error_of(c) FROM (SELECT count(*) AS c FROM staff) s;
SELECT dp_error_of(dp_count(1)) FROM (VALUES (1)) v;
SELECT dp_error_of(count(*)) FROM (VALUES (1)) v;
SELECT dp_error_of(sum(n)) FROM (SELECT department, count(*) AS n FROM staff GROUP BY 1) s;
SELECT count(*) = :charges AS nothing_charged FROM dp_ledger;

-- Whole rows are counted as * is, but where an outer join leaves some out.
SELECT count(s) = count(*) AS same, count(s) FILTER (WHERE department = 'Sales') = count(*) FILTER (WHERE department = 'Sales') AS same_filtered FROM staff s HAVING count(s) > 0;
SELECT count(s) > 0 AS some FROM (SELECT salary FROM staff) s;
SELECT count(DISTINCT s) FROM staff s;
SELECT count(s) FROM (VALUES ('Sales')) d (name) LEFT JOIN staff s ON s.department = d.name;
-- Grouping sets: a release for each. Keys with lists and free keys.
SELECT department, count(*), grouping(department) FROM staff GROUP BY ROLLUP (department) ORDER BY 1 NULLS LAST;
SELECT department, active, count(*), grouping(active, department) AS which FROM staff GROUP BY CUBE (department, active) ORDER BY which, 1, 2;
SELECT coalesce(city, 'everywhere') AS place, round(avg(age), -1) AS age FROM staff GROUP BY GROUPING SETS ((city), ()) HAVING count(*) > 10 ORDER BY count(*) DESC, 1;
SELECT upper(department) AS department, count(*) FROM staff GROUP BY GROUPING SETS ((department)) ORDER BY 2 DESC LIMIT 1;
SELECT count(*) AS charges FROM dp_explain('SELECT department, active, count(*) FROM staff GROUP BY CUBE (department, active)');
SELECT count(*) FROM staff GROUP BY CUBE (department, active, city, level, age, hours, bonus);

-- Keys of few values: truth values, labels of an enum, buckets
SELECT active, count(*) FROM staff WHERE age < 0 GROUP BY active;
SELECT dp_private_query('SELECT level, count(*) FROM grades GROUP BY level');
SELECT width_bucket(age, 20, 60, 4) AS bucket, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT width_bucket(bonus, 0, 10, 0) AS bucket, count(*) FROM staff GROUP BY 1;
SELECT round(salary, -4) AS salary, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT trunc(age / 3.0, 0) AS third, count(*) FROM staff WHERE age < 30 GROUP BY 1 HAVING count(*) > 0.5 ORDER BY 1;
-- A whole number without zero is 1 at least, or -1 at most.
SELECT abs(avg(bonus / NULLIF(age - 30, 0))) < 5 AS small FROM staff;
-- threat 115: a key has one value for a row.
SELECT generate_series(1, age) AS year, count(*) FROM staff GROUP BY 1;

-- Window functions and DISTINCT over groups
SELECT department, count(*), round(100.0 * count(*) / sum(count(*)) OVER ()) AS percent, rank() OVER (ORDER BY count(*) DESC) FROM staff GROUP BY department ORDER BY 4;
SELECT department, active, sum(count(*)) OVER (PARTITION BY department ORDER BY active) AS running FROM staff GROUP BY department, active ORDER BY 1, 2;
SELECT DISTINCT department, count(*) > 1000 AS many FROM staff GROUP BY department, active ORDER BY 1;
SELECT DISTINCT ON (active) active, department, count(*) FROM staff GROUP BY active, department ORDER BY active, count(*) DESC;
SELECT department, count(*), sum(count(*)) OVER () FROM staff GROUP BY ROLLUP (department) HAVING count(*) > 10 ORDER BY 2;
SELECT t.n FROM (VALUES (1), (2)) v (i), LATERAL (SELECT round(count(*) OVER () + count(*)) AS n FROM staff) t;
-- Columns below each other are refused as what they are, not for bounds. The rows twice are answered.
SELECT u.name, avg(u.value) FROM staff s CROSS JOIN LATERAL (VALUES ('age', s.age), ('pay', s.salary)) u (name, value) GROUP BY 1;
SELECT avg(u.value) FROM staff s CROSS JOIN LATERAL (VALUES (s.age + 1)) u (value);
SELECT name, count(*) OVER () FROM staff;

-- Expressions of columns with bounds, conditions, answers in expressions, subqueries and views
SELECT avg(age + 1) BETWEEN 37 AND 38 AS sum, avg(salary / 12) BETWEEN 1650 AND 1850 AS quotient,
       sum(CASE WHEN active THEN bonus END) BETWEEN 55 AND 80 AS choice, avg(coalesce(bonus, 0) * 2 - age) IS NOT NULL AS product,
       round(100.0 * count(*) FILTER (WHERE active) / count(*)) AS percent
  FROM staff;
SELECT count(*) FROM staff WHERE age > 30 AND city ILIKE 'o%';
SELECT avg(x) BETWEEN 36 AND 37 FROM (SELECT age AS x FROM staff) t;
WITH old AS (SELECT age * 2 AS twice FROM staff WHERE age > 30) SELECT avg(twice) BETWEEN 80 AND 95 FROM old;
SELECT count(*), avg(years) BETWEEN 40 AND 47 FROM grown;
SELECT (SELECT count(*) FROM staff) + 1 AS more;
SELECT min(age), max(hired) FROM staff WHERE active;
SELECT count(*) AS n FROM staff HAVING count(*) > 5 ORDER BY n LIMIT 3;

-- Groups of public keys: all of them appear, also without rows.
SELECT department, count(*) FROM staff GROUP BY department;
SELECT department, level, count(*), avg(age) BETWEEN 0 AND 120 AS age FROM staff WHERE id > 0 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT upper(department) AS name, count(*) AS n FROM staff GROUP BY department HAVING count(*) > 5 ORDER BY n DESC;
SELECT s.department, count(*) FROM staff AS s WHERE s.active GROUP BY s.department;
SELECT extract(year FROM hired) AS year, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT date_trunc('quarter', entered) AS quarter, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT date_trunc('year', hired)::date AS year, count(*) FROM staff GROUP BY date_trunc('year', hired);
SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 50 THEN 'grown' ELSE 'old' END AS age, count(*) FROM staff GROUP BY 1;
SELECT age > 40 AS old, count(*) FROM staff GROUP BY age > 40;
SELECT count(*) AS groups, sum(n) AS rows FROM (SELECT age, count(*) AS n FROM staff GROUP BY age) t;
SELECT department, count(*) FROM grown GROUP BY department;
SELECT department, n * 100 / sum(n) OVER () AS percent FROM (SELECT department, count(*) AS n FROM staff GROUP BY department) t;

-- COALESCE, GREATEST and LEAST of keys with lists; the list has no NULL, and COALESCE has a key for it.
SELECT coalesce(department, 'none') AS department, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT coalesce(nullif(department, 'Legal'), 'none') AS department, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT least(extract(quarter FROM entered), 2) AS quarter, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT coalesce(city, department) AS place, count(*) FROM staff GROUP BY 1;

-- WHERE leaves out years and buckets. A year that only its last moment would touch is out, too.
SELECT extract(year FROM hired) AS year, count(*) FROM staff WHERE hired >= '2021-01-01' GROUP BY 1;
SELECT date_part('year', hired) AS year, count(*) FROM staff WHERE hired < '2021-01-01' GROUP BY 1;
-- -0 and 0 are one key. What a call leaves out is put in before it is computed.
SELECT age * (CASE WHEN active THEN -1 ELSE 1 END) * 0::float8 AS zero, count(*) FROM staff GROUP BY 1;
SELECT CASE WHEN age > 30 THEN jsonb_set('{"a": 1}', '{b}', '2')::text ELSE 'x' END AS pair, count(*) FROM staff GROUP BY 1 ORDER BY 1;
SELECT count(*) AS days FROM (SELECT hired, count(*) FROM staff WHERE hired > timestamp '2020-02-04' - make_interval(0, 0, 0, 2) AND hired < '2020-02-04' GROUP BY 1) d;
SELECT extract(year FROM hired)::int + 1 AS next, count(*) FROM staff WHERE hired > '2021-03-01' GROUP BY 1;
SELECT extract(year FROM entered) AS year, count(*) FROM staff WHERE entered BETWEEN '2020-02-01' AND '2020-03-01' GROUP BY 1;
SELECT extract(year FROM entered AT TIME ZONE 'Asia/Tokyo') AS year, count(*) FROM staff WHERE entered >= '2020-12-31 15:00Z' GROUP BY 1;
SELECT extract(year FROM entered AT TIME ZONE 'Asia/Tokyo') AS year, count(*) FROM staff WHERE entered >= '2020-12-31 14:59Z' GROUP BY 1 ORDER BY 1;
SELECT extract(month FROM hired) AS month, count(*) > -10 AS n FROM staff WHERE hired < '2020-02-01' GROUP BY 1 ORDER BY 1 DESC LIMIT 1;
SELECT width_bucket(age, 20, 60, 4) AS bucket, count(*) FROM staff WHERE age >= 41 GROUP BY 1 ORDER BY 1;
SELECT width_bucket(age, 20, 60, 4) AS bucket, count(*) FROM staff WHERE 29 >= age GROUP BY 1 ORDER BY 1;
SELECT width_bucket(age, 0, 80, 8) * 10 AS bucket, count(*) FROM staff WHERE age = 40 GROUP BY 1;
SELECT extract(year FROM hired)::int AS year, count(*) FROM staff WHERE hired > '-infinity' AND hired < 'infinity' GROUP BY 1 ORDER BY 1;
-- Lists are of what WHERE leaves: of longer domains, of columns without one, beside each other, in derived tables, of sums of columns
SELECT date_trunc('hour', entered) AS hour, active, count(*) FROM staff WHERE entered >= '2020-01-31' AND entered < timestamptz '2020-01-31' + '2 hours' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT id, count(*) FROM staff WHERE id BETWEEN 7 AND 8 GROUP BY id;
SELECT hired AS day, count(*) FROM (SELECT hired, department FROM staff WHERE hired >= timestamp '2020-03-01' AND hired < '2020-03-03') s GROUP BY hired ORDER BY 1;
SELECT floor(extract(epoch FROM entered) / 86400)::int AS day, department, count(*) FROM staff WHERE entered >= '2020-01-31' AND entered < '2020-02-01' AND department <> 'Sales' GROUP BY 1, 2;
SELECT year, count(*) FROM (SELECT extract(year FROM entered) AS year FROM staff WHERE entered < timestamptz '2020-01-01' + '1 year') s GROUP BY year;
-- Bounds so far away that they have no key leave out no groups.
SELECT count(*) AS groups FROM (SELECT age * 2 / 50, count(*) FROM staff WHERE age <= 2147483647 GROUP BY 1) t;
-- A key that falls as the column grows: the list is of the ages that WHERE leaves.
SELECT count(*) AS groups, min(k) FROM (SELECT age * -2 / 50 AS k, count(*) FROM staff WHERE age > 50 GROUP BY 1) t;
SELECT count(*) AS groups FROM (SELECT width_bucket(age::float8 / 1e-307, 0, 200, 4), count(*) FROM staff WHERE age > 60 GROUP BY 1) t;
SELECT count(*) AS groups FROM (SELECT date_trunc('year', entered), count(*) FROM staff WHERE entered > '294276-12-31 23:59:59Z' GROUP BY 1) t;
SELECT count(*) AS groups FROM (SELECT date_trunc('year', entered), count(*) FROM staff WHERE entered < '4714-12-31 01:00Z BC' GROUP BY 1) t;
SELECT count(*) AS groups FROM (SELECT date_trunc('year', hired), count(*) FROM staff WHERE hired < '4714-11-24 BC' GROUP BY 1) t;
SELECT count(*) AS groups FROM (SELECT width_bucket(age, 20, 60, 4), count(*) FROM staff WHERE age < NULL GROUP BY 1) t;
-- Buckets that descend, or whose bounds are not known when the query is planned
SELECT count(*) AS buckets FROM (SELECT width_bucket(age, 60, 20, 4) AS bucket, count(*) FROM staff WHERE age >= 41 GROUP BY 1) t;
SELECT count(*) AS buckets FROM (SELECT width_bucket(age, extract(day FROM now())::int * 0, 60, 4) AS bucket, count(*) FROM staff WHERE age >= 41 GROUP BY 1) t;
PREPARE of_years(date) AS SELECT extract(year FROM hired) AS year, count(*) FROM staff WHERE hired >= $1 GROUP BY 1 ORDER BY 1;
EXECUTE of_years('2021-06-01');
EXECUTE of_years('2020-12-31');
-- The value of a parameter is known when the rules look at the query, whose columns have no table there yet: PostgreSQL 19 would look for it.
PREPARE beyond(bigint, int) AS SELECT count(*) FILTER (WHERE coalesce(age, $2) IS NOT NULL) > $1 AS is_beyond FROM staff
  HAVING count(*) FILTER (WHERE age IS NOT NULL) > $1;
EXECUTE beyond(-1000000, 0);

-- The keys alone are public, and cost nothing.
SELECT count(*) AS before FROM dp_ledger \gset
SELECT department FROM staff GROUP BY department;
SELECT DISTINCT department, level FROM staff WHERE department LIKE 'S%' ORDER BY 1, 2 DESC;
SELECT DISTINCT upper(s.department) AS name FROM (SELECT department FROM staff) s ORDER BY name LIMIT 2;
SELECT extract(year FROM hired) AS year FROM staff GROUP BY 1 ORDER BY 1;
SELECT count(*) - :before AS charges FROM dp_ledger;
SELECT DISTINCT city FROM staff;
SELECT DISTINCT department FROM staff WHERE age > 30;
SELECT department FROM staff;

-- Elsewhere a list would tell facts about rows. The keys are chosen privately.
SELECT count(*) FROM (SELECT DISTINCT department FROM staff) t;
SELECT 1 WHERE 'Sales' IN (SELECT department FROM staff GROUP BY department);
SELECT DISTINCT department FROM (SELECT department FROM staff WHERE age > 30) t;
SELECT DISTINCT department FROM (SELECT department FROM staff LIMIT 0) t;
SELECT DISTINCT department FROM staff TABLESAMPLE system (0);
SELECT * FROM (SELECT DISTINCT department FROM staff) t ORDER BY department DESC LIMIT 1;

-- Parts of intervals and years before the year 1 have no list. Equal numerics are one key, without the zeros at their end.
SELECT extract(month FROM now() - entered) AS month, count(*) FROM staff GROUP BY 1;
SELECT extract(month FROM now() - entered) + CASE WHEN active THEN 1.5 ELSE 1.500 END AS key, count(*) FROM staff GROUP BY 1;
SELECT extract(month FROM now() - entered)::float8 AS month, count(*) FROM staff GROUP BY 1;

-- Arguments of any form, and public keys of a join
SELECT department, count(1), sum(CASE WHEN age > 40 THEN 1 ELSE 0 END) BETWEEN -5 AND 60 AS old, count(CASE WHEN age > 40 THEN 1 END) AS older,
       sum(coalesce(age, 0)) BETWEEN -600 AND 3000 AS ages, count(*) FILTER (WHERE age > 40 AND active)
  FROM staff GROUP BY department;
SELECT v.d, count(s.id) FROM (VALUES ('Sales', 'A'), ('Legal', 'B'), ('None', 'C')) v (d, n) LEFT JOIN staff s ON v.d = s.department GROUP BY 1;
-- The groups of an outer join are those of its public side, also of keys that would have a list: a boolean, an enum, CASE.
SELECT v.active, count(s.id) FROM (VALUES (true), (false)) v (active) LEFT JOIN staff s ON s.active = v.active GROUP BY 1;
SELECT level, count(id) FROM (SELECT v.level, s.id FROM (VALUES ('junior'::grade)) v (level) LEFT JOIN staff s ON s.level = v.level) t GROUP BY 1;
SELECT CASE WHEN d = 'Sales' THEN 'yes' ELSE 'no' END AS sells, count(s.id) FROM (VALUES ('Sales'), ('Legal')) v (d) LEFT JOIN staff s ON v.d = s.department GROUP BY 1;
SELECT d = 'None' AS none, count(s.id) FROM staff s RIGHT JOIN (VALUES ('Sales'), ('None')) v (d) ON v.d = s.department GROUP BY ROLLUP (1) ORDER BY 1;
SELECT extract(month FROM m)::int AS month, count(s.id) FROM generate_series(timestamptz '2020-01-01', '2020-02-01', '1 month') m LEFT JOIN staff s ON date_trunc('month', entered) = m GROUP BY 1;
SELECT s.active, count(*) FROM (VALUES ('Sales'), ('Legal')) v (d) LEFT JOIN staff s ON v.d = s.department GROUP BY 1;
-- Without a public side they are chosen privately, also those of the table that is joined.
SELECT upper(v.n) AS name, count(*) FROM staff s LEFT JOIN (VALUES ('Sales', 'a'), ('Legal', 'b')) v (d, n) ON v.d = s.department GROUP BY 1;

-- threat 76: derived tables that double each other end soon.
SELECT avg(x) FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM
  (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM
  (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT x + x AS x FROM (SELECT age AS x FROM staff) t) t) t) t) t) t) t) t) t) t) t) t) t) t) t;
-- So do CTEs that name the one before twice, in FROM or in an expression, which it took for ever to look through.
\set ECHO none
SELECT 'WITH q0 AS (SELECT id FROM staff), ' || string_agg(format('q%1$s AS (SELECT a.id FROM q%2$s a JOIN q%2$s b USING (id))', i, i - 1), ', ') || ' SELECT count(*) FROM q60'
  FROM generate_series(1, 60) i \gexec
SELECT 'WITH q0 AS (SELECT city AS x FROM staff), ' || string_agg(format('q%s AS (SELECT x || x AS x FROM q%s)', i, i - 1), ', ') || ' SELECT x, count(*) FROM q60 GROUP BY x'
  FROM generate_series(1, 60) i \gexec
\set ECHO all

-- threat 177: constants are computed while a query is translated, but not with functions of others.
SELECT percentile_cont(share(0.25)) WITHIN GROUP (ORDER BY age), percentile_cont(share(0.75)) WITHIN GROUP (ORDER BY age) FROM staff;
SELECT width_bucket(age::float8, share(0), 100, 10), count(*) FROM staff WHERE age < 50 GROUP BY 1;
SELECT split_part(problem, '. ', 1) AS problem FROM dp_explain('SELECT percentile_cont(share(0.25)) WITHIN GROUP (ORDER BY age), percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM staff');
SELECT count(*) FROM staff GROUP BY (SELECT 1);
WITH z AS (SELECT 50 AS e) SELECT department, dp_count((SELECT e FROM z)) FROM staff GROUP BY department;
-- A name means the nearest WITH query of the levels around it.
WITH q AS (SELECT age FROM staff WHERE age < 0) SELECT s.n > 0 AS some FROM (SELECT count(*) AS n FROM q) s;
WITH q AS (SELECT age FROM staff WHERE age < 0) SELECT s.n > 0 AS some FROM (WITH q AS (SELECT age FROM staff) SELECT count(*) AS n FROM q) s;

-- Other keys are chosen privately.
SELECT city, count(*) FROM staff GROUP BY city;
SELECT city, department, count(*) FROM staff GROUP BY city, department;

-- Beside private aggregates
SELECT department, count(*), dp_count(50), dp_count(50) FILTER (WHERE active) AS active FROM staff GROUP BY department;
SELECT city, count(*) FROM staff GROUP BY city HAVING dp_keep_group(10, 1e-6);
-- Private aggregates alone see the lists, too.
SELECT department, dp_count(50) AS n, dp_count(age, 50) AS aged, dp_count_distinct(city, 50) AS cities, dp_avg(age, 50, 0, 100) BETWEEN 20 AND 80 OR dp_count(50) = 0 AS ages FROM staff WHERE age > 30
  GROUP BY department HAVING dp_count(50) >= 0;
SELECT active, date_trunc('year', hired) < '1900-01-01' AS long_ago, dp_count(50) AS n FROM staff GROUP BY 1, 2;
SELECT department, dp_count(coalesce(age, 1), 50) AS whole, dp_count(CASE WHEN age > 30 THEN salary END, 50) AS numbers, dp_count(greatest(hours, 1), 50) AS reals,
       dp_count(coalesce(bonus, 0), 50) AS floats, dp_median(least(age, 100), 50, 0, 120) IS NOT NULL AS median FROM staff WHERE id = 7 GROUP BY department;
SELECT dp_private_query('SELECT active, dp_count(1) FROM staff GROUP BY active');
SELECT city, dp_count(50) FROM staff GROUP BY city;

-- Prepared statements
PREPARE of_age(int) AS SELECT count(*) FROM staff WHERE age > $1;
EXECUTE of_age(0);
EXECUTE of_age(200);
PREPARE share(float8) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY age) BETWEEN 20 AND 60 AS inside FROM staff;
EXECUTE share(0.25);

-- What a query becomes and what it costs, before it is asked
SELECT dp_private_query('SELECT department, count(*) AS n, avg(age) FROM staff WHERE age > 30 GROUP BY 1 HAVING count(*) > 5')
         ~ 'dp_count\(s\.present, .*dp_avg\(s\.c0, .*VALUES .*Archive.* LEFT JOIN .*age > 30.* HAVING dp_count' AS private,
       dp_private_query('SELECT 1 AS one') ~ '^\s*SELECT 1 AS one$' AS unchanged;
SELECT count(*) AS before FROM dp_ledger \gset
-- threat 75: dp_explain tells what the text decides, and is free.
SELECT private_aggregate, method, epsilon, delta, rho, charged_for, error_in, problem FROM dp_explain('SELECT city, count(*), avg(age), percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY salary) FROM staff GROUP BY city');
-- The errors to expect: of means and sums in the values, of times in seconds. That of quantiles is simulated.
SELECT private_aggregate, expected_error::numeric(8, 3), error_in
  FROM dp_explain('SELECT count(*), count(DISTINCT city), sum(age), avg(hours + 0), stddev(bonus), var_pop(age), dp_stats(age, 1, 0, 100), dp_cdf(age, 1, 0, 100) FROM staff');
SELECT private_aggregate, expected_error BETWEEN 0.001 AND 100, error_in
  FROM dp_explain('SELECT dp_median(salary, 1, 0, 200000), dp_quantiles(salary, ''{0.1,0.9}'', 1, 0, 200000) FROM staff', 10000);
SELECT dp_explain('SELECT count(*) FROM staff', 0);
SELECT dp_explain('SELECT count(*) FROM staff', NULL);
SELECT private_aggregate, epsilon, charged_for, expected_error::numeric(8, 3), error_in, problem, tables
  FROM dp_explain('SELECT n FROM (SELECT count(*) AS n FROM staff UNION ALL SELECT dp_count(2) FROM grown) t');
-- The length from which values of rows count as NULL: none is read, or only those as long as a literal; else the less, the more is computed.
SELECT longest_value FROM dp_explain('SELECT count(*) FROM staff WHERE age > 40 AND city = ''Oslo''');
SELECT longest_value FROM dp_explain('SELECT count(*) FROM staff WHERE city ILIKE ''%abc%''');
SELECT longest_value FROM dp_explain('SELECT lower(city), count(*) FROM staff GROUP BY 1');
SELECT longest_value FROM dp_explain('SELECT dp_count(1) FROM names WHERE name ILIKE ''%abc%''');
SELECT * FROM dp_explain('SELECT min(age) FROM staff');
SELECT * FROM dp_explain('SELECT DISTINCT department FROM staff');
SELECT problem FROM dp_explain('SELECT avg(id) FROM staff');
SELECT problem FROM dp_explain('SELECT name FROM staff');
SELECT problem FROM dp_explain('SELECT count(*) FROM stuff');
SELECT problem FROM dp_explain('SELECT dp_count(2000) FROM staff');
SELECT problem FROM dp_explain('SELECT 1; SELECT 2');
SELECT problem FROM dp_explain('DELETE FROM staff');
SELECT problem FROM dp_explain(NULL);
SELECT count(*) - :before AS charges FROM dp_ledger;
-- threat 147: a function of the same name in the schema of the extension, whose arguments fit better, is not taken for its own.
RESET SESSION AUTHORIZATION;
SELECT extnamespace::regnamespace AS schema FROM pg_extension WHERE extname = 'dpquantile' \gset
CREATE FUNCTION :schema.dp_count(text, float8) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 5;
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
SELECT count(name) FROM staff;
SELECT count(*) > 0 AS rows FROM staff;
RESET SESSION AUTHORIZATION;
DROP FUNCTION :schema.dp_count(text, float8);
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;

-- threat 99: code that the explained query calls when it starts, to choose partitions, cannot explain others, also not after an error.
RESET SESSION AUTHORIZATION;
CREATE TABLE part (id int) PARTITION BY LIST (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2);
GRANT SELECT ON part TO regress_dpq_plain_analyst;
GRANT CREATE ON SCHEMA regress_dpq_plain TO regress_dpq_plain_analyst;
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
CREATE FUNCTION explain(query text) RETURNS int LANGUAGE plpgsql AS $$
  BEGIN
    EXECUTE 'EXPLAIN (COSTS off) ' || query;
    PERFORM set_config('regress.told', 'the plan', false);
    RETURN 1;
  EXCEPTION WHEN feature_not_supported THEN PERFORM set_config('regress.told', sqlerrm, false); RETURN 1;
  END $$;
CREATE FUNCTION plan_of(query text) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN explain(query); END $$;
CREATE FUNCTION fail() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN 1 / 0; END $$;
CREATE FUNCTION plan_after_error(query text) RETURNS int LANGUAGE plpgsql STABLE AS $$
  BEGIN PERFORM dp_explain('SELECT id FROM part WHERE id = fail()'); RETURN explain(query); END $$;
RESET SESSION AUTHORIZATION;
REVOKE CREATE ON SCHEMA regress_dpq_plain FROM regress_dpq_plain_analyst;
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
SELECT problem FROM dp_explain('SELECT id FROM part WHERE id = plan_of(''SELECT dp_count(1) FROM staff'')'); SHOW regress.told;
SELECT problem FROM dp_explain('SELECT id FROM part WHERE id = plan_after_error(''SELECT dp_count(1) FROM staff'')'); SHOW regress.told;
SELECT problem FROM dp_explain('SELECT id FROM part WHERE id = plan_of(''SELECT FROM names'')'); SHOW regress.told;

-- threat 318: equal NaNs may have other bits, which an answer in binary shows. A group has the same ones whatever its rows have.
SELECT float8send(k), float4send(r), n > 0 AS answered
  FROM (SELECT CASE WHEN id = 1 THEN -('NaN'::float8 + id) ELSE 'NaN'::float8 + id END AS k,
               CASE WHEN id = 1 THEN -('NaN'::real + id::real) ELSE 'NaN'::real + id::real END AS r, count(*) AS n FROM staff GROUP BY 1, 2) q;
-- threat 74: the session lowers epsilon, never raises it.
SET dpquantile.epsilon = 50;
EXECUTE of_age(0);
SELECT function, epsilon FROM dp_ledger ORDER BY number DESC LIMIT 1;
SET dpquantile.epsilon = 101;
SET dpquantile.epsilom = 1;
EXECUTE of_age(0);
SET dpquantile.epsilon = -1;
RESET dpquantile.epsilon;

-- What has no private counterpart is refused by name.
SELECT string_agg(name, ',') FROM staff;
SELECT department, string_agg(name, ',') FROM staff GROUP BY department;
SELECT mode() WITHIN GROUP (ORDER BY name) FROM staff;
SELECT sum(DISTINCT age) FROM staff;
SELECT avg(id) FROM staff;
SELECT avg(length(name)) FROM staff;
-- The hint says which column may get bounds, and what to ask without them.
SELECT avg(twice + age) FROM (SELECT 2 * id AS twice, age FROM staff) t;
SELECT sum(id) FROM staff;
SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY id) FROM staff;
SELECT count(NULL) FROM staff;
SELECT min(id) FROM staff;
SELECT max(id) FROM staff;
SELECT min(name) FROM staff;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY name) FROM staff;
-- Bounds and errors are no aggregates over the rows of a group.
SELECT department, max(age) FROM staff GROUP BY department ORDER BY department;
SELECT department, dp_error_of(count(*)) FROM staff GROUP BY department ORDER BY department;
SELECT count(*) FROM staff WHERE name || age = 'name 21';
SELECT count(*) FROM staff WHERE age || name = '21name';
SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY age DESC) FROM staff;
SELECT count(*), sum(count) BETWEEN 55 AND 65 AS rows FROM (SELECT department, age, level, count(*) FROM staff GROUP BY 1, 2, 3) t;
-- What is computed of groups whose keys are chosen privately lacks the hidden ones. That is said, and follows from the query alone: also where none is hidden. It is not said of public lists.
SELECT count(*) >= 0 AS is_answered FROM (SELECT name AS key, count(*) AS n FROM staff WHERE department = 'Sales' GROUP BY 1) g;
WITH g AS (SELECT left(name, 4) AS key, count(*) AS n FROM staff GROUP BY 1), twice AS (SELECT n * 2 AS n FROM g UNION ALL SELECT n FROM g) SELECT sum(n) > 0 AS has_rows FROM twice;
SELECT sum(n) > 0 AS has_rows FROM (SELECT department, count(*) AS n FROM staff GROUP BY 1) g;

-- threat 338: a view of a set operation with an order or a limit. The planner of PostgreSQL 15 found no table of its columns, or ended the server.
CREATE TEMP VIEW ordered AS SELECT department AS key, count(*) AS n FROM staff GROUP BY 1 UNION ALL SELECT level::text, count(*) FROM staff GROUP BY 1 ORDER BY n DESC, key;
SELECT * FROM ordered;
CREATE TEMP VIEW limited AS SELECT department AS key, count(*) AS n FROM staff GROUP BY 1 UNION SELECT level::text, count(*) FROM staff GROUP BY 1 LIMIT 2;
SELECT count(*) FROM (SELECT * FROM limited LIMIT 10) t;
CREATE TEMP VIEW errors AS SELECT dp_error_of(count(*)) AS e FROM staff UNION ALL SELECT -1::float8 ORDER BY 1;
SELECT * FROM errors;
CREATE TEMP VIEW nested AS (SELECT department AS key FROM staff GROUP BY 1 UNION SELECT 'x') EXCEPT ALL (SELECT 'y' UNION ALL SELECT 'x') ORDER BY 1;
SELECT * FROM nested;
DROP VIEW ordered, limited, errors, nested;
-- LIMIT and OFFSET of a subquery, in a query of keys or bounds alone: an internal error
SELECT min(age) FROM staff GROUP BY department LIMIT (SELECT 1);
SELECT department FROM staff GROUP BY department ORDER BY 1 OFFSET (SELECT 2);
SELECT DISTINCT department FROM staff ORDER BY 1 LIMIT (SELECT count(*) - 59 FROM staff);
-- threat 339: notices come with each execution: whether a plan was kept would tell whether the table was analyzed or vacuumed since.
PREPARE smallest AS SELECT min(age) FROM staff;
EXECUTE smallest;
BEGIN;
EXECUTE smallest;
EXECUTE smallest;
COMMIT;
EXECUTE smallest;
DEALLOCATE smallest;

-- Too many combinations of lists: keys are chosen privately. Of groups with one row more than two are shown with a probability below 1e-8.
SELECT count(*) BETWEEN 7 AND 9 AS groups, sum(n) BETWEEN 12 AND 16 AS rows FROM (SELECT department, age, level, active, floor(salary / 50000), count(*) AS n FROM staff GROUP BY 1, 2, 3, 4, 5) g;
SELECT name, count(*) OVER () FROM staff;
SELECT * FROM staff;

-- Answers beyond their type are the nearest of it: an error would come after the charge.
SET SESSION AUTHORIZATION regress_dpq_plain_owner;
CREATE VIEW narrow AS SELECT 5::smallint AS small, 5 AS whole, 5::bigint AS big, 1::real AS single FROM staff WHERE id <= 10;
SELECT dp_protect_table('narrow');
SELECT dp_set_domain('narrow', 'small', 50000, 100000), dp_set_domain('narrow', 'whole', 1e18::float8, 2e18), dp_set_domain('narrow', 'big', 9e18::float8, 9223372036854775807),
       dp_set_domain('narrow', 'single', 3e38::float8, 1e39);
SELECT dp_grant_private_access('narrow', 'regress_dpq_plain_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
SELECT sum(single) FROM narrow;
SELECT sum(single), dp_error_of(sum(single)) > 0 AS error FROM narrow;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY small) AS small, percentile_disc(0.5) WITHIN GROUP (ORDER BY whole) AS whole FROM narrow;
SELECT sum(whole) FROM narrow;
SELECT sum(whole), dp_error_of(sum(whole)) > 0 AS error FROM narrow;
SELECT percentile_disc(1) WITHIN GROUP (ORDER BY big) >= 9e18 AS large, dp_error_of(percentile_disc(1) WITHIN GROUP (ORDER BY big)) > 0 AS error,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY small) AS small, dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY small)) > 0 AS error_of_small FROM narrow;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY small) >= 50000 AS wide FROM narrow;
SELECT count(*) AS before FROM dp_ledger \gset
SELECT percentile_disc('{0.1,0.5}'::float8[]) WITHIN GROUP (ORDER BY small) FROM narrow;
SELECT count(*) - :before AS charges FROM dp_ledger;

-- Without an epsilon in the grant there are no standard aggregates; without a delta, keys must be public.
SET SESSION AUTHORIZATION regress_dpq_plain_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
SELECT age, hired, count(*) FROM staff GROUP BY 1, 2;
SELECT department, count(*) FROM staff GROUP BY department;
SELECT city, count(*) FROM staff GROUP BY city;
SELECT to_char(entered, 'YYYY'), count(*) FROM staff GROUP BY 1;
SET SESSION AUTHORIZATION regress_dpq_plain_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst');
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
SELECT count(*) FROM staff;
EXECUTE of_age(0);
SET SESSION AUTHORIZATION regress_dpq_plain_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', epsilon => 0.001);
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', epsilon => 101);
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', delta => 1e-6);
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', epsilon => 1, delta => 1);
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', reuse => '0');
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', reuse => '11 years');
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', epsilon => 1, delta => 1e-6, reuse => '1 day');
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst');
-- A list whose type has changed
ALTER TYPE grade RENAME VALUE 'senior' TO 'old';
SELECT dp_grant_private_access('staff', 'regress_dpq_plain_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_plain_analyst;
SELECT level, count(*) FROM staff GROUP BY level;
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
DROP SCHEMA regress_dpq_plain CASCADE;
DROP OWNED BY regress_dpq_plain_owner, regress_dpq_plain_analyst;
DROP ROLE regress_dpq_plain_owner, regress_dpq_plain_analyst;
