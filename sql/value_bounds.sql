-- The bounds of what is computed of columns with bounds: min and max of an analyst are these bounds, and those of the owner are the
-- values. No value is outside. (column_domains.sql: what an owner states.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_bounds_owner LOGIN;
CREATE ROLE regress_dpq_bounds_analyst LOGIN;
CREATE SCHEMA regress_dpq_bounds AUTHORIZATION regress_dpq_bounds_owner;
GRANT USAGE ON SCHEMA regress_dpq_bounds TO regress_dpq_bounds_analyst;
SELECT dp_grant_budget('regress_dpq_bounds_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_bounds_analyst');
SET SESSION AUTHORIZATION regress_dpq_bounds_owner;
SET search_path = regress_dpq_bounds, public;
SET timezone = 'America/New_York';
CREATE TABLE trips (begun timestamptz, ended timestamptz, local timestamp, day date, born date, lasted interval, hour time, price numeric, weight float8, seats int, any_number int,
                    code varchar(12));
-- The ends of all bounds, and values between them
INSERT INTO trips
  SELECT b, e, b AT TIME ZONE 'UTC', (b AT TIME ZONE 'UTC')::date, d, i, h, p, w, s, n, repeat('x', abs(s))
    FROM unnest(ARRAY['2019-12-31 23:30+00', '2020-02-29 12:00+00', '2024-07-01 00:00+00', '2025-03-30 01:30+00', '2026-12-31 23:59:59+00']::timestamptz[]) b,
         unnest(ARRAY['2019-12-31 23:30+00', '2025-12-31 23:59:59+00', '2026-12-31 23:59:59+00']::timestamptz[]) e,
         unnest(ARRAY['1940-01-01', '1999-12-31', '2010-02-28']::date[]) d, unnest(ARRAY['-1 day', '02:30', '30 days']::interval[]) i,
         unnest(ARRAY['00:00', '23:59:59', '24:00']::time[]) h, unnest(ARRAY[-20, 0, 0.05, 199.99]) p, unnest(ARRAY[0, 1.5, 10]::float8[]) w,
         unnest(ARRAY[-7, 0, 9]) s, unnest(ARRAY[-1000000, 3, 1000001]) n;
SELECT dp_protect_table('trips');
SELECT dp_set_domain('trips', 'begun', '2019-12-31 23:30+00', '2026-12-31 23:59:59+00'), dp_set_domain('trips', 'ended', '2019-12-31 23:30+00', '2026-12-31 23:59:59+00'),
       dp_set_domain('trips', 'local', '2019-12-31 23:30', '2026-12-31 23:59:59'), dp_set_domain('trips', 'day', '2019-12-31', '2026-12-31'),
       dp_set_domain('trips', 'born', '1940-01-01', '2010-02-28'), dp_set_domain('trips', 'lasted', '-1 day', '30 days'), dp_set_domain('trips', 'hour', '00:00', '24:00'),
       dp_set_domain('trips', 'price', -20, 200), dp_set_domain('trips', 'weight', 0, 10), dp_set_domain('trips', 'seats', -7, 9);
SELECT dp_grant_private_access('trips', 'regress_dpq_bounds_analyst', epsilon => 1, delta => 1e-6);
-- Numbers, and seconds of times. Who asks sees the view as a derived table.
CREATE VIEW computed WITH (security_invoker) AS SELECT
  least(greatest(any_number, 0), 50)::float8 AS clipped,
  (CASE WHEN any_number > 50 THEN 50 WHEN any_number < 0 THEN 0 ELSE any_number END)::float8 AS by_case,
  least(greatest(any_number::bigint, 0), 50)::float8 AS clipped_bigint, least(greatest(any_number::numeric, 0), 50.5)::float8 AS clipped_numeric,
  greatest(least(any_number::float8, 50), 0) AS clipped_float,
  (CASE WHEN any_number::numeric > 50 THEN 50 WHEN any_number::numeric < 0 THEN 0 ELSE any_number::numeric END)::float8 AS numeric_by_case,
  (CASE WHEN any_number BETWEEN -5 AND 5 THEN any_number END)::float8 AS between_ends,
  least(greatest(any_number * 1.0, 0), 50)::float8 AS clipped_by_casts, (CASE WHEN any_number * 1.0 BETWEEN -5.0 AND 5 THEN any_number * 1.0 END)::float8 AS between_casts,
  (any_number % 7)::float8 AS remainder, mod(price, 3)::float8 AS numeric_remainder,
  round(price, 1)::float8 AS tenths, trunc(price, 0)::float8 AS units, trunc(least(greatest(price, 19), 95.5), -1)::float8 AS tens, sqrt(weight) AS root, power(price, 2)::float8 AS square, power(weight, 3) AS cube, exp(weight) AS exponential,
  sign(price)::float8 AS sign, abs(price)::float8 AS absolute, length(code)::float8 AS characters, width_bucket(weight, 0, 10, 4)::float8 AS bucket,
  extract(year FROM begun)::float8 AS year, extract(century FROM begun)::float8 AS century, extract(decade FROM local)::float8 AS decade, extract(isoyear FROM day)::float8 AS isoyear,
  extract(month FROM begun)::float8 AS month, extract(week FROM begun)::float8 AS week, extract(doy FROM begun)::float8 AS doy, extract(dow FROM begun)::float8 AS dow,
  extract(hour FROM begun)::float8 AS hour, extract(hour FROM hour)::float8 AS hour_of_time, extract(second FROM local)::float8 AS second,
  extract(epoch FROM ended - begun)::float8 AS duration, extract(epoch FROM lasted * 2.5)::float8 AS longer, extract(epoch FROM lasted / 4)::float8 AS shorter,
  (ended::date - begun::date)::float8 AS days, (day - born)::float8 AS days_lived, (day + 3 - born)::float8 AS days_later,
  extract(year FROM age(day, born))::float8 AS age, extract(epoch FROM age(begun, born))::float8 AS age_in_seconds,
  extract(epoch FROM begun - interval '1 month')::float8 AS month_before, extract(epoch FROM day + interval '13 months')::float8 AS months_later,
  extract(epoch FROM begun AT TIME ZONE 'Asia/Kathmandu')::float8 AS elsewhere, extract(epoch FROM date_trunc('year', begun))::float8 AS year_begun, extract(epoch FROM begun::time)::float8 AS time_of_day
  FROM trips;
GRANT SELECT ON computed TO regress_dpq_bounds_analyst;
SELECT string_agg(format('min(%I)', attname), ',' ORDER BY attnum) AS least, string_agg(format('max(%I)', attname), ',' ORDER BY attnum) AS greatest,
       array_agg(attname ORDER BY attnum) AS names FROM pg_attribute WHERE attrelid = 'computed'::regclass AND attnum > 0 \gset
SELECT ARRAY[:least] AS values_from, ARRAY[:greatest] AS values_to FROM computed \gset
SET SESSION AUTHORIZATION regress_dpq_bounds_analyst;
SET search_path = regress_dpq_bounds, public;
SET timezone = 'America/New_York';
SELECT ARRAY[:least] AS bounds_from, ARRAY[:greatest] AS bounds_to FROM computed \gset
RESET SESSION AUTHORIZATION;
SELECT name, b[1] <= v[1] AND v[2] <= b[2] AS is_within, round(((b[2] - b[1]) / nullif(v[2] - v[1], 0))::numeric, 2) AS times_as_wide
  FROM (SELECT name, ARRAY[a, z] AS v, ARRAY[l, u] AS b
          FROM unnest(:'names'::text[], :'values_from'::float8[], :'values_to'::float8[], :'bounds_from'::float8[], :'bounds_to'::float8[]) t (name, a, z, l, u)) s;
-- What WHERE says holds for the values that are left, also in queries below; so does a condition of CASE, with constants of other types.
SET SESSION AUTHORIZATION regress_dpq_bounds_analyst;
SELECT min(price), max(price) FROM (SELECT price FROM trips WHERE price > 10 AND weight < 5) t WHERE price <= 150;
SELECT min(p), max(p) FROM (SELECT CASE WHEN price BETWEEN 0.5 AND 100 THEN price END AS p FROM trips) t;
SELECT min(any_number), max(any_number) FROM trips WHERE any_number BETWEEN 0 AND 1000;
SELECT min(day), max(day) FROM trips WHERE day >= '2024-02-01' AND day < date '2024-02-01' + 29;
SELECT min(begun AT TIME ZONE 'UTC') AS least, max(begun AT TIME ZONE 'UTC') AS greatest FROM trips WHERE begun >= timestamptz '2024-02-01 UTC' AND begun < '2024-03-01 UTC';
-- A date and a moment are compared in the time zone.
SELECT min(begun AT TIME ZONE 'UTC') <= '2024-02-01 05:00' AS has_first, max(begun AT TIME ZONE 'UTC') >= '2024-03-01 05:00' AS has_last FROM trips WHERE begun >= date '2024-02-01' AND begun <= date '2024-03-01';
SELECT min(b AT TIME ZONE 'UTC') <= '2024-02-01 05:00' AS has_first, max(b AT TIME ZONE 'UTC') BETWEEN '2024-03-01 05:00' AND '2024-03-03' AS has_last
  FROM (SELECT CASE WHEN begun >= date '2024-02-01' AND begun <= date '2024-03-01' THEN begun END AS b FROM trips) t;
SELECT min(b AT TIME ZONE 'UTC') <= '2019-12-31 05:00' AS has_first, max(b AT TIME ZONE 'UTC') BETWEEN '2026-12-31 23:59:59' AND '2027-01-03' AS has_last
  FROM (SELECT CASE WHEN seats > 0 THEN day ELSE begun END AS b FROM trips WHERE day <= '2026-12-31') t;
-- Ages by the clock have bounds for a year: born between 1940 and 2010.
SELECT max(extract(year FROM age(born))) - min(extract(year FROM age(born))) BETWEEN 70 AND 75 AS years, max(current_date - born) - min(current_date - born) BETWEEN 25990 AND 26360 AS days FROM trips;
-- No value can be there, or one: the bounds of the column. Nothing follows from what a row computes.
SELECT min(price), max(price) FROM trips WHERE price > 300;
SELECT min(price), max(price) FROM trips WHERE price >= 5 AND price <= 5;
SELECT min(seats), max(seats) FROM trips WHERE seats > weight OR seats > 5;
-- A text has no fewer than 0 characters. One number for all values has 0 beside it, so that rows with it can be counted by a sum.
SELECT min(length(lower(code))) FROM trips;
SELECT min(least(length(lower(code)), 50)), max(least(length(lower(code)), 50)) FROM trips;
SELECT min(CASE WHEN seats > 0 THEN 7 END), max(CASE WHEN seats > 0 THEN 7 END), min(CASE WHEN seats > 0 THEN -7 END), max(CASE WHEN seats > 0 THEN -7 END),
       min(CASE WHEN seats > 0 THEN 0 END), max(CASE WHEN seats > 0 THEN 0 END) FROM trips;
SELECT abs(sum(CASE WHEN seats > 0 THEN 1 END) - count(*) FILTER (WHERE seats > 0)) < 100 AS is_near FROM trips;
-- A percentile has the decimals of a numeric with a scale, if the value grid has so many values and the lower bound is one.
SET SESSION AUTHORIZATION regress_dpq_bounds_owner;
CREATE TABLE prices (paid numeric(8, 2), in_thirds numeric(8, 2), long numeric(12, 6), tens numeric(8, 0), plain numeric, stepped numeric(8, 2), large numeric(12, 2), halved numeric(12, 2));
SELECT dp_protect_table('prices'), dp_set_domain('prices', 'paid', -20.5, 1000), dp_set_domain('prices', 'in_thirds', 0.333, 1000), dp_set_domain('prices', 'long', 0, 1000),
       dp_set_domain('prices', 'tens', 0, 1000), dp_set_domain('prices', 'plain', 0, 1000), dp_set_domain('prices', 'stepped', 0, 1000, granularity => 5),
       dp_set_domain('prices', 'large', 100000000.01, 100000010), dp_set_domain('prices', 'halved', 100000000.005, 100000010.005),
       dp_grant_private_access('prices', 'regress_dpq_bounds_analyst', epsilon => 1);
SET SESSION AUTHORIZATION regress_dpq_bounds_analyst;
SELECT x, split_part(split_part(dp_private_query('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ' || x || ') FROM prices'), 'granularity": ', 2), '}', 1) AS one,
       split_part(split_part(dp_private_query('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ' || x || '), percentile_disc(0.9) WITHIN GROUP (ORDER BY ' || x || ') FROM prices'), 'granularity": ', 2), '}', 1) AS several
  FROM unnest('{paid,in_thirds,long,tens,plain,stepped,large,halved,paid * 2}'::text[]) x;
-- What may be NULL although its parts are not: NULLIF, what does not match
SELECT max(CASE WHEN nullif(seats, 9) IS NULL THEN 1 ELSE 0 END) AS of_nullif, max(CASE WHEN seats IS NULL THEN 1 ELSE 0 END) AS of_column,
       max(CASE WHEN substring(code, 'y+') IS NULL THEN 1 ELSE 0 END) AS of_match FROM trips WHERE seats IS NOT NULL AND code IS NOT NULL;
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_bounds CASCADE;
DROP OWNED BY regress_dpq_bounds_owner, regress_dpq_bounds_analyst;
DROP ROLE regress_dpq_bounds_owner, regress_dpq_bounds_analyst;
