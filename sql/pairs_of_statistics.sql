-- Each two statistics in one query, of columns of each kind of type. Several statistics of a column may share a release, in which case one
-- of them must not keep another from an answer. Only what fails beside another, and not alone, is shown.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_pairs_owner LOGIN;
CREATE ROLE regress_dpq_pairs_analyst LOGIN;
CREATE SCHEMA regress_dpq_pairs AUTHORIZATION regress_dpq_pairs_owner;
GRANT USAGE ON SCHEMA regress_dpq_pairs TO regress_dpq_pairs_analyst;
SELECT dp_grant_budget('regress_dpq_pairs_analyst', 1e6, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_pairs_analyst');
SET SESSION AUTHORIZATION regress_dpq_pairs_owner;
SET search_path = regress_dpq_pairs, public;
CREATE TABLE visits (whole int, amount numeric, double float8, day date, at timestamptz, clock time, stay interval, kind text);
INSERT INTO visits SELECT i, i, i, date '2020-01-01' + i, timestamptz '2020-01-01' + i * interval '1 day', time '10:00' + i * interval '1 minute', i * interval '1 minute', 'web' FROM generate_series(1, 20) i;
SELECT dp_protect_table('visits'), dp_grant_private_access('visits', 'regress_dpq_pairs_analyst', epsilon => 1);
SELECT dp_set_domain('visits', 'whole', 0, 20), dp_set_domain('visits', 'amount', 0, 20), dp_set_domain('visits', 'double', 0, 20), dp_set_domain('visits', 'day', '2020-01-01', '2020-02-01'),
       dp_set_domain('visits', 'at', '2020-01-01', '2020-02-01'), dp_set_domain('visits', 'clock', '10:00', '11:00'), dp_set_domain('visits', 'stay', '0', '1 hour'), dp_set_domain('visits', 'kind', '{web,store}');
SET SESSION AUTHORIZATION regress_dpq_pairs_analyst;
SET search_path = regress_dpq_pairs, public;
CREATE FUNCTION pg_temp.failure_of(answers text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SELECT ' || answers || ' FROM visits';
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE TEMP TABLE answer AS
SELECT name, format(statistic, name) AS sql, pg_temp.failure_of(format(statistic, name)) AS failure
  FROM unnest('{whole,amount,double,day,at,clock,stay,kind}'::text[]) name,
       unnest('{count(%s),count(DISTINCT %s),sum(%s),avg(%s),min(%s),max(%s),stddev(%s),var_pop(%s)}'::text[] || '{percentile_cont(0.5) WITHIN GROUP (ORDER BY %s)}'
              || ARRAY['percentile_disc(0.5) WITHIN GROUP (ORDER BY %s)', 'percentile_disc(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY %s)']) statistic;
-- Alone
SELECT name, string_agg(split_part(sql, '(', 1), ', ' ORDER BY sql) FILTER (WHERE failure IS NULL) AS answered, string_agg(split_part(sql, '(', 1), ', ' ORDER BY sql) FILTER (WHERE failure LIKE '42883 %') AS no_functions,
       string_agg(failure, '; ' ORDER BY sql) FILTER (WHERE failure NOT LIKE '42883 %') AS refused
  FROM answer GROUP BY name ORDER BY name;
SELECT count(*) > 200 AS tried, string_agg(pair || ': ' || failure, E'\n') AS failures
  FROM (SELECT pair, pg_temp.failure_of(pair) AS failure
          FROM (SELECT a.sql || ', ' || b.sql AS pair
                  FROM answer a JOIN answer b ON b.name = a.name AND b.sql > a.sql AND a.failure IS NULL AND b.failure IS NULL
                 UNION ALL
                -- Two columns with all of their statistics
                SELECT a.sqls || ', ' || b.sqls
                  FROM (SELECT name, string_agg(sql, ', ') AS sqls FROM answer WHERE failure IS NULL GROUP BY name) a
                  JOIN (SELECT name, string_agg(sql, ', ') AS sqls FROM answer WHERE failure IS NULL GROUP BY name) b ON b.name > a.name) p) f;
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_pairs CASCADE;
DROP OWNED BY regress_dpq_pairs_owner, regress_dpq_pairs_analyst;
DROP ROLE regress_dpq_pairs_owner, regress_dpq_pairs_analyst;
