-- The table of `make demo`, smaller, and roles with budgets. psql sets password.
CREATE EXTENSION dpquantile;
CREATE TABLE people AS
  SELECT id, 18 + id % 50 AS age, CASE WHEN id % 20 > 0 THEN 20000 + id * 13.25 END::numeric(10, 2) AS salary,
         (ARRAY['Sales', 'Support'])[1 + id / 4001] AS department, date '1960-01-01' + id AS born,
         timestamp '2024-01-01' + id * interval '1 hour' AS seen
  FROM generate_series(1, 5000) AS id;
ALTER TABLE people ADD PRIMARY KEY (id);
CREATE TABLE ages (age int PRIMARY KEY);
INSERT INTO ages SELECT generate_series(18, 67);
-- dp_iqr answers NULL: there are too few rows.
CREATE TABLE few AS SELECT i AS x FROM generate_series(1, 5) AS i;
CREATE TABLE visits AS
  SELECT date '2024-01-01' + id % 365 AS day, timestamp '2024-01-01' + id * interval '1 hour' AS at
  FROM generate_series(1, 5000) AS id;
ANALYZE people, ages, few, visits;
-- An approved function, which any role may call.
CREATE FUNCTION approved_median(epsilon float8) RETURNS integer
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  RETURN (SELECT dp_median(age, epsilon, 0, 120) FROM people);

SET password_encryption = 'scram-sha-256';
CREATE ROLE reader LOGIN PASSWORD :'password';
CREATE ROLE analyst LOGIN PASSWORD :'password';
CREATE ROLE poor LOGIN PASSWORD :'password';
CREATE ROLE careful LOGIN PASSWORD :'password';
GRANT SELECT ON people, few, visits TO reader, poor, careful;
GRANT SELECT ON ages TO reader, analyst;
-- The examples of docs/languages.md ask for an epsilon of 900 too much.
SELECT dp_grant_budget('reader', 8000, 0.1), dp_grant_budget('analyst', 800, 0.1), dp_grant_budget('poor', 0.04),
       dp_grant_budget('careful', 10, 1e-6, 'zcdp', 1e-6) \g /dev/null
-- As the guide for owners asks. Drivers must not need what a restricted role cannot do.
SELECT dp_restrict_role(r) FROM unnest('{reader,analyst,poor,careful}'::regrole[]) AS r \g /dev/null
-- Role analyst has no SELECT on these tables.
SELECT dp_protect_table(t), dp_grant_private_access(t, 'analyst')
FROM unnest('{people,few,visits}'::regclass[]) AS t \g /dev/null
