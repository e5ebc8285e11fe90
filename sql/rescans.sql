-- threat 8: a plan may run an aggregate many times. An execution for other outer values draws anew and is charged. A
-- rescan for the same values shows the same answers. A group never shows more different answers than were charged.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_rescans;
CREATE SCHEMA AUTHORIZATION regress_dpq_rescans;
SELECT dp_grant_budget('regress_dpq_rescans', 10000, 0.1, smallest_charge => 1e-6);
SET ROLE regress_dpq_rescans;
CREATE TABLE t AS SELECT x::float8, x % 3 AS k FROM generate_series(1, 30) x;
ANALYZE t;

-- The answer is nearly uniform on 2^32 cells. Two draws are the same with a probability of 3e-10, and any two of
-- all draws below are the same with a probability of less than 1e-6.
CREATE FUNCTION draw() RETURNS text LANGUAGE sql
  RETURN 'dp_median(x, 0.001, 0, 4294967295, ''{"granularity": 1}'')';
-- Runs a query that returns groups and their answers. answers: the number of different answers of the group that
-- has most; charged: the number of charges of epsilon.
CREATE FUNCTION run(query text, OUT rows bigint, OUT answers bigint, OUT charged bigint, OUT paid boolean)
LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := (SELECT epsilon_spent FROM dp_budget);
BEGIN
  EXECUTE format('SELECT sum(rows), max(answers)
                    FROM (SELECT count(*) AS rows, count(DISTINCT answer) AS answers
                            FROM (%s OFFSET 0) AS q(k, answer) GROUP BY k) s', query) INTO rows, answers;
  charged := ((SELECT epsilon_spent FROM dp_budget) - before) / 0.001;
  paid := answers <= charged;
END
$$;
-- The join types of a query, and how its rows are grouped
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN (SELECT string_agg(match[1], ' ')
            FROM regexp_matches(plan::text, '"(?:Strategy|Join Type|Custom Plan Provider)": "(\w+)"', 'g') match
           WHERE match[1] <> 'PrivateRelease');
END
$$;

-- Each execution has the bounds of its outer row. The noise of a sum passes 5 with a probability below 1e-10.
SELECT upper, k, abs(a - (SELECT sum(least(x, upper)) FROM t WHERE k = l.k)) < 5 AS right
  FROM (VALUES (10), (20), (10)) b (upper), LATERAL (SELECT k, dp_sum(x, 100, 0, upper) AS a FROM t GROUP BY k) l ORDER BY 1, 2;

-- LATERAL: rescans with another parameter, sorted, hashed and with grouping sets. A LIMIT stops each execution
-- in the middle.
CREATE TABLE cases (number int, query text);
INSERT INTO cases VALUES
  (1, 'SELECT 0, a FROM generate_series(1, 5) i, LATERAL (SELECT $ AS a FROM t WHERE x <> i) s'),
  (2, 'SELECT k, a FROM generate_series(1, 5) i, LATERAL (SELECT k, $ AS a FROM t WHERE x <> i GROUP BY k) s'),
  (3, 'SELECT k, a FROM generate_series(1, 5) i, LATERAL (SELECT k, $ AS a FROM t WHERE x <> i GROUP BY k LIMIT 1) s'),
  (4, 'SELECT k, a FROM generate_series(1, 5) i, LATERAL (SELECT k, $ AS a FROM t WHERE x <> i GROUP BY k LIMIT 2) s'),
  (5, 'SELECT k, a FROM generate_series(1, 5) i,
       LATERAL (SELECT k, $ AS a FROM t WHERE x <> i GROUP BY GROUPING SETS ((k), (x)) HAVING k IS NOT NULL) s'),
  (6, 'SELECT k, a FROM generate_series(1, 5) i,
       LATERAL (SELECT coalesce(k, -1) AS k, $ AS a FROM t WHERE x <> i GROUP BY ROLLUP (k)) s'),
  (7, 'SELECT k, a FROM generate_series(1, 5) i,
       LATERAL (SELECT coalesce(k, -1) AS k, $ AS a FROM t WHERE x <> i GROUP BY ROLLUP (k) LIMIT 1) s'),
  (8, 'SELECT k, a FROM generate_series(1, 5) i,
       LATERAL (SELECT coalesce(k, -1) AS k, $ AS a FROM t WHERE x <> i GROUP BY ROLLUP (k) LIMIT 3) s'),
  -- An execution without groups is charged, and so is an execution that shows no group.
  (9, 'SELECT k, a FROM generate_series(1, 5) i, LATERAL (SELECT k, $ AS a FROM t WHERE i <> 2 GROUP BY k) s'),
  (10, 'SELECT k, a FROM generate_series(1, 5) i, LATERAL (SELECT k, $ AS a FROM t GROUP BY k HAVING i <> 2) s'),
  (11, 'SELECT k, a FROM generate_series(1, 5) i,
        LATERAL (SELECT k, $ AS a FROM t WHERE x <> i GROUP BY k LIMIT i % 2) s'),
  -- Two nodes, one below the other
  (12, 'SELECT 0, a FROM generate_series(1, 5) i,
        LATERAL (SELECT $ AS a FROM (SELECT $ AS x FROM t WHERE x <> i GROUP BY k) s) u'),
  -- Repeated parameters, whose results Memoize may keep
  (13, 'SELECT k, a FROM generate_series(1, 6) i, LATERAL (SELECT k, $ AS a FROM t WHERE x <> i % 2 GROUP BY k) s'),
  (14, 'WITH RECURSIVE r AS (SELECT 1 AS i, 0::float8 AS a UNION ALL
          SELECT i + 1, s.a FROM r, LATERAL (SELECT $ AS a FROM t WHERE x <> i) s WHERE i <= 5)
        SELECT 0, a FROM r WHERE i > 1'),
  -- Sub-selects; the last one is not correlated
  (15, 'SELECT 0, (SELECT $ FROM t WHERE t.x <> i) FROM generate_series(1, 5) i'),
  (16, 'SELECT 0, (SELECT $ FROM t WHERE k = i % 3 GROUP BY k) FROM generate_series(1, 5) i'),
  (17, 'SELECT 0, (SELECT max(a) FROM (SELECT $ AS a FROM t WHERE x <> i GROUP BY k LIMIT 1) s)
          FROM generate_series(1, 5) i'),
  (18, 'SELECT 0, (SELECT $ FROM t) FROM generate_series(1, 5) i');
CREATE VIEW outcomes AS
  SELECT number, run.* FROM cases, run(replace(query, '$', draw()));
SET enable_memoize = off;
SET enable_sort = off;
SELECT plan_of(replace(query, '$', draw())) FROM cases WHERE number IN (2, 5, 6) ORDER BY number;
SELECT * FROM outcomes ORDER BY number;
RESET enable_sort;
SET enable_hashagg = off;
SELECT plan_of(replace(query, '$', draw())) FROM cases WHERE number IN (2, 5, 6) ORDER BY number;
SELECT * FROM outcomes ORDER BY number;
RESET enable_hashagg;
RESET enable_memoize;
SELECT rows, paid FROM outcomes WHERE number = 13;

-- A nested loop without Material rescans without a new parameter. The left join fixes the inner side. All rows of the
-- outer side see one release.
CREATE TABLE loops (number int, query text);
INSERT INTO loops VALUES
  (1, 'SELECT 0, a FROM generate_series(1, 5) i LEFT JOIN (SELECT $ AS a FROM t) s ON a >= i * 0'),
  (2, 'SELECT k, a FROM generate_series(1, 5) i LEFT JOIN (SELECT k, $ AS a FROM t GROUP BY k) s ON a >= i * 0'),
  (3, 'SELECT k, a FROM generate_series(1, 5) i
       LEFT JOIN (SELECT k, $ AS a FROM t GROUP BY k LIMIT 2) s ON a >= i * 0'),
  -- Groups without a value, which have no state
  (4, 'SELECT k, a FROM generate_series(1, 5) i
       LEFT JOIN (SELECT k, $ FILTER (WHERE k = 1) AS a FROM t GROUP BY k) s ON a >= i * 0'),
  (5, 'SELECT k, a FROM generate_series(1, 5) i
       LEFT JOIN (SELECT k, $ FILTER (WHERE false) AS a FROM t GROUP BY k LIMIT 1) s ON a >= i * 0'),
  (6, 'SELECT k, a FROM generate_series(1, 5) i
       LEFT JOIN (SELECT k, $ FILTER (WHERE false) AS a FROM t GROUP BY k) s ON a >= i * 0'),
  (7, 'SELECT k, a + b FROM generate_series(1, 5) i
       LEFT JOIN (SELECT k, $ FILTER (WHERE false) AS a, $ AS b FROM t GROUP BY k) s ON a >= i * 0'),
  (8, 'SELECT k, a FROM generate_series(1, 5) i
       LEFT JOIN (SELECT coalesce(k, -1) AS k, $ AS a FROM t GROUP BY ROLLUP (k)) s ON a >= i * 0'),
  (9, 'SELECT k, a FROM generate_series(1, 5) i
       LEFT JOIN (SELECT coalesce(x, -k) AS k, $ AS a FROM t GROUP BY GROUPING SETS ((k), (x))) s ON a >= i * 0');
CREATE VIEW loop_outcomes AS
  SELECT number, run.* FROM loops, run(replace(query, '$', draw()));
SET enable_material = off;
SET enable_sort = off;
SELECT plan_of(replace(query, '$', draw())) FROM loops WHERE number IN (2, 8) ORDER BY number;
SELECT * FROM loop_outcomes ORDER BY number;
-- The answers stay right. The requested rank lies half a row or more inside its cell, at a lambda of 900: another
-- cell has a probability below 1e-150.
SELECT k, count(*) AS rows, min(m) AS least, max(m) AS most
  FROM generate_series(1, 3) i
  LEFT JOIN (SELECT k, dp_quantile(x, 0.45, 1000, 0, 36, '{"granularity": 12}') AS m FROM t GROUP BY k) s ON m >= i * 0
 GROUP BY k ORDER BY k;
RESET enable_sort;
SET enable_hashagg = off;
SELECT plan_of(replace(query, '$', draw())) FROM loops WHERE number IN (2, 8) ORDER BY number;
SELECT * FROM loop_outcomes ORDER BY number;
RESET enable_hashagg;
RESET enable_material;
-- With Material
SELECT * FROM loop_outcomes ORDER BY number;

-- Groups that do not fit into the memory, of the extension and, for count(*), of PostgreSQL
CREATE TABLE many AS SELECT x::float8, x % 2000 AS k FROM generate_series(1, 4000) x;
ANALYZE many;
SET enable_material = off;
SET enable_sort = off;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT *
  FROM run('SELECT k, a FROM generate_series(1, 3) i
            LEFT JOIN (SELECT k, ' || draw() || ' AS a FROM many GROUP BY k) s ON a >= i * 0');
SELECT *
  FROM run('SELECT k, a FROM generate_series(1, 3) i
            LEFT JOIN (SELECT k, ' || draw() || ' AS a FROM many GROUP BY k HAVING count(*) > 0) s ON a >= i * 0');
RESET enable_material;
RESET enable_sort;
RESET work_mem;
RESET hash_mem_multiplier;

-- Each execution has its own parameters and is charged for them.
SELECT epsilon_spent AS spent FROM dp_budget \gset
SELECT count(a) AS answers
  FROM (VALUES (0.1::float8), (0.2), (0.4)) v(e), LATERAL (SELECT dp_median(x, e, 0, 30) AS a FROM t) s;
SELECT epsilon_spent - :spent AS charged FROM dp_budget;
SELECT count(a) AS answers
  FROM (VALUES (0.1::float8), (0.2), (0.4)) v(e), LATERAL (SELECT dp_median(x, e, 0, 30) AS a FROM t GROUP BY k) s;
SELECT epsilon_spent - :spent AS charged FROM dp_budget;
SELECT lower + 10 AS upper, min(a) >= lower AND max(a) <= lower + 10 AS between
  FROM generate_series(0, 40, 20) lower,
       LATERAL (SELECT dp_median(x, 0.1, lower, lower + 10) AS a FROM t GROUP BY k) s
 GROUP BY lower ORDER BY lower;
SELECT array_length(a, 1) AS length
  FROM (VALUES ('{0.5}'::float8[]), ('{0.1,0.9}'), ('{0,0.5,1}')) v(q),
       LATERAL (SELECT dp_quantiles(x, q, 0.1, 0, 30) AS a FROM t) s ORDER BY length;
SELECT epsilon_spent AS spent, delta_spent FROM dp_budget \gset
SELECT count(*) AS rows, count(a) AS answers
  FROM (VALUES (0.1::float8, 1e-9::float8), (0.2, 2e-9), (0.4, 4e-9)) v(e, d),
       LATERAL (SELECT dp_iqr(x, e, d) FILTER (WHERE x <= 4) AS a FROM t) s;
SELECT epsilon_spent - :spent AS charged, (delta_spent - :delta_spent) * 1e9 AS delta FROM dp_budget;
-- A bad parameter in one execution
SELECT count(a) FROM (VALUES (0.1::float8), (-1)) v(e), LATERAL (SELECT dp_median(x, e, 0, 30) AS a FROM t) s;

-- Cursors that move back and forth, that are rewound, and several cursors at a time
BEGIN;
SELECT count(*) AS before FROM dp_ledger \gset
DECLARE one SCROLL CURSOR FOR SELECT dp_median(x, 0.1, 0, 30) AS a FROM t;
FETCH one \gset first_
MOVE BACKWARD ALL one;
FETCH one \gset second_
FETCH ABSOLUTE 1 one \gset third_
SELECT :first_a = :second_a AND :first_a = :third_a AS same, count(*) - :before AS charges FROM dp_ledger;
DECLARE groups SCROLL CURSOR FOR SELECT k, dp_median(x, 0.1, 0, 30) AS a FROM t GROUP BY k ORDER BY k;
FETCH ABSOLUTE 2 groups \gset first_
MOVE BACKWARD ALL groups;
FETCH ABSOLUTE 2 groups \gset second_
FETCH LAST groups \gset last_
FETCH RELATIVE -1 groups \gset third_
SELECT :first_k AS k, :first_a = :second_a AND :first_a = :third_a AS same, count(*) - :before AS charges
  FROM dp_ledger;
DECLARE p CURSOR FOR
  SELECT a FROM generate_series(1, 3) i, LATERAL (SELECT dp_median(x, 0.1, 0, 30) AS a FROM t WHERE x <> i) s;
DECLARE q CURSOR FOR
  SELECT a FROM generate_series(1, 3) i, LATERAL (SELECT dp_median(x, 0.1, 0, 30) AS a FROM t WHERE x <> i) s;
FETCH p \gset p1_
FETCH q \gset q1_
FETCH p \gset p2_
FETCH q \gset q2_
FETCH p \gset p3_
CLOSE p;
FETCH q \gset q3_
SELECT count(DISTINCT a) <= (SELECT count(*) - :before - 2 FROM dp_ledger) AS paid, count(DISTINCT a) > 1 AS fresh
  FROM unnest(ARRAY[:p1_a, :p2_a, :p3_a, :q1_a, :q2_a, :q3_a]) a;
COMMIT;
BEGIN;
DECLARE held SCROLL CURSOR WITH HOLD FOR SELECT dp_median(x, 0.1, 0, 30) AS a FROM t;
COMMIT;
SELECT count(*) AS before FROM dp_ledger \gset
FETCH held \gset first_
FETCH ABSOLUTE 1 held \gset second_
SELECT :first_a = :second_a AS same, count(*) - :before AS charges FROM dp_ledger;
CLOSE held;

-- Queries that end in an error leave nothing behind for the next query.
DO $$
BEGIN
  FOR n IN 1..10 LOOP
    BEGIN
      PERFORM 1 / (s.a * 0)
         FROM generate_series(1, 2) i,
              LATERAL (SELECT dp_median(x, 0.001, 0, 30) AS a FROM t WHERE x <> i GROUP BY k) s;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
  END LOOP;
END
$$;
SELECT * FROM outcomes WHERE number IN (1, 9) ORDER BY number;

RESET ROLE;
DROP OWNED BY regress_dpq_rescans;
DROP ROLE regress_dpq_rescans;
