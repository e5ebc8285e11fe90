-- threat 54: an expression that fails for some rows tells exactly whether there is such a row. Its error comes after the
-- charge, however small that is.
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_dpq_analyst;
SELECT dp_grant_budget('regress_dpq_analyst', 100);
CREATE TABLE staff AS SELECT i * 10 AS salary FROM generate_series(1, 100) i;
CREATE FUNCTION of_value(guess int) RETURNS boolean LANGUAGE sql SECURITY DEFINER
  RETURN (SELECT dp_median(1 / (salary - guess), 1, 0, 1) IS NOT NULL FROM public.staff);
CREATE FUNCTION of_filter(guess int) RETURNS boolean LANGUAGE sql SECURITY DEFINER
  RETURN (SELECT dp_median(salary, 1, 0, 1) FILTER (WHERE 1 / (salary - guess) < 2) IS NOT NULL FROM public.staff);
CREATE FUNCTION of_order(guess int) RETURNS boolean LANGUAGE sql SECURITY DEFINER
  RETURN (SELECT dp_median(salary, 1, 0, 1 ORDER BY 1 / (salary - guess)) IS NOT NULL FROM public.staff);
CREATE FUNCTION of_user(guess int) RETURNS boolean LANGUAGE sql SECURITY DEFINER
  RETURN (SELECT dp_user_mean(1 / (salary - guess), salary, 1, 0, 1) IS NOT NULL FROM public.staff);
CREATE FUNCTION of_cast() RETURNS boolean LANGUAGE sql SECURITY DEFINER
  RETURN (SELECT dp_median(salary::smallint, 1, 0, 1) IS NOT NULL FROM public.staff);
CREATE FUNCTION total(guess int) RETURNS boolean LANGUAGE sql SECURITY DEFINER
  RETURN (SELECT dp_median(1 / nullif(salary - guess, 0), 1, 0, 1) IS NOT NULL FROM public.staff);

SET ROLE regress_dpq_analyst;
SELECT epsilon_spent AS before FROM dp_budget \gset
-- Somebody has the salary 500, and nobody has 505.
SELECT of_value(500);
SELECT of_value(505);
SELECT of_filter(500);
SELECT of_filter(505);
SELECT of_order(500);
SELECT of_order(505);
SELECT of_user(500);
SELECT of_user(505);
-- All eight are charged.
SELECT epsilon_spent - :before AS charged FROM dp_budget;
-- An expression that fails for no row tells nothing.
SELECT total(500), total(505);
-- Without an argument an error tells that a row is there.
SELECT of_cast();
RESET ROLE;
INSERT INTO staff VALUES (40000);
SET ROLE regress_dpq_analyst;
SELECT of_cast();
SELECT epsilon_spent - :before AS charged FROM dp_budget;
RESET ROLE;

DROP FUNCTION of_value(int), of_filter(int), of_order(int), of_user(int), of_cast(), total(int);
DROP TABLE staff;
SELECT dp_revoke_budget('regress_dpq_analyst');
DROP ROLE regress_dpq_analyst;
