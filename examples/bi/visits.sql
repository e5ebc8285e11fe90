-- A clinic's visits, protected: the role dashboard has no right on the table, and asks private queries of it.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP DATABASE IF EXISTS clinic;
CREATE DATABASE clinic;
\connect clinic
SET client_min_messages = warning;
CREATE EXTENSION dpquantile;

CREATE TABLE visits (
  id integer PRIMARY KEY,
  patient integer NOT NULL,
  department text NOT NULL,
  at timestamptz NOT NULL,
  wait integer NOT NULL  -- minutes
);
SELECT setseed(0.5) \g /dev/null
INSERT INTO visits
SELECT id, 1 + (9000 * random() ^ 1.5)::integer, department,
       -- More visits in winter
       timestamptz '2024-01-01 08:00 UTC' + interval '1 day' * mod((365 * (random() + random() / 3 - 0.17) + 365)::integer, 366)
         + interval '10 hours' * random(),
       least(240, (middle * exp(spread * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::integer)
FROM generate_series(1, 30000) AS id,
     LATERAL (SELECT random() + 0 * id AS part) AS drawn,
     LATERAL (SELECT * FROM (VALUES (0.18, 'Cardiology', 34, 0.5), (0.30, 'ENT', 22, 0.4), (0.62, 'Emergency', 61, 0.7),
                                    (0.84, 'Orthopaedics', 45, 0.5), (1.00, 'Paediatrics', 28, 0.45)) AS d(upto, department, middle, spread)
               WHERE part <= upto ORDER BY upto LIMIT 1) AS chosen;

-- All visits of a patient are protected together. A query sees at most 6 of them.
SELECT dp_protect_table('visits', user_id => 'patient', max_rows => 6) \g /dev/null
SELECT dp_set_domain('visits', 'department', '{Cardiology,ENT,Emergency,Orthopaedics,Paediatrics}'),
       dp_set_domain('visits', 'at', '2024-01-01 UTC', '2024-12-31 23:59:59 UTC'),
       dp_set_domain('visits', 'wait', 0, 240, 1) \g /dev/null

DROP ROLE IF EXISTS dashboard;
CREATE ROLE dashboard LOGIN;
SELECT dp_grant_budget('dashboard', 30, every => '1 month') \g /dev/null
-- Each aggregate costs epsilon 1. The same query costs nothing for the rest of a day.
SELECT dp_grant_private_access('visits', 'dashboard', epsilon => 1, reuse => '1 day') \g /dev/null
