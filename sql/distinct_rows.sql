-- count(DISTINCT (a, b)) over protected rows, and of the rows of a person. A count of rows has epsilon 100: noise on it is 0 except with a probability
-- below 1e-40.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_distinct_analyst LOGIN;
CREATE SCHEMA regress_dpq_distinct;
GRANT USAGE ON SCHEMA regress_dpq_distinct TO regress_dpq_distinct_analyst;
SELECT dp_grant_budget('regress_dpq_distinct_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_distinct_analyst');
SET search_path = regress_dpq_distinct, public;
CREATE TYPE mood AS ENUM ('sad', 'happy');
-- Equal values that look different, texts that would run together, and NULL
CREATE TABLE visit (person int, t text, v varchar(5), c char(4), n numeric, s numeric(5, 2), f float8, r real, b boolean, d date, m mood, u uuid, i interval, a bytea, j jsonb);
INSERT INTO visit (person, t, v, c, n, s, f, r, b, d, m)
SELECT 1 + o % 7, (ARRAY['a', 'ab', 'a1:', '-', '', NULL])[1 + o % 6], (ARRAY['b', 'bc', '1:b', '-', NULL])[1 + o % 5], (ARRAY['x', 'x ', 'y', NULL])[1 + o % 4],
       (ARRAY[1.0, 1.00, 1.10, NULL])[1 + o / 2 % 4], o % 3, (ARRAY['0', '-0', '1e-300', 'NaN', NULL])[1 + o / 3 % 5]::float8, (ARRAY['0', '-0', 'Infinity'])[1 + o / 7 % 3]::real,
       o % 2 = 0, date '2024-01-01' + o % 4, CASE o % 3 WHEN 0 THEN 'sad'::mood WHEN 1 THEN 'happy' END
FROM generate_series(1, 60) o;
SELECT dp_protect_table('visit'), dp_grant_private_access('visit', 'regress_dpq_distinct_analyst', epsilon => 100, delta => 1e-6);
CREATE TABLE counted (number serial, text text, rows bigint);
INSERT INTO counted (text) VALUES ('t, v'), ('t, c'), ('v, c'), ('n, b'), ('s, n'), ('f, r'), ('n, f'), ('b, d, m'), ('t'), ('n'), ('t, v, c, n, s, f, r, b, d, m'), ('t || ''x'', d + 1'), ('u, t');
DO $$ DECLARE c counted; BEGIN
  FOR c IN SELECT * FROM counted LOOP EXECUTE format('UPDATE counted SET rows = (SELECT count(DISTINCT ROW(%s)) FROM visit) WHERE number = %s', c.text, c.number); END LOOP;
END $$;
GRANT SELECT ON counted TO regress_dpq_distinct_analyst;
SET SESSION AUTHORIZATION regress_dpq_distinct_analyst;
CREATE TEMP TABLE asked (number int, plain bigint, private float8);
DO $$ DECLARE c record; n bigint; p float8; BEGIN
  FOR c IN SELECT * FROM counted LOOP
    EXECUTE format('SELECT count(DISTINCT ROW(%s)) FROM visit', c.text) INTO n;
    EXECUTE format('SELECT dp_count_distinct(ROW(%s), 100) FROM visit', c.text) INTO p;
    INSERT INTO asked VALUES (c.number, n, p);
  END LOOP;
END $$;
SELECT text, rows, plain, private FROM counted JOIN asked USING (number) ORDER BY number;
SELECT count(DISTINCT (t, v)) FILTER (WHERE b) AS some, count(DISTINCT (NULL, 1)) AS one, count(DISTINCT (t, v)) > 5 AS is_more FROM visit;
SELECT b, count(DISTINCT (t, d)) FROM visit GROUP BY b ORDER BY b;
SELECT dp_private_query('SELECT count(DISTINCT (t, v)) FROM visit');
-- No setting makes different values equal.
SET extra_float_digits = -15;
SET DateStyle = 'SQL, MDY';
SET TimeZone = 'XST5XST,M3.2.0,M11.1.0';
SELECT count(DISTINCT (1 + person / 3e12::float8, true)) AS of_floats, count(DISTINCT ((1 + person / 1e6)::real, true)) AS of_reals,
       count(DISTINCT (CASE WHEN b THEN timestamptz '2024-11-03 05:30+00' ELSE '2024-11-03 06:30+00' END, true)) AS of_times FROM visit;
RESET extra_float_digits;
RESET DateStyle;
RESET TimeZone;
-- What the text of a value does not tell is refused.
SELECT count(DISTINCT (t, i)) FROM visit;
SELECT count(DISTINCT (t, a)) FROM visit;
SELECT dp_count_distinct((t, j), 100) FROM visit;
SELECT count(DISTINCT (t, (v, b))) FROM visit;
SELECT count(*) FROM visit WHERE (t, v) IS NULL;
SELECT count((t, v)) FROM visit;
RESET SESSION AUTHORIZATION;
-- The rows of a person
CREATE TABLE stay AS SELECT * FROM visit;
SELECT dp_protect_table('stay', user_id => 'person'), dp_grant_private_access('stay', 'regress_dpq_distinct_analyst', epsilon => 100, delta => 1e-6);
SELECT sum(n) AS pairs, sum(m) AS others FROM (SELECT person, count(DISTINCT (t, v)) AS n, count(DISTINCT (n, c)) AS m FROM stay GROUP BY person) p;
SET SESSION AUTHORIZATION regress_dpq_distinct_analyst;
SELECT round(dp_sum(n, 100, 0, 10)) AS pairs, round(dp_sum(m, 100, 0, 10)) AS others FROM (SELECT person, count(DISTINCT (t, v)) AS n, count(DISTINCT (n, c)) AS m FROM stay GROUP BY person) p;
SELECT dp_count(100) FROM (SELECT person, count(DISTINCT (t, i)) AS n FROM stay GROUP BY person) p;
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_distinct CASCADE;
DROP OWNED BY regress_dpq_distinct_analyst;
SELECT dp_revoke_budget('regress_dpq_distinct_analyst');
DROP ROLE regress_dpq_distinct_analyst;
