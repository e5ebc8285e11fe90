-- What the clients ask about, and their budgets: an ample one, one with accountant zcdp, and one that ends again and again.
CREATE EXTENSION dpquantile;
CREATE ROLE analyst LOGIN;
CREATE ROLE careful LOGIN;
CREATE ROLE poor LOGIN;
CREATE TABLE person AS SELECT (i % 101)::float8 AS age, i % 7 AS dept, i AS id, i % 400 AS owner_id FROM generate_series(1, 3000) AS i;
CREATE TABLE secret AS SELECT age, dept FROM person;
ANALYZE;
GRANT SELECT ON person TO analyst, careful, poor;
SELECT dp_protect_table('secret');
SELECT dp_grant_private_access('secret', role), dp_grant_budget(role, 1000000, 0, smallest_charge => 0.001)
  FROM unnest('{analyst, poor}'::regrole[]) AS role;
SELECT dp_grant_private_access('secret', 'careful'), dp_grant_budget('careful', 10000, 1e-6, 'zcdp', smallest_charge => 1e-9);
SELECT dp_grant_budget('poor', 2);
SELECT dp_grant_budget(role, 1000000, 0, smallest_charge => 0.001, on_table => 'secret') FROM unnest('{analyst, careful}'::regrole[]) AS role;
SELECT dp_set_domain('secret', 'age', 0.0, 100.0), dp_set_domain('secret', 'dept', ARRAY[0, 1, 2, 3, 4, 5, 6]);
