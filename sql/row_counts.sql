-- threat 23: a tool that counts the rows of an answer before it reads them asks twice. What the pair costs.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_analyst;
SELECT dp_grant_budget('regress_dpq_analyst', 100);
CREATE TEMP TABLE staff AS SELECT i % 3 AS department, i::float8 AS salary FROM generate_series(1, 300) i;
CREATE FUNCTION medians() RETURNS TABLE (department int, median float8) LANGUAGE sql SECURITY DEFINER
  AS 'SELECT department, dp_median(salary, 1, 0, 300) FROM pg_temp.staff GROUP BY department';
GRANT ALL ON staff TO regress_dpq_analyst;

-- What the tool asks for the query, and what each of the two costs.
CREATE FUNCTION cost(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := (SELECT epsilon_spent FROM dp_budget);
BEGIN
  EXECUTE query;
  RETURN (SELECT epsilon_spent - before FROM dp_budget);
END
$$;
CREATE FUNCTION pair(query text) RETURNS TABLE (count numeric, page numeric, of text) LANGUAGE sql AS $$
  SELECT cost(format('WITH root AS (%s) SELECT count(*) FROM root', query)),
         cost(format('WITH root AS (%s) SELECT * FROM root LIMIT 2', query)), query
$$;

SET ROLE regress_dpq_analyst;
-- PostgreSQL drops a column that the count does not use, and the private aggregate with it.
SELECT * FROM pair('SELECT department, dp_median(salary, 1, 0, 300) FROM staff GROUP BY department');
SELECT * FROM pair('SELECT dp_median(salary, 1, 0, 300) FROM staff');
SELECT * FROM pair('SELECT department, dp_median(salary, 1, 0, 300) FROM staff GROUP BY department ORDER BY department');
-- It keeps what decides the number or the order of the rows, and the columns of functions.
SELECT * FROM pair('SELECT department, dp_median(salary, 1, 0, 300) AS m FROM staff GROUP BY department
                    HAVING dp_median(salary, 1, 0, 300) > -1');
SELECT * FROM pair('SELECT DISTINCT dp_median(salary, 1, 0, 300) FROM staff GROUP BY department');
SELECT * FROM pair('SELECT department, dp_median(salary, 1, 0, 300) AS m FROM staff GROUP BY department ORDER BY m');
SELECT * FROM pair('SELECT * FROM (SELECT dp_median(salary, 1, 0, 300) AS m FROM staff) s WHERE m > -1');
SELECT * FROM pair('SELECT dp_median(salary, 1, 0, 300) FROM staff UNION SELECT 0');
SELECT * FROM pair('SELECT * FROM medians()');
SELECT cost('WITH root AS MATERIALIZED (SELECT dp_median(salary, 1, 0, 300) FROM staff) SELECT count(*) FROM root');
-- Probes for the columns of an answer are free.
SELECT cost('SELECT * FROM (SELECT dp_median(salary, 1, 0, 300) FROM staff) s LIMIT 0');
SELECT cost('SELECT * FROM (SELECT dp_median(salary, 1, 0, 300) FROM staff) s WHERE 1 = 0');
SELECT cost('SELECT * FROM medians() LIMIT 0');

-- An answer that is kept in a table is paid once.
SELECT cost('CREATE TEMP TABLE kept AS SELECT * FROM medians()');
SELECT * FROM pair('SELECT DISTINCT median FROM kept WHERE median > -1 ORDER BY median');
SELECT cost('CREATE TEMP TABLE curve AS SELECT dp_cdf(salary, 1, 0, 300) AS cdf FROM staff');
SELECT * FROM pair('SELECT (dp_cdf_points(cdf)).* FROM curve');
RESET ROLE;

DROP FUNCTION medians(), cost(text), pair(text);
SELECT dp_revoke_budget('regress_dpq_analyst');
DROP TABLE kept, curve, staff;
DROP ROLE regress_dpq_analyst;
