-- A dp_cdf of dates or times keeps its type: in its text, its bytes, its answers and its plots.
\set SHOW_CONTEXT never
SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO, DMY';
SET IntervalStyle = 'postgres';
CREATE ROLE regress_dpq_cdf_times;
CREATE SCHEMA regress_dpq_cdf_times AUTHORIZATION regress_dpq_cdf_times;
SELECT dp_grant_budget('regress_dpq_cdf_times', 1e6);
CREATE CAST (bytea AS dp_cdf) WITHOUT FUNCTION;
CREATE CAST (dp_cdf AS bytea) WITHOUT FUNCTION;
SET ROLE regress_dpq_cdf_times;
SET search_path = regress_dpq_cdf_times, public;

-- 1000 rows spread evenly; a very large epsilon leaves no noise.
CREATE TABLE visits AS
SELECT date '2024-01-01' + i / 10 AS day, timestamp '2024-01-01 00:00' + i * interval '1 hour' AS at_local,
       timestamptz '2024-01-01 00:00+00' + i * interval '1 hour' AS at, time '08:00' + i * interval '30 seconds' AS clock,
       i * interval '1 minute' AS stay
  FROM generate_series(0, 999) AS i;
CREATE TABLE curves (name text PRIMARY KEY, cdf dp_cdf);
INSERT INTO curves SELECT 'date', dp_cdf(day, 1000, '2024-01-01', '2024-04-10') FROM visits;
INSERT INTO curves SELECT 'date with bins', dp_cdf(day, 1000, '2024-01-01', '2024-04-10', dp_options(bins => 10)) FROM visits;
INSERT INTO curves SELECT 'timestamp', dp_cdf(at_local, 1000, '2024-01-01', '2024-02-11 16:00', dp_options(bins => 10)) FROM visits;
INSERT INTO curves SELECT 'timestamptz', dp_cdf(at, 1000, '2024-01-01 00:00+00', '2024-02-11 16:00+00', dp_time_options('1 hour')) FROM visits;
INSERT INTO curves SELECT 'time', dp_cdf(clock, 1000, '08:00', '16:20', dp_time_options('20 minutes')) FROM visits;
INSERT INTO curves SELECT 'interval', dp_cdf(stay, 1000, '0', '16 hours 40 minutes', dp_options(bins => 4)) FROM visits;
INSERT INTO curves VALUES ('zcdp', '{"type": "date", "lower": "0044-03-15 BC", "upper": "2024-02-29", "bins": 2, "method": "binary",
  "rho": 0.5, "branching": [2], "level_rho": [0.5], "rows": 3, "cumulative": [1, 3]}');
INSERT INTO curves SELECT 'number', dp_cdf(extract(hour FROM clock), 1000, 0, 23, dp_options(granularity => 1)) FROM visits;

-- Up to 1023 days: one bin a day
SELECT dp_cdf(day, 1, '2024-01-01', '2026-10-20')::jsonb - 'cumulative' - 'level_epsilon' - 'rows' AS days,
       dp_cdf(day, 1, '2024-01-01', '2026-10-21')::jsonb -> 'granularity' AS more_days,
       dp_cdf(day, 1, '2024-01-01', '2026-10-21')::jsonb -> 'bins' AS bins,
       dp_cdf(day, 1, '2024-01-01', '2024-01-21', dp_options(bins => 7))::jsonb -> 'bins' AS given
  FROM visits;

-- Text: the same in every session
SELECT name, cdf FROM curves WHERE name IN ('date with bins', 'timestamp', 'interval', 'zcdp') ORDER BY name;
SELECT name, cdf::jsonb - 'cumulative' - 'level_epsilon' AS cdf FROM curves WHERE name IN ('date', 'timestamptz', 'time') ORDER BY name;
CREATE TABLE texts AS SELECT name, cdf::text AS text FROM curves;
SET TimeZone = 'America/New_York';
SET DateStyle = 'SQL, MDY';
SET IntervalStyle = 'sql_standard';
SELECT name, cdf::text = text AS text, text::dp_cdf::text = text AS from_text, cdf::jsonb::dp_cdf::bytea = cdf::bytea AS bytes,
       cdf::bytea::dp_cdf::text = text AS from_bytes
  FROM curves JOIN texts USING (name) ORDER BY name;
SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO, DMY';
SET IntervalStyle = 'postgres';
-- Curves of numbers have no type in their bytes.
SELECT name, get_byte(cdf::bytea, 0) AS version, get_byte(cdf::bytea, 1) AS type FROM curves WHERE name <> 'number' ORDER BY name;
SELECT get_byte(cdf::bytea, 0) AS version FROM curves WHERE name = 'number';
\copy curves TO 'results/cdf_times.copy' (FORMAT binary)
CREATE TABLE copied (LIKE curves);
\copy copied FROM 'results/cdf_times.copy' (FORMAT binary)
SELECT count(*) AS values, bool_and(c.cdf::bytea = k.cdf::bytea) AS same FROM copied c JOIN curves k USING (name);

-- Answers
SELECT name, dp_cdf_time_quantile(cdf, 0.5) AS median, dp_cdf_time_quantiles(cdf, '{0.1,NULL,0.9}') AS quantiles FROM curves
 WHERE name <> 'number' ORDER BY name;
SELECT dp_cdf_time_quantile(cdf, 0.5)::date + 1 AS next_day FROM curves WHERE name = 'date';
SELECT dp_cdf_time_quantile(cdf, 0.5)::timestamptz = '2024-01-21 19:00+00' AS moment FROM curves WHERE name = 'timestamptz';
SELECT dp_cdf_time_quantiles(cdf, '{{0.1,0.2},{0.3,0.4}}')::time[] AS times FROM curves WHERE name = 'time';
SELECT dp_cdf_time_probability(cdf, '2024-01-10') AS text, dp_cdf_time_probability(cdf, date '2024-01-10') AS date,
       dp_cdf_time_probability(cdf, '10.01.2024') AS in_date_style, dp_cdf_time_probability(cdf, '-infinity') AS none,
       dp_cdf_time_probability(cdf, 'infinity') AS all
  FROM curves WHERE name = 'date';
SELECT dp_cdf_time_count(cdf, '2024-02-01', '2024-02-29') AS february, dp_cdf_time_count(cdf, date '2024-02-01', '2024-02-29') AS date,
       dp_cdf_time_count(cdf, '-infinity', 'infinity') = dp_cdf_rows(cdf) AS all
  FROM curves WHERE name = 'date';
SELECT dp_cdf_time_count(cdf, '2024-01-02 01:00', '2024-01-02 02:00') AS berlin,
       dp_cdf_time_count(cdf, timestamptz '2024-01-02 00:00+00', '2024-01-02 01:00+00') AS utc
  FROM curves WHERE name = 'timestamptz';
SELECT dp_cdf_time_count(cdf, '09:00', '10:00') AS text, dp_cdf_time_count(cdf, time '09:00', '10:00') AS time FROM curves WHERE name = 'time';
SELECT dp_cdf_time_probability(cdf, '250 minutes') AS text, dp_cdf_time_probability(cdf, interval '250 minutes') AS interval FROM curves
 WHERE name = 'interval';
SELECT x::timestamp, round(probability::numeric, 3) AS probability, low <= probability AND probability <= high AS in_band
  FROM curves, dp_cdf_time_points(cdf) WHERE name = 'timestamp';
SELECT count(*), min(x::date), max(x::date) FROM curves, dp_cdf_time_points(cdf, 0.9) WHERE name = 'date';
SELECT (dp_cdf_error(cdf)).rows < 2 AS error FROM curves WHERE name = 'date';
-- A driver sends numbers as text: they need a cast.
SELECT dp_cdf_time_quantile(cdf, '0.5'::varchar::float8) AS quantile, (SELECT count(*) FROM dp_cdf_time_points(cdf, '0.9'::varchar::float8)) AS points
  FROM curves WHERE name = 'time';
-- Nothing changes for a parameter of unknown type.
PREPARE untyped AS SELECT dp_cdf_count(cdf, $1, $2), dp_cdf_probability(cdf, $3), dp_cdf_time_probability(cdf, $4),
                          dp_cdf_time_count(cdf, $5, $6), dp_cdf_time_quantile(cdf, $7) FROM curves;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
