-- dp_options(), dp_option(), and the same options as handwritten jsonb
\set SHOW_CONTEXT never

SELECT dp_options();
SELECT dp_options(granularity => 1);
SELECT dp_options(method => 'approximate', granularity => 0.01);
SELECT dp_options('approximate', 1e-5);
SELECT dp_options(NULL, NULL);
SELECT dp_options(bins => 10);
SELECT dp_options('tree', bins => 1048576);
SELECT dp_options('binary', granularity => 1);
SELECT dp_options('histogram', NULL, 1);
SELECT dp_options(NULL, NULL, NULL);
SELECT dp_options(max_contributions => '8');
SELECT dp_options('levy', max_contributions => 'median');
SELECT dp_options(max_contributions => 'optimal', suppress => false);
SELECT dp_options('bounded', max_contributions => '4294967295', suppress => true);
SELECT dp_options(max_contributions => '007');
-- max_contributions may also be a number, with the options that go with it.
SELECT dp_options(max_contributions => 8), dp_options(method => 'bounded', max_contributions => 8), dp_options('array', max_contributions => 8);
SELECT dp_options('bounded', max_contributions => 2, rho => 0.01);
SELECT dp_options(rho => 1, method => 'bounded', max_contributions => 2::smallint);
SELECT dp_options(max_contributions => 2, rho => 0.5::float8);
SELECT dp_options('levy', NULL, NULL, NULL, NULL, 8), dp_options(max_contributions => 8, suppress => true), dp_options('tree', NULL, 64);
SELECT dp_options('bounded', max_contributions => '2', rho => 0.01), dp_options(max_contributions => 'median', rho => '0.01');
SELECT dp_options('bounded', max_contributions => 0, rho => 0.01);
SELECT dp_options('bounded', max_contributions => 2, rho => -1);
SELECT dp_options(max_contributions => 0);
SELECT dp_user_mean(u, 0.5, 1, 0, 1, '{"max_contributions": 1.5}') FROM generate_series(1, 2) u;
-- The aggregate, not dp_options, checks that options fit together.
SELECT dp_options('approximate', 1, 1);
-- The step becomes the shortest decimal that reads back as the same float8.
SELECT dp_options(granularity => 0.1::float8 + 0.2);
SELECT (dp_options(granularity => 0.1::float8 + 0.2) ->> 'granularity')::float8 = 0.1::float8 + 0.2 AS same;

SELECT provolatile, proparallel FROM pg_proc WHERE proname = 'dp_options';

SELECT dp_options('exact');
SELECT dp_options('Approximate');
SELECT dp_options('');
SELECT dp_options(granularity => 0);
SELECT dp_options(granularity => -1);
SELECT dp_options(granularity => 'NaN');
SELECT dp_options(granularity => 'Infinity');
-- The inverse of this step is not finite.
SELECT dp_options(granularity => 1e-310);
SELECT dp_options(bins => 0);
SELECT dp_options(bins => -1);
SELECT dp_options(bins => 1048577);
SELECT dp_options(bins => 2147483647);
\set VERBOSITY terse
SELECT dp_options(bins => 1.5);
\set VERBOSITY default
SELECT dp_options(max_contributions => '0');
SELECT dp_options(max_contributions => '-1');
SELECT dp_options(max_contributions => '1.5');
SELECT dp_options(max_contributions => '4294967296');
SELECT dp_options(max_contributions => '12345678901234567890');
SELECT dp_options(max_contributions => ' 8');
SELECT dp_options(max_contributions => '');
SELECT dp_options(max_contributions => 'Median');
SELECT dp_options(suppress => 'maybe');

-- dp_option makes one of them, by its name.
SELECT dp_option('method', 'joint') || dp_option('granularity', 0.5) || dp_option('rho', 0.01) AS joined;
SELECT dp_option('method', 'tree') = dp_options('tree') AS method, dp_option('granularity', 7) = dp_options(granularity => 7) AS granularity,
       dp_option('bins', 64) = dp_options(bins => 64) AS bins, dp_option('lower', -1.5) || dp_option('upper', 2) = dp_options(lower => -1.5, upper => 2) AS bounds,
       dp_option('max_contributions', 8) || dp_option('suppress', false) = dp_options(max_contributions => 8, suppress => false) AS of_users,
       dp_option('max_contributions', 'median') = dp_options(max_contributions => 'median') AS median,
       dp_option('rho', 0.1::real) = dp_options(rho => 0.1) AS real,
       dp_option('granularity', interval '90 minutes') = dp_time_options('90 minutes') AS times;
-- Drivers send numbers and booleans as text.
SELECT dp_option('granularity', '0.5'), dp_option('bins', '64'::text), dp_option('rho', '1e-3'::varchar), dp_option('suppress', 'off'),
       dp_option('max_contributions', '8'), dp_option('granularity', '90 minutes');
SELECT dp_option('bins', 1::smallint), dp_option('bins', 2::bigint), dp_option('bins', 3::numeric), dp_option('bins', 4::real), dp_option('bins', 5::float8);
-- NULL leaves an option out. Of two values of one option the last is taken.
SELECT dp_option('rho', NULL), dp_option('rho', NULL::float8) || dp_option('bins', 1) || dp_option('bins', 2) AS last;
SELECT dp_option('granularty', 1);
SELECT dp_option('granularty', NULL);
SELECT dp_option(NULL, 1);
SELECT dp_option('', 'tree');
SELECT dp_option('method', 'exact');
SELECT dp_option('method', 1);
SELECT dp_option('granularity', 0);
SELECT dp_option('granularity', true);
SELECT dp_option('bins', 'many');
SELECT dp_option('bins', 1.5);
SELECT dp_option('lower', 'Infinity');
SELECT dp_option('upper', 1e400);
SELECT dp_option('rho', '0');
SELECT dp_option('rho', interval '1 day');
SELECT dp_option('suppress', 1);
SELECT dp_option('max_contributions', 1.5);
SELECT dp_option('max_contributions', '-1');
SELECT dp_option('rho', date '2024-01-01');
SELECT dp_option('rho', ARRAY[0.1]);
-- A wrong name or value is an error when the query is planned.
EXPLAIN SELECT dp_option('bins', 0) FROM generate_series(1, 2);
SELECT provolatile, proparallel, count(*) FROM pg_proc WHERE proname = 'dp_option' GROUP BY 1, 2;

