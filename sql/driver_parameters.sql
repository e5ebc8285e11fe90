-- Parameters as drivers send them: numbers as text, varchar, bigint, numeric or real, and parameters without a type.
-- A number that a driver sends as text needs a cast. Threats 27 and 29: the charge is that of the parameter that is used; a text that is
-- no number costs nothing.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_driver;
CREATE SCHEMA AUTHORIZATION regress_dpq_driver;
SELECT dp_grant_budget('regress_dpq_driver', 10000, 0.5, smallest_charge => 1e-6);
SET ROLE regress_dpq_driver;
CREATE TABLE t AS SELECT x::float8, x::numeric AS n, x % 5 AS u FROM generate_series(0, 100) x;
CREATE TABLE calls (query text);
INSERT INTO calls VALUES
  ('SELECT dp_median(%s, %s, %s, %s) FROM t'), ('SELECT dp_median(%s, %s, %s, %s, ''{}'') FROM t'),
  ('SELECT dp_quantile(%s, %s, %s, %s, %s) FROM t'), ('SELECT dp_quantile(%s, %s, %s, %s, %s, ''{}'') FROM t'),
  ('SELECT dp_quantiles(%s, ''{0.5}'', %s, %s, %s) FROM t'), ('SELECT dp_quantiles(%s, ''{0.5}'', %s, %s, %s, ''{}'') FROM t'),
  ('SELECT dp_synthesize(%s, %s, %s, %s, %s) FROM t'), ('SELECT dp_synthesize(%s, %s, %s, %s, %s, ''{}'') FROM t'),
  ('SELECT dp_cdf(%s, %s, %s, %s) FROM t'), ('SELECT dp_cdf(%s, %s, %s, %s, ''{}'') FROM t'),
  ('SELECT dp_iqr(%s, %s, %s) FROM t'),
  ('SELECT dp_iqr(%s, %s, %s, dp_options(method => ''quantiles'', lower => 0, upper => 9)) FROM t'),
  ('SELECT dp_user_mean(u, %s, %s, %s, %s) FROM t'), ('SELECT dp_user_mean(u, %s, %s, %s, %s, ''{}'') FROM t'),
  ('SELECT dp_user_variance(u, %s, %s, %s, %s) FROM t'), ('SELECT dp_user_variance(u, %s, %s, %s, %s, ''{}'') FROM t'),
  ('SELECT dp_user_grid_stats(u, u::text, %s, %s, %s, %s) FROM t'),
  ('SELECT dp_user_grid_stats(u, u::text, %s, %s, %s, %s, ''{}'') FROM t'),
  ('SELECT FROM dp_quantiles_expected_error(%2$s, ''{0.5}'', %3$s, %4$s, %5$s)'),
  ('SELECT FROM dp_quantiles_expected_error(%2$s, ''{0.5}'', %3$s, %4$s, %5$s, ''{}'')'),
  ('SELECT FROM dp_user_expected_error(''{1}'', ''{9}'', %2$s, %3$s, %4$s)'),
  ('SELECT FROM dp_user_expected_error(''{1}'', ''{9}'', %2$s, %3$s, %4$s, ''{}'')'),
  ('SELECT FROM dp_cdf_expected_error(%2$s)'), ('SELECT FROM dp_cdf_expected_error(%2$s, %3$s)'),
  ('SELECT FROM dp_cdf_expected_error(%2$s, %3$s, %4$s)'), ('SELECT FROM dp_cdf_expected_error(NULL, rho => %2$s)'),
  ('SELECT FROM dp_iqr_min_rows(%2$s, %3$s)'), ('SELECT FROM dp_iqr_expected_error(%2$s, %3$s, %4$s)'),
  ('SELECT FROM dp_budget_fits(%2$s)'), ('SELECT dp_cdf_count(c, %2$s, %3$s) FROM cdf'),
  ('SELECT dp_cdf_probability(c, %2$s) FROM cdf'), ('SELECT dp_cdf_quantile(c, %2$s) FROM cdf'),
  ('SELECT dp_cdf_error(c, %2$s) FROM cdf'), ('SELECT dp_cdf_points(c, %2$s) FROM cdf'),
  ('SELECT dp_cdf_plot(c, %2$s, %3$s, %4$s) FROM cdf'), ('SELECT dp_cdf_svg(c, %2$s, %3$s, ''title'', %4$s) FROM cdf');
CREATE TABLE cdf AS SELECT dp_cdf(x, 1, 0, 100) AS c FROM t;

