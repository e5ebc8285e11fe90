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

-- threat 90: such code tells exact facts to a restricted role that owns the table or view, though the session is somebody else's.
CREATE ROLE regress_dpq_owner LOGIN;
CREATE ROLE regress_dpq_helper;
CREATE ROLE regress_dpq_super SUPERUSER;
CREATE SCHEMA AUTHORIZATION regress_dpq_owner;
CREATE TABLE secret AS SELECT generate_series(1, 1000) AS id;
ANALYZE secret;
SELECT dp_restrict_role('regress_dpq_owner');
CREATE FUNCTION told_by_helper() RETURNS real LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT reltuples FROM pg_class WHERE oid = ''public.secret''::regclass';
ALTER FUNCTION told_by_helper() OWNER TO regress_dpq_helper;
-- An approved function of a superuser: here of the one whose session it is, and of another one.
CREATE FUNCTION told_by_session() RETURNS real LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT reltuples FROM pg_class WHERE oid = ''public.secret''::regclass';
CREATE FUNCTION told_by_super() RETURNS real LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT reltuples FROM pg_class WHERE oid = ''public.secret''::regclass';
ALTER FUNCTION told_by_super() OWNER TO regress_dpq_super;
GRANT CREATE ON SCHEMA public TO regress_dpq_owner;
SET SESSION AUTHORIZATION regress_dpq_owner;
CREATE MATERIALIZED VIEW regress_dpq_owner.facts AS
  SELECT reltuples, pg_relation_size('secret') AS size, public.told_by_helper() AS helper, public.told_by_session() AS session,
         public.told_by_super() AS super FROM pg_class WHERE oid = 'public.secret'::regclass WITH NO DATA;
RESET SESSION AUTHORIZATION;
REFRESH MATERIALIZED VIEW regress_dpq_owner.facts;
SELECT * FROM regress_dpq_owner.facts;
-- A superuser's own code is not the role's, also if another superuser refreshes the view.
CREATE MATERIALIZED VIEW own_facts AS SELECT reltuples FROM pg_class WHERE oid = 'public.secret'::regclass;
SELECT * FROM own_facts;
ALTER MATERIALIZED VIEW own_facts OWNER TO regress_dpq_super;
REFRESH MATERIALIZED VIEW own_facts;
SELECT * FROM own_facts;
DROP MATERIALIZED VIEW own_facts;
DROP TABLE secret CASCADE;
DROP FUNCTION told_by_helper(), told_by_session(), told_by_super();
DROP OWNED BY regress_dpq_owner, regress_dpq_helper CASCADE;
DROP ROLE regress_dpq_owner, regress_dpq_helper, regress_dpq_super;