\set VERBOSITY sqlstate
SELECT dp_option('granularty', 1);
SELECT dp_option(NULL, 1);
SELECT dp_option('bins', 0);
SELECT dp_option('rho', date '2024-01-01');
SELECT dp_options('exact');
SELECT dp_options(granularity => 0);
SELECT dp_options(bins => 0);
SELECT dp_options(granularty => 1);
\set VERBOSITY default

CREATE ROLE regress_dpq_options;
SELECT dp_grant_budget('regress_dpq_options', 2);
SET ROLE regress_dpq_options;

SELECT dp_median(1, 0.1, 0, 10, dp_options(granularity => 1)) IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AS on_grid;
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": 1}') IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AS on_grid;
SELECT dp_median(1, 0.1, 0, 10, dp_option('granularity', 1) || dp_option('method', 'approximate')) IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AS on_grid;
PREPARE with_options AS SELECT dp_median(1, 0.1, 0, 10, dp_option('granularity', $1)) IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AS on_grid;
EXECUTE with_options('1');
EXECUTE with_options('0');
-- Missing options have their defaults.
SELECT dp_median(1, 0.1, 0, 10, NULL) BETWEEN 0 AND 10 AS answered;
SELECT dp_median(1, 0.1, 0, 10, '{}') BETWEEN 0 AND 10 AS answered;
SELECT dp_median(1, 0.1, 0, 10, '{"method": "approximate"}') BETWEEN 0 AND 10 AS answered;
SELECT dp_cdf(1, 0.1, 0, 10)::jsonb -> 'bins' AS bins;
SELECT dp_cdf(1, 0.1, 0, 10, NULL)::jsonb -> 'bins' AS bins;
SELECT dp_cdf(1, 0.1, 0, 10, '{}')::jsonb -> 'method' AS method;
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 7, "method": "binary"}')::jsonb - '{rows,cumulative,level_epsilon}'::text[] AS cdf;
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 7.0}')::jsonb -> 'bins' AS bins;
SELECT dp_cdf(1, 0.1, 0, 10, dp_options(granularity => 2))::jsonb - '{rows,cumulative,level_epsilon}'::text[] AS cdf;
-- jsonb keeps the last value of a repeated key.
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": "none", "granularity": 10}') IN (0, 10) AS on_grid;
SELECT epsilon_spent FROM dp_budget;

SELECT dp_median(1, 0.1, 0, 10, '[]');
SELECT dp_median(1, 0.1, 0, 10, '[{"granularity": 1}]');
SELECT dp_median(1, 0.1, 0, 10, '1');
SELECT dp_median(1, 0.1, 0, 10, '"approximate"');
SELECT dp_median(1, 0.1, 0, 10, 'null');
SELECT dp_median(1, 0.1, 0, 10, '{"granularty": 1}');
SELECT dp_median(1, 0.1, 0, 10, '{"Granularity": 1}');
SELECT dp_median(1, 0.1, 0, 10, '{"": 1}');
SELECT dp_median(1, 0.1, 0, 10, '{"method": "exact"}');
SELECT dp_median(1, 0.1, 0, 10, '{"method": 1}');
SELECT dp_median(1, 0.1, 0, 10, '{"method": null}');
SELECT dp_median(1, 0.1, 0, 10, '{"method": ["approximate"]}');
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": "1"}');
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": true}');
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": null}');
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": {"step": 1}}');
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": 0}');
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": 1e400}');
SELECT dp_median(1, 0.1, 0, 10, '{"granularity": 1e-400}');
-- Each aggregate has its own options.
SELECT dp_median(1, 0.1, 0, 10, '{"bins": 10}');
SELECT dp_median(1, 0.1, 0, 10, '{"method": "binary"}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"method": "approximate"}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"Bins": 10}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 10, "granularity": 1}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": "10"}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": null}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": [10]}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 0}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": -1}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 1.5}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 1048577}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 1e400}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"granularity": 0}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"granularity": 1e-6}');
SELECT dp_cdf(1, 0.1, 0, 10, '[]');
-- dp_options is immutable; jsonb_build_object is not.
SELECT dp_median(1, 0.1, 0, 10, jsonb_build_object('granularity', 1));
\set VERBOSITY sqlstate
SELECT dp_median(1, 0.1, 0, 10, '[]');
SELECT dp_quantile(1, 0.5, 0.1, 0, 10, '{"granularty": 1}');
SELECT dp_quantiles(1, '{0.5}', 0.1, 0, 10, '{"method": "exact"}');
SELECT dp_quantiles(1, '{0.5}', 0.1, 0, 10, '{"granularity": "1"}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"bins": 10, "granularity": 1}');
SELECT dp_cdf(1, 0.1, 0, 10, '{"method": "exact"}');

-- None of these errors was charged.
SELECT epsilon_spent FROM dp_budget;

RESET ROLE;
DROP ROLE regress_dpq_options;
