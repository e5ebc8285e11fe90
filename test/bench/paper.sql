-- The experiments of Kaplan, Schnapp and Stemmer 2022 on one dataset, in one session. Variables:
--   dataset, granularity   its name and the step of its values
--   file                   its values, one a line; not set for uniform and gaussian
--   trials                 the number of draws of 1000 rows
--   methods, measures      lists such as 'approximate,auto' and 'pure,zcdp'
-- Adds rows to the table measured. Every trial is a group, so all trials are one charge.
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '256MB';
SET client_min_messages = warning;

CREATE TEMP TABLE population (position serial, value float8);
\if :{?file}
\copy population (value) FROM pstdin
\endif

-- 1000 rows for each trial, drawn with replacement. All methods answer on the same rows.
CREATE TEMP TABLE sample (trial int, value float8);
SELECT :'dataset' = 'uniform' AS is_uniform, :'dataset' = 'gaussian' AS is_gaussian \gset
\if :is_uniform
INSERT INTO sample
  SELECT trial, -5 + 10 * random() FROM generate_series(1, :trials) AS trial, generate_series(1, 1000);
\elif :is_gaussian
INSERT INTO sample
  SELECT trial, 5 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())
    FROM generate_series(1, :trials) AS trial, generate_series(1, 1000);
\else
CREATE UNIQUE INDEX ON population (position);
INSERT INTO sample
  SELECT trial, value
    FROM (SELECT trial, 1 + floor(random() * (SELECT count(*) FROM population))::int AS position
            FROM generate_series(1, :trials) AS trial, generate_series(1, 1000)) AS draw
    JOIN population USING (position)
    ORDER BY trial;
\endif
CREATE INDEX ON sample (trial);
CREATE TEMP TABLE sorted AS
  SELECT trial, array_agg(value ORDER BY value) AS upwards, array_agg(-value ORDER BY -value) AS downwards
    FROM sample GROUP BY trial;
CREATE TEMP TABLE answers (trial int, answer float8[]);
ANALYZE population, sample, sorted;

-- The gap of a trial: the mean over the quantiles of the number of rows strictly between the answer
-- and the true quantile x_(floor(qn)), counted from 0 as in the paper's code. width_bucket counts the array's elements up to a value.
CREATE FUNCTION pg_temp.mean_gaps(quantiles float8[]) RETURNS TABLE (trial int, mean_gap float8)
LANGUAGE sql AS $$
  WITH rows AS MATERIALIZED (SELECT s.trial, upwards, downwards, answer FROM answers JOIN sorted AS s USING (trial))
  SELECT rows.trial,
         avg(greatest(1000 - width_bucket(least(answered, truth), upwards)
                           - width_bucket(-greatest(answered, truth), downwards), 0))::float8
    FROM rows,
         unnest(answer, quantiles) AS pair (answered, q),
         LATERAL (SELECT upwards[least(floor(q * 1000)::int + 1, 1000)] AS truth) AS true_quantile
    GROUP BY rows.trial
$$;

-- Slow methods get fewer trials by a public rule: the time of 'joint' grows with m^3, and 'tree' draws noise
-- for many thousand nodes.
CREATE FUNCTION pg_temp.trials_for(method text, m int, most int) RETURNS int
LANGUAGE sql AS $$
  SELECT CASE WHEN method = 'joint' AND m > 10 THEN greatest((most * (10.0 / m) ^ 3)::int, most / 50, 2)
              WHEN method = 'tree' THEN greatest(most / 4, 2)
              ELSE most END
$$;

CREATE PROCEDURE pg_temp.measure(dataset text, granularity float8, method text, privacy text, m int, trials int)
LANGUAGE plpgsql AS $$
DECLARE
  quantiles float8[] := (SELECT array_agg(i::float8 / (m + 1) ORDER BY i) FROM generate_series(1, m) AS i);
  call text := format('dp_quantiles(value, %L::float8[], %s, -100, 100, dp_options(method => %L, granularity => %s%s))',
                      quantiles, CASE privacy WHEN 'pure' THEN '1' ELSE 'NULL' END, method, granularity,
                      CASE privacy WHEN 'zcdp' THEN ', rho => 0.5' ELSE '' END);
  started timestamptz;
  seconds float8;
BEGIN
  TRUNCATE answers;
  started := clock_timestamp();
  EXECUTE format('INSERT INTO answers SELECT trial, %s FROM sample WHERE trial <= %s GROUP BY trial', call, trials);
  seconds := extract(epoch FROM clock_timestamp() - started);
  INSERT INTO measured
    SELECT dataset, method, privacy, m, avg(mean_gap), coalesce(stddev_samp(mean_gap) / sqrt(count(*)), 0),
           trials, seconds / trials
      FROM pg_temp.mean_gaps(quantiles);
END $$;

SELECT format('CALL pg_temp.measure(%L, %s, %L, %L, %s, %s)', :'dataset', :'granularity', method, privacy, m,
              pg_temp.trials_for(method, m, :trials))
  FROM unnest(string_to_array(:'measures', ',')) AS privacy,
       unnest(string_to_array(:'methods', ',')) AS method,
       unnest('{1,2,3,5,7,10,15,20,35,50,80,120}'::int[]) AS m
  ORDER BY method = 'joint', m
\gexec