-- Without rows
SELECT dp_cdf_time_quantile(c, 0.5) IS NULL AS quantile, dp_cdf_time_quantiles(c, '{0.5}') AS quantiles,
       dp_cdf_time_probability(c, '2024-01-01') IS NULL AS probability, dp_cdf_time_count(c, '2024-01-01', '2024-01-01') AS count
  FROM (VALUES ('{"type": "date", "lower": "2024-01-01", "upper": "2024-01-02", "bins": 1, "method": "histogram", "epsilon": 1,
                 "branching": [1], "level_epsilon": [0.5], "rows": 0, "cumulative": [0]}'::dp_cdf)) AS v (c);

-- Questions of another type
SELECT dp_cdf_quantile(cdf, 0.5) FROM curves WHERE name = 'date';
SELECT dp_cdf_quantiles(cdf, '{0.5}') FROM curves WHERE name = 'timestamp';
SELECT dp_cdf_points(cdf) FROM curves WHERE name = 'timestamptz';
SELECT dp_cdf_probability(cdf, 5) FROM curves WHERE name = 'time';
SELECT dp_cdf_count(cdf, 5, 6) FROM curves WHERE name = 'interval';
SELECT dp_cdf_time_quantile(cdf, 0.5) FROM curves WHERE name = 'number';
SELECT dp_cdf_time_quantiles(cdf, '{0.5}') FROM curves WHERE name = 'number';
SELECT dp_cdf_time_points(cdf) FROM curves WHERE name = 'number';
SELECT dp_cdf_time_probability(cdf, '12:00') FROM curves WHERE name = 'number';
SELECT dp_cdf_time_count(cdf, '12:00', '13:00') FROM curves WHERE name = 'number';
SELECT dp_cdf_time_probability(cdf, timestamp '2024-01-10') FROM curves WHERE name = 'date';
SELECT dp_cdf_time_probability(cdf, 8775) FROM curves WHERE name = 'date';
SELECT dp_cdf_time_count(cdf, date '2024-01-10', '2024-01-11') FROM curves WHERE name = 'timestamptz';
SELECT dp_cdf_time_probability(cdf, 'yesterday evening') FROM curves WHERE name = 'timestamp';
SELECT dp_cdf_time_count(cdf, '2024-03-01', '2024-02-01') FROM curves WHERE name = 'date';
SELECT dp_cdf_time_quantile(cdf, 1.5) FROM curves WHERE name = 'date';

-- Texts that are none
CREATE TABLE text AS SELECT '{"type": "date", "lower": "2024-01-01", "upper": "2024-01-03", "granularity": "1 day", "bins": 3, "method": "histogram",
  "epsilon": 1, "branching": [3], "level_epsilon": [0.5], "rows": 6, "cumulative": [1, 3, 6]}'::jsonb AS json;
SELECT json::dp_cdf::jsonb = json AS same FROM text;
SELECT (json || '{"type": "day"}')::dp_cdf FROM text;
SELECT (json || '{"type": "float8"}')::dp_cdf FROM text;
SELECT (json || '{"type": 5}')::dp_cdf FROM text;
SELECT (json || '{"lower": 8766}')::dp_cdf FROM text;
SELECT (json || '{"lower": "01.01.2024"}')::dp_cdf FROM text;
SELECT (json || '{"lower": "-infinity"}')::dp_cdf FROM text;
SELECT (json || '{"lower": "some day"}')::dp_cdf FROM text;
SELECT (json || '{"lower": "2024-01-04"}')::dp_cdf FROM text;
SELECT (json || '{"granularity": 1}')::dp_cdf FROM text;
SELECT (json || '{"granularity": "24:00"}')::dp_cdf FROM text;
SELECT (json || '{"granularity": "12:00:00"}')::dp_cdf FROM text;
SELECT (json || '{"granularity": "-1 days"}')::dp_cdf FROM text;
SELECT (json || '{"granularity": "00:00:00"}')::dp_cdf FROM text;
SELECT (json || '{"granularity": "2 days"}')::dp_cdf FROM text;
SELECT (json - 'type')::dp_cdf FROM text;
SELECT (json || '{"type": "timestamptz", "lower": "2024-01-01 00:00:00+01:00"}')::dp_cdf FROM text;
-- Bytes that are none: an unknown type, the type of numbers, a bound between two days, a bound beyond all dates
SELECT set_byte(json::dp_cdf::bytea, 1, 200)::dp_cdf FROM text;
SELECT set_byte(json::dp_cdf::bytea, 1, 0)::dp_cdf FROM text;
SELECT set_byte(json::dp_cdf::bytea, 1, 2)::dp_cdf FROM text;
SELECT set_byte(json::dp_cdf::bytea, 4, 1)::dp_cdf FROM text;
SELECT set_byte(json::dp_cdf::bytea, 9, 65)::dp_cdf FROM text;
SELECT dp_cdf_time_quantile(set_byte(json::dp_cdf::bytea, 1, 200)::dp_cdf, 0.5) FROM text;
SELECT dp_cdf_rows(set_byte(json::dp_cdf::bytea, 1, 200)::dp_cdf) FROM text;
SELECT dp_cdf_rows(substring(json::dp_cdf::bytea FOR 2)::dp_cdf) FROM text;

