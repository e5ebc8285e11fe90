-- examples/tables.sql makes the tables of the guides: the same rows everywhere, so that a reader sees answers like those of the guides.
\getenv directory PG_ABS_SRCDIR
\set tables :directory '/examples/tables.sql'
CREATE SCHEMA regress_dpq_example;
SET search_path = regress_dpq_example, public;
\set ECHO none
\i :tables
\set ECHO all
SELECT city, count(*), sum(amount), max(at::date) AS latest FROM visits GROUP BY city ORDER BY city;
SELECT count(*) FROM recent_visits;
SELECT r.name, count(*) FROM regions r JOIN visitors v ON v.region = r.id GROUP BY r.name ORDER BY r.name;
SELECT department, count(*), sum(salary), sum(age) AS ages, max(hired) AS hired FROM staff GROUP BY department ORDER BY department;
SELECT count(*) AS readings, round(sum(speed)) AS speeds FROM readings;
SELECT count(*) AS stays, sum(days) AS days FROM stays;
DROP VIEW recent_visits;
DROP TABLE regions, visitors, visits, staff, readings, stays;
DROP SCHEMA regress_dpq_example;
