-- What the attacker meets: an open table, a partitioned one, foreign ones, a protected one with domains, and a schema of its own.
CREATE EXTENSION dpquantile;
CREATE ROLE analyst LOGIN;
CREATE TABLE person AS SELECT (i % 101)::float8 AS age, i % 7 AS dept, i AS id, i % 400 AS owner_id, i % 3 = 0 AS active,
  timestamptz '2024-01-01' + i * interval '1 minute' AS seen FROM generate_series(1, 3000) AS i;
CREATE TABLE part (age float8, dept int, owner_id int) PARTITION BY LIST (dept);
CREATE TABLE part0 PARTITION OF part FOR VALUES IN (0, 1, 2);
CREATE TABLE part1 PARTITION OF part DEFAULT;
INSERT INTO part SELECT age, dept, owner_id FROM person;
CREATE TABLE secret AS SELECT age, dept, id, active FROM person;
CREATE TABLE depts AS SELECT DISTINCT dept FROM person;
-- The same rows on another server, which is this one and knows the extension, and in a file. The remote user has a budget, so that a
-- private aggregate over there would be answered and charged to it.
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION file_fdw;
DO $$
DECLARE
  file text := current_setting('data_directory') || '/person.csv';
BEGIN
  EXECUTE format('COPY person (age, dept, owner_id) TO %L', file);
  CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
  EXECUTE format('CREATE FOREIGN TABLE filed (age float8, dept int, owner_id int) SERVER files OPTIONS (filename %L)', file);
  EXECUTE format('CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L, extensions %L)',
                 current_setting('unix_socket_directories'), current_setting('port'), current_database(), 'dpquantile');
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER there OPTIONS (user 'postgres', password_required 'false');
CREATE FOREIGN TABLE away (age float8, dept int, owner_id int) SERVER there OPTIONS (table_name 'person');
SELECT dp_grant_budget('postgres', 1);
ANALYZE;
GRANT SELECT ON person, part, depts, away, filed TO analyst;
SELECT dp_grant_budget('analyst', :budget, 0.4, smallest_charge => 0.001);
SELECT dp_protect_table('secret');
SELECT dp_grant_private_access('secret', 'analyst', epsilon => 0.02);
SELECT dp_set_domain('secret', 'age', 0.0, 100.0), dp_set_domain('secret', 'dept', ARRAY[0, 1, 2, 3, 4, 5, 6]);
CREATE SCHEMA own AUTHORIZATION analyst;
