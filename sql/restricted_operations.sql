-- threat 11: ANALYZE, index builds and REFRESH MATERIALIZED VIEW run code of a table's owner in the session of
-- another user. This user must not pay for the owner's answers.
CREATE ROLE regress_dpq_owner;
CREATE ROLE regress_dpq_victim SUPERUSER;
CREATE SCHEMA AUTHORIZATION regress_dpq_owner;
SELECT dp_grant_budget('regress_dpq_victim', 10);

SET ROLE regress_dpq_owner;
CREATE TABLE answers (answer float8);
CREATE TABLE bait AS SELECT generate_series(1, 3) AS x;
CREATE FUNCTION ask() RETURNS void LANGUAGE sql AS
  'INSERT INTO regress_dpq_owner.answers SELECT public.dp_median(x, 1, 0, 3) FROM regress_dpq_owner.bait';
-- An index needs a function that is declared immutable. This one asks a query only in the session of the victim.
CREATE FUNCTION indexed(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF current_setting('dpq.asking', true) = 'on' THEN PERFORM regress_dpq_owner.ask(); END IF;
  RETURN x;
END
$$;
CREATE INDEX ON bait (indexed(x));
CREATE MATERIALIZED VIEW later AS SELECT dp_median(x, 1, 0, 3) FROM bait WITH NO DATA;
RESET ROLE;

SET ROLE regress_dpq_victim;
SET dpq.asking = on;
\set VERBOSITY terse
ANALYZE regress_dpq_owner.bait;
REFRESH MATERIALIZED VIEW regress_dpq_owner.later;
\set VERBOSITY default
CREATE MATERIALIZED VIEW now AS SELECT dp_median(x, 1, 0, 3) FROM generate_series(0, 3) x;
SELECT epsilon_spent FROM dp_budget WHERE role::text = 'regress_dpq_victim';
SELECT count(*) FROM regress_dpq_owner.answers;

-- The hint recommends CREATE TABLE AS, which is not such an operation.
CREATE TABLE now AS SELECT dp_median(x, 1, 0, 3) AS answer FROM generate_series(0, 3) x;
SELECT count(answer) FROM now;
SELECT epsilon_spent FROM dp_budget WHERE role::text = 'regress_dpq_victim';

DROP TABLE now;
RESET ROLE;
DROP OWNED BY regress_dpq_owner, regress_dpq_victim;
DROP ROLE regress_dpq_owner, regress_dpq_victim;