-- Whether a query finds its functions, and takes their arguments, or its error. The query is planned and not executed.
CREATE FUNCTION chosen(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE regexp_replace(query, '^SELECT (dp_.*) FROM', 'CREATE TEMP VIEW v AS SELECT (\1) IS NULL AS x FROM');
  RAISE EXCEPTION USING ERRCODE = 'RBACK';
EXCEPTION
  WHEN SQLSTATE 'RBACK' THEN RETURN 'taken';
  WHEN OTHERS THEN RETURN SQLSTATE;
END
$$;
UPDATE calls SET query = replace(query, 'SELECT FROM ', 'CREATE TEMP VIEW v AS SELECT FROM ');
CREATE TABLE types (type text, number text);
INSERT INTO types VALUES ('int2', '1::int2'), ('int4', '1'), ('int8', '1::int8'), ('numeric', '1.0'), ('float4', '1::float4'),
  ('float8', '1::float8'), ('unknown', '''1'''), ('NULL', 'NULL'), ('varchar', '''1''::varchar'), ('text', '''1''::text'),
  ('bpchar', '''1''::bpchar');
-- Every function takes parameters of each type that is not text. Only where a whole number is expected, a number with a fraction is not
-- taken.
SELECT type, count(*) AS calls, count(*) FILTER (WHERE chosen = 'taken') AS taken, count(*) FILTER (WHERE chosen = '42883') AS unknown
  FROM (SELECT type, chosen(format(query, value, number, number, number, number)) AS chosen
          FROM calls, types, unnest('{x,n}'::text[]) value) s
 GROUP BY type ORDER BY type;
-- Every mixture of three types, and values of every type
SELECT type ~ 'varchar|text|bpchar' AS has_text, chosen, count(*) AS calls
  FROM (SELECT concat(a.type, b.type, c.type) AS type,
               chosen(format('SELECT dp_median(%s, %s, %s, %s) FROM t', value, a.number, b.number, c.number)) AS chosen
          FROM types a, types b, types c, unnest('{x,n}'::text[]) value) s
 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT value.type, parameter.type ~ 'varchar|text|bpchar' AS has_text, chosen, count(*) AS calls
  FROM types value, types parameter,
       LATERAL (SELECT chosen(format('SELECT dp_synthesize(%s, %s, %3$s, %3$s, %3$s) FROM t', value.number, size.number,
                                     parameter.number))
                  FROM types size WHERE size.type IN ('int4', 'int8', 'unknown')) c(chosen)
 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- A parameter without a type is a float8, or a bigint where a whole number is expected.
PREPARE untyped_1 AS SELECT dp_median(x, $1, $2, $3) FROM t;
PREPARE untyped_2 AS SELECT dp_quantile(n, $1, $2, $3, $4, $5) FROM t;
PREPARE untyped_3 AS SELECT dp_quantiles(x, $1, $2, $3, $4) FROM t;
PREPARE untyped_4 AS SELECT dp_synthesize(x, $1, $2, $3, $4) FROM t;
PREPARE untyped_5 AS SELECT dp_iqr(x, $1, $2), dp_cdf(x, $3, $4, $5) FROM t;
PREPARE untyped_6 AS SELECT dp_user_mean(u, x, $1, $2, $3), dp_user_grid_stats(u, u::text, x, $4, $5, $6) FROM t;
PREPARE untyped_7 AS SELECT dp_cdf_plot(c, $1, $2, $3), dp_cdf_plot(c, $4), dp_cdf_svg(c, $5, $6, $7, $8) FROM cdf;
PREPARE untyped_8 AS SELECT dp_cdf_error(c, $1), dp_cdf_points(c, $2), dp_cdf_count(c, $3, $4) FROM cdf;
PREPARE untyped_9 AS SELECT dp_cdf_expected_error($1, $2, $3), dp_iqr_min_rows($4, $5), dp_budget_fits($6);
PREPARE untyped_10 AS SELECT dp_quantiles_expected_error($1, $2, $3, $4, $5), dp_user_expected_error($6, $7, $8, $9, $10);
PREPARE untyped_11 AS SELECT dp_options(granularity => $1, lower => $2, upper => $3, rho => $4), dp_options(bins => $5);
SELECT name, parameter_types FROM pg_prepared_statements WHERE name LIKE 'untyped%'
 ORDER BY length(name), name COLLATE "C";
DEALLOCATE ALL;

-- JDBC's setString, setLong, setBigDecimal and setFloat, as generic and as custom plans
PREPARE strings(varchar, varchar, varchar) AS SELECT dp_median(x, $1::float8, $2::float8, $3::float8) BETWEEN 0 AND 100 AS answered FROM t;
PREPARE longs(bigint, bigint, bigint, bigint) AS SELECT cardinality(dp_synthesize(x, $1, $2, $3, $4)) AS size FROM t;
PREPARE sizes(varchar, varchar, varchar, varchar) AS
  SELECT cardinality(dp_synthesize(n, $1::bigint, $2::float8, $3::float8, $4::numeric)) AS size FROM t;
PREPARE decimals(numeric, numeric, numeric, numeric) AS SELECT cardinality(dp_synthesize(x, $1::bigint, $2, $3, $4)) AS size FROM t;
PREPARE reals(real, int, varchar) AS SELECT dp_median(n, $1, $2, $3::float8) BETWEEN 0 AND 100 AS answered FROM t;
PREPARE plots(bigint, bigint, varchar) AS
  SELECT count(*) AS lines, length(dp_cdf_svg(min(c::text)::dp_cdf, 300, 200, 'title', $3::float8)) > 1000 AS svg
    FROM cdf, dp_cdf_plot(c, $1, $2, $3::float8);
SET plan_cache_mode = force_generic_plan;
EXECUTE strings('0.25', '0', ' 1e2 ');
EXECUTE longs(7, 1, 0, 100);
EXECUTE sizes('7', '1', '0', '100');
SET plan_cache_mode = force_custom_plan;
EXECUTE strings('0.25', '0', '100');
EXECUTE longs(8, 1, 0, 100);
EXECUTE sizes('8', '1', '0', '100');
EXECUTE decimals(9.0, 0.5, 0, 100);
EXECUTE reals(0.1, 0, '100');
EXECUTE plots(60, 20, '0.9');
SELECT pointwise > 0 AS pointwise FROM dp_cdf_expected_error('0.1'::varchar::float8, 64::bigint);
SELECT dp_options(bins => 64::bigint, rho => 0.01::real) AS options;
SELECT function, epsilon, delta, count(*) FROM dp_ledger WHERE role = 'regress_dpq_driver'::name
 GROUP BY 1, 2, 3 ORDER BY 1, 2;

-- threat 27: a real 0.1 is 0.10000000149011612 as a float8, and means 0.1. What is charged is what is used: the price,
-- the charge, the rho and the expected error are those of 0.1.
SELECT count(*) AS before FROM dp_ledger WHERE role = 'regress_dpq_driver'::name \gset
EXPLAIN (COSTS OFF) SELECT dp_median(x, 0.1::real, 0, 100) FROM t;
SELECT dp_median(x, 0.1::real, 0, 100) IS NULL AS missing FROM t;
SELECT dp_median(x, 0.1, 0, 100) IS NULL AS missing FROM t;
EXPLAIN (COSTS OFF) SELECT dp_median(x, NULL, 0, 100, '{"rho": 0.07000000029802322}') FROM t;
SELECT coalesce(dp_iqr(x, 0.7::real, 1e-9::real), 0) < 0 AS missing FROM t;
SELECT dp_user_mean(u, x, 1e-6::real, 0, 100) IS NULL AS missing FROM t;
SELECT function, epsilon, delta, round(rho, 14) AS rho FROM (SELECT * FROM dp_ledger WHERE role = 'regress_dpq_driver'::name
                                            ORDER BY number OFFSET :before) s;
SELECT dp_cdf(x, 0.3::real, 0, 100)::jsonb -> 'epsilon' AS epsilon FROM t;
SELECT dp_iqr_min_rows(0.3::real, 1e-9::real) = dp_iqr_min_rows(0.3, 1e-9) AS rows,
       dp_iqr_expected_error(0.3::real, 1e-9::real, 1e6) = dp_iqr_expected_error(0.3, 1e-9, 1e6) AS error,
       dp_cdf_expected_error(0.3::real) = dp_cdf_expected_error(0.3) AS cdf,
       dp_cdf_expected_error(NULL, rho => 0.3::real) = dp_cdf_expected_error(NULL, rho => 0.3) AS cdf_rho,
       dp_user_expected_error('{3}', '{9}', 0.3::real, 0, 1) = dp_user_expected_error('{3}', '{9}', 0.3, 0, 1) AS "user",
       (SELECT array_agg(f) FROM dp_budget_fits(0.3::real) f) = (SELECT array_agg(f) FROM dp_budget_fits(0.3) f) AS fits;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_driver', 20000.1::real, 0.1::real, smallest_charge => 1e-6);
SELECT epsilon_limit, delta_limit FROM dp_budget WHERE role = 'regress_dpq_driver';
SET ROLE regress_dpq_driver;

-- threat 29: a text that is no number, and numbers out of range. Nothing is charged.
SELECT epsilon_spent AS before FROM dp_budget \gset
\set VERBOSITY terse
SELECT dp_median(x, '1'::varchar, 0, 100) FROM t;
\set VERBOSITY default
SELECT dp_median(x, 'abc'::varchar::float8, 0, 100) FROM t;
SELECT dp_median(x, ''::text::float8, 0, 100) FROM t;
SELECT dp_median(x, '0,1'::varchar::float8, 0, 100) FROM t;
SELECT dp_median(x, '1e999'::varchar::float8, 0, 100) FROM t;
SELECT dp_median(x, '-1'::varchar::float8, 0, 100) FROM t;
SELECT dp_median(x, 'NaN'::varchar::float8, 0, 100) FROM t;
SELECT dp_median(x, NULL::varchar::float8, 0, 100) FROM t;
SELECT dp_median(x, '0.1'::varchar::float8, '100', '0'::varchar::float8) FROM t;
SELECT dp_median(x, x::text::float8, 0, 100) FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE strings('abc', '0', '100');
EXECUTE strings('0.25', '0', 'ten');
EXECUTE sizes('2.5', '1', '0', '100');
EXECUTE sizes('NaN', '1', '0', '100');
EXECUTE sizes('1e300', '1', '0', '100');
EXECUTE sizes('5000', '1', '0', '100');
EXECUTE sizes(NULL, '1', '0', '100');
EXECUTE longs(9223372036854775807, 1, 0, 100);
EXECUTE longs(-9223372036854775808, 1, 0, 100);
EXECUTE decimals(5000.5, 1, 0, 100);
EXECUTE plots(4294967296, 20, '0.9');
SELECT dp_options(bins => 4294967297);
SELECT dp_cdf_expected_error(1, 4294967297);
SELECT dp_cdf_expected_error(1, '2.5'::varchar::bigint);
SELECT dp_quantiles_expected_error('2.5'::varchar::bigint, '{0.5}', 1, 0, 1);
SELECT epsilon_spent = :before AS nothing_charged FROM dp_budget;

-- Budgets and charges of one role, and of one table, by each type of a name. A column of tables is compared with a regclass, which a text is cast to.
RESET ROLE;
CREATE ROLE "Regress_dpq driver";
SELECT dp_grant_budget('"Regress_dpq driver"', 1), dp_protect_table('regress_dpq_driver.t'), dp_grant_budget('regress_dpq_driver', 2, on_table => 'regress_dpq_driver.t');
PREPARE of_text(text) AS SELECT count(*) FROM dp_budget WHERE role = $1;
PREPARE of_varchar(varchar) AS SELECT count(*) FROM dp_budget WHERE role = $1;
PREPARE of_name(name) AS SELECT count(*) FROM dp_budget WHERE role = $1;
PREPARE of_roles(text[]) AS SELECT count(*) FROM dp_budget WHERE role = ANY ($1);
PREPARE of_any AS SELECT count(*) FROM dp_budget WHERE role = $1;
PREPARE of_table(varchar) AS SELECT role, epsilon_limit FROM dp_budget WHERE on_table = $1::regclass;
EXECUTE of_text('regress_dpq_driver');
EXECUTE of_varchar('regress_dpq_driver');
EXECUTE of_name('regress_dpq_driver');
EXECUTE of_roles('{regress_dpq_driver,nobody}');
EXECUTE of_any('regress_dpq_driver');
EXECUTE of_any('"Regress_dpq driver"');
EXECUTE of_table('regress_dpq_driver.t');
SELECT count(*) FROM dp_budget WHERE role = 'nobody' OR role LIKE 'regress\_dpq\_driv%';
SELECT role::regrole = '"Regress_dpq driver"'::regrole AS is_role FROM dp_budget WHERE role = '"Regress_dpq driver"';
SELECT count(*) AS fits FROM dp_budget_fits(1) WHERE role = 'regress_dpq_driver';
SELECT count(*) > 0 AS joined FROM dp_budget b JOIN dp_ledger l ON l.role = b.role WHERE b.role = 'regress_dpq_driver';
SELECT count(*) FROM dp_protected_tables WHERE relation = 'regress_dpq_driver.t'::regclass AND role IS NULL;
SET ROLE regress_dpq_driver;
SELECT count(*) FROM dp_budget WHERE role = current_user;
SELECT count(*) > 0 AS charged FROM dp_ledger WHERE role = current_user AND session_role <> 'nobody'::text;
RESET ROLE;
SELECT dp_unprotect_table('regress_dpq_driver.t'), dp_revoke_budget(role::regrole) FROM dp_budget WHERE role = '"Regress_dpq driver"';
DROP ROLE "Regress_dpq driver";
DROP OWNED BY regress_dpq_driver;
DROP ROLE regress_dpq_driver;
