-- Plots of a released histogram. They show its answer and nothing else, so the counts are given here.
\set SHOW_CONTEXT never
SET TimeZone = 'Europe/Berlin';

-- Bars are equally wide; bins may have any width and infinite ends.
SELECT dp_histogram_plot(ARRAY['-Infinity', 18, 65, 120, 'Infinity']::float8[], '{3,12,40,0}', height => 12);
SELECT dp_histogram_plot(ARRAY[0, 18, 65, 120], '{12,40,5}', 50, 12, error => dp_histogram_error(0.5));
SELECT dp_histogram_plot(ARRAY[1, 2], '{0}', 40, 10);
-- Bounds that do not fit are left out.
SELECT line FROM dp_histogram_plot((SELECT array_agg(i) FROM generate_series(0, 100) AS i), (SELECT array_agg(i::bigint) FROM generate_series(1, 100) AS i))
  WITH ORDINALITY AS plot (line, number) ORDER BY number DESC LIMIT 2;

-- Bounds of every type that dp_histogram takes
CREATE FUNCTION pg_temp.labels(bounds anyarray) RETURNS text LANGUAGE sql AS $$
  SELECT line FROM dp_histogram_plot(bounds, (SELECT array_agg(1::bigint) FROM generate_series(2, cardinality(bounds))))
    WITH ORDINALITY AS plot (line, number) ORDER BY number DESC LIMIT 1
$$;
SELECT pg_temp.labels('{1,2,3}'::smallint[]) AS smallint;
SELECT pg_temp.labels('{1,2147483647}'::int[]) AS integer;
SELECT pg_temp.labels('{1,9007199254740992}'::bigint[]) AS bigint;
SELECT pg_temp.labels('{0.5,2.25}'::real[]) AS real;
SELECT pg_temp.labels('{0.1,1e10,Infinity}'::numeric[]) AS numeric;
SELECT pg_temp.labels('{-infinity,2024-02-28,2024-02-29,2024-03-01,infinity}'::date[]) AS date;
SELECT pg_temp.labels('{2022-01-01,2023-01-01,2024-01-01}'::date[]) AS years;
SELECT pg_temp.labels('{2024-03-01 09:00,2024-03-01 12:30,2024-03-02 09:00}'::timestamp[]) AS timestamp;
-- In the time zone of the session
SELECT pg_temp.labels('{2024-03-01 00:00+01,2024-03-02 00:00+01,2024-04-01 00:00+02}'::timestamptz[]) AS timestamptz;
SELECT pg_temp.labels('{06:00,12:00,18:00,24:00}'::time[]) AS time;
SELECT pg_temp.labels('{0,"1 day","7 days","1 mon"}'::interval[]) AS interval;

-- SVG: the description, and the texts in it
SELECT (regexp_matches(svg, '<desc>(.*)</desc>'))[1] AS description,
       (SELECT array_agg(m[1]) FROM regexp_matches(svg, '>([^<]*)</text>', 'g') AS m) AS texts
  FROM dp_histogram_svg(ARRAY['-Infinity', 1500, 'Infinity']::float8[], '{3,12}', title => 'a < b', error => 2) AS svg;
SELECT (regexp_matches(svg, '<desc>(.*)</desc>'))[1] AS description,
       (SELECT array_agg(m[1]) FROM regexp_matches(svg, '>([^<]*)</text>', 'g') AS m) AS texts
  FROM dp_histogram_svg('{2024-02-28,2024-02-29,2024-03-01}'::date[], '{3,12}', 300, 200) AS svg;

-- From the query to the plot
CREATE ROLE regress_dpq_histogram;
SELECT dp_grant_budget('regress_dpq_histogram', 2000);
SET ROLE regress_dpq_histogram;
SELECT plot FROM (SELECT dp_histogram(x, 1000, '{0,10,100,1000}') AS counts FROM generate_series(0, 199) AS x) AS answer,
                 dp_histogram_plot('{0,10,100,1000}'::int[], counts, height => 10) AS plot;
RESET ROLE;

-- NULL
SELECT count(*) FROM dp_histogram_plot(NULL::int[], '{1}');
SELECT count(*) FROM dp_histogram_plot(ARRAY[1, 2], NULL);
SELECT count(*) FROM dp_histogram_plot(ARRAY[1, 2], '{1}', NULL);
SELECT dp_histogram_svg(ARRAY[1, 2], NULL) IS NULL AS counts, dp_histogram_svg(ARRAY[1, 2], '{1}', title => NULL) IS NULL AS title;
-- Bad arguments
SELECT dp_histogram_plot(ARRAY[1, 2, 3], '{1}');
SELECT dp_histogram_plot(ARRAY[1], '{}');
SELECT dp_histogram_plot('{}'::int[], '{}');
SELECT dp_histogram_plot(ARRAY[2, 1], '{1}');
SELECT dp_histogram_plot(ARRAY['NaN', 1]::float8[], '{1}');
SELECT dp_histogram_plot(ARRAY[1, NULL], '{1}');
SELECT dp_histogram_plot(ARRAY[[1, 2], [3, 4]], '{1,2,3}');
SELECT dp_histogram_plot(ARRAY[1, 2], '{NULL}');
SELECT dp_histogram_plot(ARRAY[1, 2], '{-1}');
SELECT dp_histogram_plot(ARRAY['a', 'b'], '{1}');
SELECT dp_histogram_plot(ARRAY[1, 2], '{1}', error => -1);
SELECT dp_histogram_plot(ARRAY[1, 2], '{1}', 39);
SELECT dp_histogram_svg(ARRAY[1, 2], '{1}', 100);
SELECT dp_histogram_svg(ARRAY[1, 2], '{1}', title => repeat('x', 1001));

DROP OWNED BY regress_dpq_histogram;
DROP ROLE regress_dpq_histogram;
