-- threat 9: a private aggregate is not a window function, because each frame would be a new answer.
\set SHOW_CONTEXT never
\set VERBOSITY sqlstate
CREATE ROLE regress_dpq_window;
CREATE SCHEMA AUTHORIZATION regress_dpq_window;
SELECT dp_grant_budget('regress_dpq_window', 1, 0.1);
SET ROLE regress_dpq_window;
CREATE TABLE t AS SELECT x::float8, x % 3 AS k FROM generate_series(1, 100) x;

SELECT dp_median(x, 0.1, 0, 100) OVER () FROM t;
SELECT dp_median(x, 0.1, 0, 100) OVER (PARTITION BY k) FROM t;
SELECT dp_median(x, 0.1, 0, 100) OVER (ORDER BY x) FROM t;
SELECT dp_quantile(x, 0.9, 0.1, 0, 100) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t;
SELECT dp_quantile(x::numeric, 0.9, 0.1, 0, 100, dp_options()) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY x);
SELECT dp_quantiles(x, '{0.9}', 0.1, 0, 100) FILTER (WHERE k = 1) OVER () FROM t;
SELECT dp_quantiles(x::numeric, '{0.9}', 0.1, 0, 100, dp_options()) OVER () FROM t;
SELECT dp_iqr(x, 0.1, 1e-6) OVER () FROM t;
SELECT dp_iqr(x::numeric, 0.1, 1e-6, dp_options()) OVER (ORDER BY x) FROM t;
-- The error is the same without rows.
SELECT dp_median(x, 0.1, 0, 100) OVER () FROM t WHERE false;
\set VERBOSITY default
SELECT dp_median(x, 0.1, 0, 100) OVER () FROM t;
SELECT dp_iqr(x, 0.1, 1e-6, NULL) OVER (PARTITION BY k) FROM t WHERE false;
SELECT epsilon_spent, delta_spent FROM dp_budget;

-- A window function over the answers is post-processing.
SELECT count(*) AS groups, count(DISTINCT place) AS places
  FROM (SELECT row_number() OVER (ORDER BY dp_median(x, 0.1, 0, 100)) AS place FROM t GROUP BY k) s;
SELECT epsilon_spent FROM dp_budget;

RESET ROLE;
DROP OWNED BY regress_dpq_window;
DROP ROLE regress_dpq_window;