-- Any change of text or bytes gives either an error, or a value that reads back unchanged and answers questions.
CREATE FUNCTION outcome(value text, bytes bytea DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  cdf dp_cdf;
BEGIN
  BEGIN
    cdf := CASE WHEN bytes IS NULL THEN value::dp_cdf ELSE bytes::dp_cdf::text::dp_cdf END;
  EXCEPTION WHEN data_exception THEN
    RETURN 'error';
  END;
  RETURN CASE WHEN cdf::jsonb::dp_cdf::text = cdf::text AND cdf::text::dp_cdf::bytea = cdf::bytea
                   AND CASE WHEN cdf::jsonb ? 'type'
                            THEN dp_cdf_time_count(cdf, cdf::jsonb ->> 'lower', cdf::jsonb ->> 'upper') <= dp_cdf_rows(cdf)
                                 AND dp_cdf_time_quantile(cdf, 0.5) IS NOT NULL
                                 AND (SELECT count(*) > 0 FROM dp_cdf_plot(cdf))
                            ELSE dp_cdf_quantile(cdf, 0.5) IS NOT NULL END
              THEN 'value' ELSE 'WRONG ' || cdf::text END;
END
$$;
SELECT change, outcome(overlay(json::text PLACING change FROM at FOR length(change))) AS outcome, count(*) > 0 AS some
  FROM text, unnest('{0,9,-,infinity}'::text[]) AS change, generate_series(1, length(json::text)) AS at
 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT type, outcome(NULL, set_byte(set_byte(json::dp_cdf::bytea, 1, type), at, value)) AS outcome, count(*) > 0 AS some
  FROM text, unnest('{5,6,7,8,9}'::int[]) AS type, generate_series(0, 54) AS at, unnest('{0,1,127,128,193,255}'::int[]) AS value
 GROUP BY 1, 2 ORDER BY 1, 2;

-- Plots
SELECT dp_cdf_plot(cdf, height => 10) AS date FROM curves WHERE name = 'date';
SELECT dp_cdf_plot(cdf, height => 10) AS timestamptz FROM curves WHERE name = 'timestamptz';
SELECT dp_cdf_plot(cdf, height => 10) AS time FROM curves WHERE name = 'time';
SELECT dp_cdf_plot(cdf, height => 10) AS interval FROM curves WHERE name = 'interval';
SELECT name, (regexp_matches(dp_cdf_svg(cdf), '<desc>(.*)</desc>'))[1] AS description,
       (SELECT array_agg(m[1]) FROM regexp_matches(dp_cdf_svg(cdf), '>([^<]*)</text>', 'g') AS m) AS labels
  FROM curves WHERE name IN ('date', 'timestamp', 'timestamptz') ORDER BY name;

RESET ROLE;
SET client_min_messages = warning;
DROP CAST (bytea AS dp_cdf);
DROP CAST (dp_cdf AS bytea);
DROP OWNED BY regress_dpq_cdf_times;
DROP ROLE regress_dpq_cdf_times;
