\echo Use "CREATE EXTENSION dpquantile" to load this file. \quit

-- All names resolve in pg_catalog: this script and its objects use no function or operator that another
-- role has created in the schema chosen by CREATE EXTENSION.
SET LOCAL search_path = pg_catalog, pg_temp;

-- This schema has the tables, the state type of the aggregates and the support functions. The objects
-- for users are in the schema chosen by CREATE EXTENSION.
CREATE SCHEMA dpquantile;
COMMENT ON SCHEMA dpquantile IS
  'Internals of the dpquantile extension: budget and ledger tables, aggregate support.';

-- ---------------------------------------------------------------------------------------------
-- The budget
-- ---------------------------------------------------------------------------------------------

CREATE TABLE dpquantile.budget (
  role            regrole NOT NULL PRIMARY KEY,
  budget_id       uuid    NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  epsilon_limit   numeric NOT NULL CHECK (epsilon_limit >= 0 AND epsilon_limit < 'Infinity'),
  epsilon_spent   numeric NOT NULL DEFAULT 0 CHECK (epsilon_spent >= 0 AND epsilon_spent < 'Infinity'),
  delta_limit     numeric NOT NULL CHECK (delta_limit >= 0 AND delta_limit < 1),
  delta_spent     numeric NOT NULL DEFAULT 0 CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
  rho_limit       numeric CHECK (rho_limit >= 0 AND rho_limit < 'Infinity'),
  rho_spent       numeric NOT NULL DEFAULT 0 CHECK (rho_spent >= 0 AND rho_spent < 'Infinity'),
  has_rho_alone   boolean NOT NULL DEFAULT false,
  accountant      text    NOT NULL DEFAULT 'pure' CHECK (accountant IN ('pure', 'zcdp')),
  smallest_charge numeric NOT NULL CHECK (smallest_charge >= 0 AND smallest_charge < 'Infinity'),
  charges         bigint  NOT NULL DEFAULT 0,
  revoked         boolean NOT NULL DEFAULT false,
  neighbours      text    NOT NULL DEFAULT 'add or remove' CHECK (neighbours IN ('add or remove', 'replace')),
  every           text    CHECK (every IN ('day', 'week', 'month', 'year')),
  period_start    timestamptz,
  epsilon_before  numeric NOT NULL DEFAULT 0,
  delta_before    numeric NOT NULL DEFAULT 0,
  rho_before      numeric NOT NULL DEFAULT 0,
  CHECK ((accountant = 'zcdp') = (rho_limit IS NOT NULL)),
  CONSTRAINT budget_period_check CHECK ((every IS NULL) = (period_start IS NULL)),
  CONSTRAINT budget_before_check CHECK (
    epsilon_before BETWEEN 0 AND epsilon_spent AND delta_before BETWEEN 0 AND delta_spent AND rho_before BETWEEN 0 AND rho_spent
    AND (every IS NOT NULL OR epsilon_before = 0 AND delta_before = 0 AND rho_before = 0))
);
COMMENT ON TABLE dpquantile.budget IS
  'The privacy budget of each role. Only dp_grant_budget, dp_revoke_budget and the workers '
  'that charge change it. The spending never goes down.';
COMMENT ON COLUMN dpquantile.budget.epsilon_spent IS
  'The sum of the epsilons charged, under either accountant.';
COMMENT ON COLUMN dpquantile.budget.rho_limit IS
  'With accountant zcdp, the limit in rho that follows from (epsilon_limit, delta_limit); set by dp_grant_budget.';
COMMENT ON COLUMN dpquantile.budget.rho_spent IS
  'The sum of the rhos of all charges without a delta, under either accountant.';
COMMENT ON COLUMN dpquantile.budget.has_rho_alone IS
  'Whether a charge was stated in rho alone. Then epsilon_spent does not include all charges.';
COMMENT ON COLUMN dpquantile.budget.smallest_charge IS
  'A smaller charge is refused, because each one takes a row of the ledger. In epsilon with accountant pure, in rho with '
  'zcdp; set by dp_grant_budget.';
COMMENT ON COLUMN dpquantile.budget.charges IS
  'The number of charges so far. The ledger numbers the charges of a budget from 1.';
COMMENT ON COLUMN dpquantile.budget.neighbours IS
  'What the limits and all spending are for: ''add or remove'', the neighbours of each function itself, or ''replace'', replacing '
  'the value of one row. Only a budget of which nothing is spent may change it.';
COMMENT ON COLUMN dpquantile.budget.every IS
  'The limits are for each day, week (from Monday), month or year of the calendar in UTC; NULL if they are for ever.';
COMMENT ON COLUMN dpquantile.budget.period_start IS
  'When the period began to which the latest charge belongs. It never goes back, whatever the clock does.';
COMMENT ON COLUMN dpquantile.budget.epsilon_before IS
  'The part of epsilon_spent that was charged before this period. What is spent in the period is the rest.';
COMMENT ON COLUMN dpquantile.budget.delta_before IS 'Likewise of delta_spent.';
COMMENT ON COLUMN dpquantile.budget.rho_before IS 'Likewise of rho_spent.';

CREATE TABLE dpquantile.ledger (
  budget_id         uuid        NOT NULL,
  number            bigint      NOT NULL,
  charged_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  role_name         name        NOT NULL,
  session_role_name name        NOT NULL,
  function          name        NOT NULL,
  mechanism         text        NOT NULL,
  neighbours        text        NOT NULL,
  epsilon           numeric,
  delta             numeric     NOT NULL,
  rho               numeric,
  accountant        text        NOT NULL,
  grouping_sets     integer     NOT NULL,
  groups            integer,
  query_hash        bytea,
  tables            text[],
  PRIMARY KEY (budget_id, number)
);
COMMENT ON TABLE dpquantile.ledger IS 'One row for each charge, written in the charge''s transaction.';
COMMENT ON COLUMN dpquantile.ledger.query_hash IS
  'The hash of the query''s text in query_text; NULL if the text is unknown.';
COMMENT ON COLUMN dpquantile.ledger.tables IS
  'The names of the protected tables that the rows were of, with their schema; NULL for other rows.';

-- The texts of each budget are separate. Charges of one budget never wait for, or hit, the texts of another.
CREATE TABLE dpquantile.query_text (
  budget_id  uuid  NOT NULL,
  query_hash bytea NOT NULL,
  query      text  NOT NULL,
  PRIMARY KEY (budget_id, query_hash)
);
COMMENT ON TABLE dpquantile.query_text IS
  'The texts of the queries in the ledger, once for each budget, cut after 2 kB. query_hash is the SHA-256 of the text.';

CREATE TABLE dpquantile.budget_name (
  budget_id       uuid    NOT NULL,
  role_name       name    NOT NULL,
  charges         bigint  NOT NULL DEFAULT 0,
  epsilon         numeric NOT NULL DEFAULT 0,
  delta           numeric NOT NULL DEFAULT 0,
  rho             numeric NOT NULL DEFAULT 0,
  has_rho_alone   boolean NOT NULL DEFAULT false,
  last_charged_at timestamptz,
  replaces        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (budget_id, role_name)
);
COMMENT ON TABLE dpquantile.budget_name IS
  'The names that the role of a budget had when dp_grant_budget was called for any role, when a charge was made that is archived, or when '
  'a role was renamed or dropped in a session with the library, '
  'with the number and the sums of the archived charges. With the ledger it has all spending of each budget, and tells '
  'which budgets are connected with a name (earlier_spending).';
COMMENT ON COLUMN dpquantile.budget_name.has_rho_alone IS
  'Whether an archived charge was stated in rho alone. Then epsilon does not include all charges.';
COMMENT ON COLUMN dpquantile.budget_name.replaces IS
  'Whether the archived charges are for replacing the value of one row.';

-- A dump includes the spending. It leaves out the budgets of dropped roles, because their OIDs could
-- belong to other roles in the cluster of the restore.
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.budget', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.ledger', '');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.query_text', '');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.budget_name', '');

-- ---------------------------------------------------------------------------------------------
-- Budgets for protected tables
-- ---------------------------------------------------------------------------------------------

-- Apart from the general budgets: a restore into a database without one of the tables must not lose those.
CREATE TABLE dpquantile.table_budget (
  role            regrole     NOT NULL,
  relation        regclass    NOT NULL,
  epsilon_limit   numeric     NOT NULL CHECK (epsilon_limit >= 0 AND epsilon_limit < 'Infinity'),
  epsilon_spent   numeric     NOT NULL DEFAULT 0 CHECK (epsilon_spent >= 0 AND epsilon_spent < 'Infinity'),
  delta_limit     numeric     NOT NULL CHECK (delta_limit >= 0 AND delta_limit < 1),
  delta_spent     numeric     NOT NULL DEFAULT 0 CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
  rho_limit       numeric     CHECK (rho_limit >= 0 AND rho_limit < 'Infinity'),
  rho_spent       numeric     NOT NULL DEFAULT 0 CHECK (rho_spent >= 0 AND rho_spent < 'Infinity'),
  has_rho_alone   boolean     NOT NULL DEFAULT false,
  accountant      text        NOT NULL DEFAULT 'pure' CHECK (accountant IN ('pure', 'zcdp')),
  smallest_charge numeric     NOT NULL CHECK (smallest_charge >= 0 AND smallest_charge < 'Infinity'),
  revoked         boolean     NOT NULL DEFAULT false,
  every           text        CHECK (every IN ('day', 'week', 'month', 'year')),
  period_start    timestamptz,
  epsilon_before  numeric     NOT NULL DEFAULT 0,
  delta_before    numeric     NOT NULL DEFAULT 0,
  rho_before      numeric     NOT NULL DEFAULT 0,
  PRIMARY KEY (role, relation),
  CHECK ((accountant = 'zcdp') = (rho_limit IS NOT NULL)),
  CONSTRAINT table_budget_period_check CHECK ((every IS NULL) = (period_start IS NULL)),
  CONSTRAINT table_budget_before_check CHECK (
    epsilon_before BETWEEN 0 AND epsilon_spent AND delta_before BETWEEN 0 AND delta_spent AND rho_before BETWEEN 0 AND rho_spent
    AND (every IS NOT NULL OR epsilon_before = 0 AND delta_before = 0 AND rho_before = 0))
);
COMMENT ON TABLE dpquantile.table_budget IS
  'The privacy budget of a role for a protected table, beside its row in budget. All columns mean the same there. Each charge for '
  'rows of the table counts in both rows. Whoever locks this row has locked the other one before.';

CREATE TABLE dpquantile.table_name (
  table_id uuid NOT NULL,
  name     text NOT NULL,
  PRIMARY KEY (table_id, name)
);
COMMENT ON TABLE dpquantile.table_name IS
  'The names, with their schema, that a table has had since it was first protected. table_id is that of table_identity. It stays when the '
  'table is dropped.';

-- Without a foreign key: a parallel pg_restore may restore this table first.
CREATE TABLE dpquantile.table_identity (
  relation regclass NOT NULL PRIMARY KEY,
  table_id uuid     NOT NULL DEFAULT gen_random_uuid()
);
COMMENT ON TABLE dpquantile.table_identity IS
  'Each table that is or was protected, until it is dropped. table_id is its number in table_name.';

CREATE TABLE dpquantile.archived_by_table (
  budget_id     uuid    NOT NULL,
  table_name    text    NOT NULL,
  epsilon       numeric NOT NULL DEFAULT 0,
  delta         numeric NOT NULL DEFAULT 0,
  rho           numeric NOT NULL DEFAULT 0,
  has_rho_alone boolean NOT NULL DEFAULT false,
  replaces      boolean NOT NULL DEFAULT false,
  PRIMARY KEY (budget_id, table_name)
);
COMMENT ON TABLE dpquantile.archived_by_table IS
  'The sums of the archived charges of a budget for the rows of each protected table. They count in budget_name, too.';

SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.table_budget', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles) AND relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.table_name', '');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.table_identity', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.archived_by_table', '');

-- A dump does not include the key: CREATE EXTENSION makes a new one in the restored database.
CREATE TABLE dpquantile.user_key (
  key bytea NOT NULL CHECK (octet_length(key) = 16)
);
-- Without a replica identity a publication of this table would forbid changes of the key. A primary key would show the key
-- in errors.
ALTER TABLE dpquantile.user_key REPLICA IDENTITY FULL;
COMMENT ON TABLE dpquantile.user_key IS
  'One random key with which the user-level aggregates hash users. It keeps a person who may choose the name of a '
  'user from making it collide with another. No role needs to read it. Partial states with different keys cannot be '
  'combined.';
INSERT INTO dpquantile.user_key
  SELECT substr(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 16);

-- ---------------------------------------------------------------------------------------------
-- Protected tables
-- ---------------------------------------------------------------------------------------------

CREATE TABLE dpquantile.protected_table (
  relation    regclass NOT NULL PRIMARY KEY,
  user_column name,
  user_number smallint,
  max_rows    integer,
  unit        name,
  CHECK ((user_column IS NULL) = (user_number IS NULL)),
  CHECK (max_rows IS NULL OR max_rows BETWEEN 1 AND 1000 AND user_column IS NOT NULL),
  CHECK (unit IS NULL OR unit <> '' AND user_column IS NOT NULL)
);
COMMENT ON TABLE dpquantile.protected_table IS
  'The tables and views on which private access can be granted. Only dp_protect_table and dp_unprotect_table change it.';
COMMENT ON COLUMN dpquantile.protected_table.user_column IS
  'The column that names the user whose rows are protected together; NULL if each row is protected.';
COMMENT ON COLUMN dpquantile.protected_table.user_number IS
  'The number of user_column in pg_attribute, from a trigger; 0 if there was no such column. Unless a column has this number and '
  'this name, private access is closed.';
COMMENT ON COLUMN dpquantile.protected_table.max_rows IS
  'How many rows of each user a SELECT sees; NULL if only aggregates over users may be asked.';
COMMENT ON COLUMN dpquantile.protected_table.unit IS
  'What user_column names, as the owner calls it: the tables of one owner with the same unit may be joined by these columns; NULL if '
  'it may be joined with no other protected table.';

-- Without a foreign key: a parallel pg_restore may restore this table first.
CREATE TABLE dpquantile.private_grant (
  relation         regclass    NOT NULL,
  grantee          name        NOT NULL,
  grantee_oid      oid         NOT NULL,
  smallest_epsilon float8      NOT NULL CHECK (smallest_epsilon > 0 AND smallest_epsilon <= 100),
  epsilon          float8      CHECK (epsilon >= smallest_epsilon AND epsilon <= 100),
  delta            float8      CHECK (delta IS NULL OR delta > 0 AND delta < 1 AND epsilon IS NOT NULL),
  reuse            interval    CHECK (reuse > '0' AND reuse <= '10 years'),
  most_cancels     integer     NOT NULL DEFAULT 100 CHECK (most_cancels >= 0),
  granted_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  granted_by       name        NOT NULL,
  PRIMARY KEY (relation, grantee)
);
COMMENT ON TABLE dpquantile.private_grant IS
  'Private access: which role may ask private queries of which table, as long as the table is in protected_table. Only '
  'dp_grant_private_access, dp_revoke_private_access and dp_unprotect_table change it.';
COMMENT ON COLUMN dpquantile.private_grant.grantee_oid IS
  'The OID of grantee, from a trigger; 0 if there was no such role. Unless a role has this OID and this name, the grant is closed.';
COMMENT ON COLUMN dpquantile.private_grant.smallest_epsilon IS
  'A private aggregate with a smaller epsilon is refused.';
COMMENT ON COLUMN dpquantile.private_grant.epsilon IS
  'What each standard aggregate costs, such as count(*); NULL if only private aggregates may be asked.';
COMMENT ON COLUMN dpquantile.private_grant.delta IS
  'What the choice of groups costs besides, where the keys of GROUP BY come from the rows; NULL if they must be public.';
COMMENT ON COLUMN dpquantile.private_grant.reuse IS
  'How long the answers of a query are shown again to the role that asks it once more; NULL if each query is charged.';
COMMENT ON COLUMN dpquantile.private_grant.most_cancels IS
  'How many queries of a role may end early while they read rows of the table, before its private access closes.';

-- Sessions and workers add rows when a query ends early, without a lock that another of them has to wait for.
CREATE TABLE dpquantile.failed_read (
  relation    regclass    NOT NULL,
  grantee     name        NOT NULL,
  grantee_oid oid         NOT NULL,
  failed_at   timestamptz NOT NULL,
  sqlstate    text,
  closes      boolean     NOT NULL
);
-- A primary key would be of no use. Without a replica identity a publication of this table would forbid deletions.
ALTER TABLE dpquantile.failed_read REPLICA IDENTITY FULL;
COMMENT ON TABLE dpquantile.failed_read IS
  'The queries of protected tables that ended early while they read rows: by an error, a cancel, a timeout, a lack of memory, or the end '
  'of the session. Only dp_open_private_access, dp_unprotect_table and the drop of the table take rows away.';
COMMENT ON COLUMN dpquantile.failed_read.grantee IS
  'The role that asked: the one with a grant, or a member of it. grantee_oid is its OID.';
COMMENT ON COLUMN dpquantile.failed_read.sqlstate IS
  'The true SQLSTATE, with which the server log has the error; NULL if the session was ended.';
COMMENT ON COLUMN dpquantile.failed_read.closes IS
  'Whether perhaps only a row can raise the error. Then private access of the role to the table is closed.';

-- All values are texts that the input function of the column's type reads in any session.
CREATE TABLE dpquantile.column_domain (
  relation      regclass NOT NULL,
  column_name   name     NOT NULL,
  column_number smallint NOT NULL,
  column_type   regtype  NOT NULL,
  lower         text,
  upper         text,
  granularity   text,
  keys          text[],
  PRIMARY KEY (relation, column_name),
  CHECK ((lower IS NULL) = (upper IS NULL)),
  CHECK (granularity IS NULL OR lower IS NOT NULL),
  CHECK (lower IS NOT NULL OR keys IS NOT NULL)
);
COMMENT ON TABLE dpquantile.column_domain IS
  'What is publicly known of the values of columns of protected tables. Only dp_set_domain, dp_drop_domain and dp_unprotect_table '
  'change it.';
COMMENT ON COLUMN dpquantile.column_domain.column_number IS
  'The number of the column in pg_attribute, from a trigger; 0 if there was no such column. Unless a column has this number, this '
  'name and column_type, nothing is known of it.';
COMMENT ON COLUMN dpquantile.column_domain.lower IS 'The bounds of the values; NULL if the column has none.';
COMMENT ON COLUMN dpquantile.column_domain.granularity IS 'The step of the values: a number, or an interval for times; NULL for the default.';
COMMENT ON COLUMN dpquantile.column_domain.keys IS 'All values by which queries may group; NULL if there is no list.';

-- A dump leaves out what is closed because a table or a role is gone: another one of the same name has no grant after a restore.
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.protected_table', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.column_domain', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.private_grant', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class) '
  'AND (grantee, grantee_oid) IN (SELECT rolname, oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.failed_read', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class) '
  'AND (grantee, grantee_oid) IN (SELECT rolname, oid FROM pg_catalog.pg_roles)');

CREATE FUNCTION dpquantile.supply_user_number() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.user_number := (SELECT a.attnum FROM pg_attribute a
                       WHERE a.attrelid = NEW.relation AND a.attname = NEW.user_column AND a.attnum > 0 AND NOT a.attisdropped);
  IF NEW.user_column IS NOT NULL THEN
    NEW.user_number := coalesce(NEW.user_number, 0);
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION dpquantile.supply_user_number() IS
  'Trigger of dpquantile.protected_table: finds the number of user_column, also when a dump is restored.';

CREATE FUNCTION dpquantile.supply_grantee_oid() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.grantee_oid := coalesce((SELECT r.oid FROM pg_roles r WHERE r.rolname = NEW.grantee), 0);
  IF NEW.grantee_oid = 0 THEN
    RAISE WARNING 'role "%" does not exist, so its private access to % is closed', NEW.grantee, NEW.relation
      USING HINT = 'Create the role and call dp_grant_private_access.';
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION dpquantile.supply_grantee_oid() IS
  'Trigger of dpquantile.private_grant and dpquantile.failed_read: finds the OID of grantee, also when a dump is restored.';

CREATE FUNCTION dpquantile.supply_column_number() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.column_number := coalesce((SELECT a.attnum FROM pg_attribute a
                                  WHERE a.attrelid = NEW.relation AND a.attname = NEW.column_name AND a.attnum > 0
                                    AND NOT a.attisdropped), 0);
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION dpquantile.supply_column_number() IS
  'Trigger of dpquantile.column_domain: finds the number of column_name, also when a dump is restored.';

CREATE FUNCTION dpquantile.protection_changed() RETURNS trigger
  LANGUAGE C AS 'MODULE_PATHNAME', 'dpq_protection_changed';
COMMENT ON FUNCTION dpquantile.protection_changed() IS
  'Trigger of dpquantile.protected_table, dpquantile.private_grant, dpquantile.failed_read and dpquantile.column_domain: makes all sessions plan anew what '
  'they have planned for the changed tables.';

CREATE TRIGGER supply_user_number BEFORE INSERT ON dpquantile.protected_table
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_user_number();
CREATE TRIGGER supply_grantee_oid BEFORE INSERT ON dpquantile.private_grant
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_grantee_oid();
CREATE TRIGGER supply_grantee_oid BEFORE INSERT ON dpquantile.failed_read
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_grantee_oid();
CREATE TRIGGER supply_column_number BEFORE INSERT ON dpquantile.column_domain
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_column_number();
CREATE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.protected_table
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.private_grant
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.failed_read
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.column_domain
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.protected_table
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();
CREATE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.private_grant
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();
CREATE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.failed_read
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();
CREATE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.column_domain
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();

-- A publication FOR ALL TABLES contains these tables. On the subscriber, rows of the publisher would overwrite what was
-- spent there. The triggers fire where session_replication_role is replica, as in the workers of a subscription.
CREATE FUNCTION dpquantile.skip_replicated() RETURNS trigger
  LANGUAGE C AS 'MODULE_PATHNAME', 'dpq_skip_replicated';
COMMENT ON FUNCTION dpquantile.skip_replicated() IS
  'Trigger of the tables in this schema: a replication worker does not change them. It skips rows and refuses TRUNCATE. '
  'Other sessions, for example a restore with session_replication_role = replica, change them as usual.';

DO $$
DECLARE
  protected regclass;
BEGIN
  FOR protected IN SELECT oid FROM pg_class WHERE relnamespace = 'dpquantile'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('CREATE TRIGGER skip_replicated BEFORE INSERT OR UPDATE OR DELETE ON %s '
                   'FOR EACH ROW EXECUTE FUNCTION dpquantile.skip_replicated()', protected);
    EXECUTE format('CREATE TRIGGER refuse_replicated_truncate BEFORE TRUNCATE ON %s '
                   'FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.skip_replicated()', protected);
  END LOOP;
END
$$;

CREATE FUNCTION dpquantile.protect_tables() RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  protected regclass;
BEGIN
  FOR protected IN SELECT oid FROM pg_class WHERE relnamespace = 'dpquantile'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s ENABLE REPLICA TRIGGER skip_replicated, '
                   'ENABLE REPLICA TRIGGER refuse_replicated_truncate', protected);
  END LOOP;
  -- Also in a restore with session_replication_role = replica.
  ALTER TABLE dpquantile.protected_table
    ENABLE ALWAYS TRIGGER supply_user_number, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
  ALTER TABLE dpquantile.private_grant
    ENABLE ALWAYS TRIGGER supply_grantee_oid, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
  ALTER TABLE dpquantile.failed_read
    ENABLE ALWAYS TRIGGER supply_grantee_oid, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
  ALTER TABLE dpquantile.column_domain
    ENABLE ALWAYS TRIGGER supply_column_number, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
END
$$;
COMMENT ON FUNCTION dpquantile.protect_tables() IS
  'Keeps replication workers from changing the tables in this schema. CREATE EXTENSION calls it; call it again after a '
  'restore with --disable-triggers. For the owner of the tables.';
SELECT dpquantile.protect_tables();

CREATE FUNCTION dpquantile.check_version() RETURNS void
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_check_version';
COMMENT ON FUNCTION dpquantile.check_version() IS
  'Fails unless the library that this session has loaded is of the same version as the extension''s objects in this '
  'database. Tells nothing about any data.';

CREATE FUNCTION dpquantile.charged_role() RETURNS oid
  LANGUAGE C STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'dpq_charged_role';
COMMENT ON FUNCTION dpquantile.charged_role() IS
  'The role that is charged in this session: the session user or the role of SET ROLE, never the '
  'owner of a SECURITY DEFINER function. Tells nothing about any data.';

CREATE FUNCTION dpquantile.sees_all_budgets() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT pg_catalog.pg_has_role(current_user, e.extowner, 'USAGE')
      FROM pg_catalog.pg_extension e WHERE e.extname = 'dpquantile';
  END;
COMMENT ON FUNCTION dpquantile.sees_all_budgets() IS
  'Whether the current user is (a member of) the owner of the extension. Tells nothing about any data.';

CREATE FUNCTION dpquantile.decimal(value float8) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_decimal';
COMMENT ON FUNCTION dpquantile.decimal(float8) IS
  'value: any number. The shortest decimal that reads back as the same float8, or as the same float4 for a number that '
  'was one. A charge of an epsilon adds this decimal to the spending. Tells nothing about any data.';

CREATE FUNCTION dpquantile.rho_within(epsilon float8, delta float8) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_rho_within';
COMMENT ON FUNCTION dpquantile.rho_within(float8, float8) IS
  'epsilon: 0 or more; delta: between 0 and 1. The largest rho, rounded down, for which rho-zCDP implies '
  '(epsilon, delta)-differential privacy. Tells nothing about any data.';

CREATE FUNCTION dpquantile.epsilon_of_rho(rho float8, delta float8) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_epsilon_of_rho';
COMMENT ON FUNCTION dpquantile.epsilon_of_rho(float8, float8) IS
  'rho: 0 or more; delta: between 0 and 1. The smallest epsilon, rounded up, for which rho-zCDP implies '
  '(epsilon, delta)-differential privacy. Tells nothing about any data.';

CREATE FUNCTION dpquantile.charged_rho(query text, epsilon float8, neighbours text) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_charged_rho';
COMMENT ON FUNCTION dpquantile.charged_rho(text, float8, text) IS
  'query: ''one quantile'', the median, ''nine quantiles'', ''nine quantiles, auto'' or ''dp_cdf''; another text means any other '
  'query without delta; epsilon: from 1e-6 to 1000; neighbours: of the budget. The rho charged for such a query. Tells nothing '
  'about any data.';
CREATE FUNCTION dpquantile.charged_epsilon(query text, epsilon float8, neighbours text) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_charged_epsilon';
COMMENT ON FUNCTION dpquantile.charged_epsilon(text, float8, text) IS
  'query, epsilon, neighbours: as for charged_rho. The epsilon charged for such a query. Tells nothing about any data.';

CREATE FUNCTION dpquantile.six_digits(value numeric, upwards boolean) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  BEGIN ATOMIC
    SELECT CASE WHEN value = 0 THEN 0
                WHEN upwards THEN trim_scale(ceil(value * ('1e' || p.places)::numeric) * ('1e' || -p.places)::numeric)
                ELSE trim_scale(floor(value * ('1e' || p.places)::numeric) * ('1e' || -p.places)::numeric) END
      FROM (SELECT CASE WHEN value > 0 THEN 5 - floor(log(value))::integer END AS places) AS p;
  END;
COMMENT ON FUNCTION dpquantile.six_digits(numeric, boolean) IS
  'value: 0 or more; upwards: true to round up, false to round down. The value with six significant digits, for '
  'display. Tells nothing about any data.';

CREATE FUNCTION dpquantile.total_epsilon(accountant text, epsilon_spent numeric, rho_spent numeric, epsilon_limit numeric,
                                         delta_limit numeric, rho_limit numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  BEGIN ATOMIC
    SELECT CASE total_epsilon.accountant
           WHEN 'zcdp' THEN
             -- Rounded up, but not above the limit if the spending is within it.
             least(dpquantile.six_digits(
                     dpquantile.epsilon_of_rho(total_epsilon.rho_spent::float8, total_epsilon.delta_limit::float8), true),
                   CASE WHEN total_epsilon.rho_spent <= total_epsilon.rho_limit THEN total_epsilon.epsilon_limit END)
           ELSE trim_scale(total_epsilon.epsilon_spent) END;
  END;
COMMENT ON FUNCTION dpquantile.total_epsilon(text, numeric, numeric, numeric, numeric, numeric) IS
  'accountant and the other columns of a budget: the epsilon of all charges together, under its accountant. Tells nothing '
  'about any data.';

CREATE FUNCTION dpquantile.period_start(every text, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  RETURN date_trunc(every, at, 'UTC');
COMMENT ON FUNCTION dpquantile.period_start(text, timestamptz) IS
  'every: day, week, month or year; at: a time. When the period of the calendar began in which the time lies, in UTC. Tells nothing '
  'about any data.';

CREATE FUNCTION dpquantile.period_end(every text, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  RETURN (date_trunc(every, at AT TIME ZONE 'UTC') + ('1 ' || every)::interval) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION dpquantile.period_end(text, timestamptz) IS
  'every: day, week, month or year; at: a time. When the next period of the calendar begins after it, in UTC. Tells nothing about any data.';

-- A charge moves the row to its period, so until the first charge of a period the row is of an earlier one.
CREATE VIEW dpquantile.present_budget WITH (security_barrier) AS
  SELECT b.role, b.relation, b.revoked, b.accountant, b.neighbours, b.smallest_charge, b.has_rho_alone,
         b.epsilon_limit, b.delta_limit, b.rho_limit,
         b.epsilon_spent - CASE WHEN p.has_begun THEN b.epsilon_spent ELSE b.epsilon_before END AS epsilon_spent,
         b.delta_spent - CASE WHEN p.has_begun THEN b.delta_spent ELSE b.delta_before END AS delta_spent,
         b.rho_spent - CASE WHEN p.has_begun THEN b.rho_spent ELSE b.rho_before END AS rho_spent,
         b.epsilon_spent AS epsilon_ever, b.delta_spent AS delta_ever,
         b.every, greatest(b.period_start, p.start) AS period_start
    FROM (SELECT b.role, NULL::regclass AS relation, b.revoked, b.accountant, b.neighbours, b.smallest_charge, b.has_rho_alone,
                 b.epsilon_limit, b.delta_limit, b.rho_limit, b.epsilon_spent, b.delta_spent, b.rho_spent,
                 b.epsilon_before, b.delta_before, b.rho_before, b.every, b.period_start
            FROM dpquantile.budget b
           UNION ALL
          SELECT t.role, t.relation, t.revoked, t.accountant, b.neighbours, t.smallest_charge, t.has_rho_alone,
                 t.epsilon_limit, t.delta_limit, t.rho_limit, t.epsilon_spent, t.delta_spent, t.rho_spent,
                 t.epsilon_before, t.delta_before, t.rho_before, t.every, t.period_start
            FROM dpquantile.table_budget t JOIN dpquantile.budget b ON b.role = t.role) b
   CROSS JOIN LATERAL (SELECT dpquantile.period_start(b.every, statement_timestamp()) AS start) s
   CROSS JOIN LATERAL (SELECT s.start, coalesce(s.start > b.period_start, false) AS has_begun) p;
COMMENT ON VIEW dpquantile.present_budget IS
  'The general budgets (relation is NULL) and those for tables, with what is spent in the present period, as the next charge finds them; '
  'epsilon_ever and delta_ever: what was ever spent.';

CREATE FUNCTION dpquantile.has_revoked_budget(role oid, relation regclass) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM dpquantile.table_budget t
                    WHERE t.role = has_revoked_budget.role AND t.relation = has_revoked_budget.relation AND t.revoked);
  END;
COMMENT ON FUNCTION dpquantile.has_revoked_budget(oid, regclass) IS 'What is_closed_table does.';

CREATE FUNCTION dpquantile.is_closed_table(role oid, relation regclass) RETURNS boolean
  LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dpq_is_closed_table';
COMMENT ON FUNCTION dpquantile.is_closed_table(oid, regclass) IS
  'role: that is charged; relation: a protected table. Whether the budget of the role for the table has been revoked. Tells a role its own '
  'budgets only, the owner of the extension all. Tells nothing about any data.';

CREATE VIEW @extschema@.dp_budget WITH (security_barrier) AS
  SELECT b.role,
         trim_scale(b.epsilon_limit) AS epsilon_limit,
         e.epsilon_spent,
         trim_scale(greatest(b.epsilon_limit - e.epsilon_spent, 0)) AS epsilon_remaining,
         trim_scale(b.delta_limit) AS delta_limit,
         trim_scale(CASE b.accountant WHEN 'zcdp' THEN b.delta_limit ELSE b.delta_spent END) AS delta_spent,
         trim_scale(CASE b.accountant WHEN 'zcdp' THEN 0
                    ELSE greatest(b.delta_limit - b.delta_spent, 0) END) AS delta_remaining,
         b.accountant,
         trim_scale(b.rho_limit) AS rho_limit,
         CASE WHEN b.delta_ever = 0 THEN trim_scale(b.rho_spent) END AS rho_spent,
         CASE WHEN b.rho_limit IS NOT NULL THEN trim_scale(greatest(b.rho_limit - b.rho_spent, 0)) END AS rho_remaining,
         CASE WHEN NOT b.has_rho_alone THEN trim_scale(b.epsilon_ever) END AS epsilon_sum,
         trim_scale(b.smallest_charge) AS smallest_charge,
         b.neighbours,
         '1 ' || b.every AS every,
         dpquantile.period_end(b.every, b.period_start) AS renewed_at,
         b.relation AS on_table
    FROM dpquantile.present_budget b
   CROSS JOIN LATERAL (SELECT dpquantile.total_epsilon(b.accountant, b.epsilon_spent, b.rho_spent, b.epsilon_limit, b.delta_limit,
                                                       b.rho_limit) AS epsilon_spent) e
   WHERE NOT b.revoked
     AND (b.role = dpquantile.charged_role() OR dpquantile.sees_all_budgets());
COMMENT ON VIEW @extschema@.dp_budget IS
  'Privacy budgets: limit, spent and remaining (epsilon, delta), for ever, or in the present period if the budget is renewed. The '
  'accountant adds up the charges: pure adds '
  'epsilons and deltas, zcdp adds rhos and converts their sum. A role sees its own budget, the owner of the extension '
  'sees all budgets. The view shows charges only; their number can depend on the data of a query (docs/privacy.md).';
COMMENT ON COLUMN @extschema@.dp_budget.epsilon_spent IS
  'With accountant pure the sum of the charges; with zcdp the epsilon that rho_spent implies at delta_limit, '
  'rounded up.';
COMMENT ON COLUMN @extschema@.dp_budget.epsilon_remaining IS
  'epsilon_limit - epsilon_spent. With accountant zcdp a query of that epsilon may not fit, and many smaller queries '
  'may fit: rho_remaining decides, and dp_budget_fits gives the number.';
COMMENT ON COLUMN @extschema@.dp_budget.delta_spent IS
  'With accountant pure the sum of the charges; with zcdp all of delta_limit, because rho is converted at this delta.';
COMMENT ON COLUMN @extschema@.dp_budget.rho_limit IS
  'With accountant zcdp, the limit in rho that follows from epsilon_limit and delta_limit; else NULL.';
COMMENT ON COLUMN @extschema@.dp_budget.rho_spent IS
  'The sum of the rhos of the charges, under either accountant; NULL if a charge had a delta and so no rho.';
COMMENT ON COLUMN @extschema@.dp_budget.rho_remaining IS
  'With accountant zcdp, rho_limit - rho_spent: a query is answered if its rho is not larger; else NULL.';
COMMENT ON COLUMN @extschema@.dp_budget.epsilon_sum IS
  'The sum of the epsilons of all charges ever, under either accountant; NULL if a charge was stated in rho alone.';
COMMENT ON COLUMN @extschema@.dp_budget.smallest_charge IS
  'A query with a smaller charge is refused. In epsilon with accountant pure, in rho with zcdp.';
COMMENT ON COLUMN @extschema@.dp_budget.neighbours IS
  'What limits and spending are for. add or remove: each query is charged for the neighbours of its own guarantee. replace: each '
  'query is charged for replacing the value of one row.';
COMMENT ON COLUMN @extschema@.dp_budget.every IS
  'The limits are for each such period of the calendar in UTC: 1 day, 1 week (from Monday), 1 month or 1 year; NULL if they are for ever.';
COMMENT ON COLUMN @extschema@.dp_budget.renewed_at IS
  'When the next period begins, in which nothing is spent yet; NULL if the budget is for ever.';
COMMENT ON COLUMN @extschema@.dp_budget.on_table IS
  'The protected table that the budget is for; NULL for the general budget of the role, which each query is charged to.';

CREATE FUNCTION dpquantile.keeps_answers() RETURNS boolean
  LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keeps_answers';
COMMENT ON FUNCTION dpquantile.keeps_answers() IS
  'Whether there is memory for answers that are kept for reuse: if the library is in shared_preload_libraries.';

CREATE FUNCTION dpquantile.kept_answers(OUT role oid, OUT first_charge bigint, OUT charges integer, OUT reuses bigint)
  RETURNS SETOF record
  LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'dpq_kept_answers';
COMMENT ON FUNCTION dpquantile.kept_answers() IS
  'The answers that are kept for reuse: of the role of this session, or of all roles if the current user owns the extension. Tells '
  'nothing about any data.';

-- An analyst sees minutes, cut in UTC whatever the session's time zone is, and the order of the numbers. Microseconds,
-- or the order in which the rows are stored, would tell when others charge.
CREATE VIEW @extschema@.dp_ledger WITH (security_barrier) AS
  WITH viewer AS MATERIALIZED (
    SELECT dpquantile.sees_all_budgets() AS is_owner,
           (SELECT b.budget_id FROM dpquantile.budget b WHERE b.role = dpquantile.charged_role()) AS budget_id)
  SELECT l.number,
         CASE WHEN v.is_owner THEN l.charged_at ELSE date_trunc('minute', l.charged_at, 'UTC') END AS charged_at,
         l.role_name AS role,
         l.session_role_name AS session_role,
         l.function,
         l.mechanism,
         l.neighbours,
         trim_scale(l.epsilon) AS epsilon,
         trim_scale(l.delta) AS delta,
         l.grouping_sets,
         l.groups,
         t.query,
         trim_scale(l.rho) AS rho,
         l.accountant,
         k.reuses,
         l.tables
    FROM dpquantile.ledger l
    LEFT JOIN dpquantile.query_text t USING (budget_id, query_hash)
    LEFT JOIN dpquantile.budget b ON b.budget_id = l.budget_id
    LEFT JOIN (SELECT a.role, a.reuses, n AS number
                 FROM dpquantile.kept_answers() a, generate_series(a.first_charge, a.first_charge + a.charges - 1) n) k
      ON k.role = b.role AND k.number = l.number
   CROSS JOIN viewer v
   WHERE v.is_owner OR l.budget_id = v.budget_id
   ORDER BY CASE WHEN v.is_owner THEN l.charged_at END, l.number;
COMMENT ON VIEW @extschema@.dp_ledger IS
  'One row for each charge: its number among the charges of the budget, from 1, time (to the minute, except for the '
  'owner of the extension), role, session role, function, mechanism, neighbour relation that is charged for, epsilon and delta (for all '
  'grouping sets or groups together; epsilon is NULL for a query stated in rho alone), number of grouping sets, '
  'number of groups, text of the query (its first 2 kB), rho (NULL for a charge with a delta), accountant, how often the answer was shown '
  'again without a charge (NULL if it is not kept), the protected tables whose rows were asked about, under their names at that time '
  '(NULL for other rows). The number '
  'of groups is 1 without GROUP BY. The functions dp_user_... with GROUP BY are charged for each group: one row has '
  'the first group, a second row all others and their number. For other functions with GROUP BY it is NULL, because '
  'it would depend on the data. A role sees its own charges in the order of their numbers, the owner of the extension '
  'sees all charges in the order of time.';

GRANT SELECT ON @extschema@.dp_budget, @extschema@.dp_ledger TO PUBLIC;

CREATE FUNCTION @extschema@.dp_budget_fits(epsilon float8, on_table regclass)
  RETURNS TABLE (role regrole, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT b.role, (array_agg(b.accountant ORDER BY b.on_table IS NULL))[1], k.title, trim_scale(min(c.rho)),
           min(CASE WHEN a.asked < b.smallest_charge OR dpquantile.is_closed_table(b.role, dp_budget_fits.on_table)
                         OR b.accountant = 'pure' AND b.delta_spent > b.delta_limit THEN 0
                    ELSE least(div(CASE b.accountant WHEN 'zcdp' THEN b.rho_remaining ELSE b.epsilon_remaining END, a.asked),
                               9223372036854775807) END)::bigint
      FROM @extschema@.dp_budget b
     CROSS JOIN (VALUES (1, 'one quantile', 'one quantile'),
                        (2, 'nine quantiles', 'nine quantiles in one call, default method'),
                        (3, 'nine quantiles, auto', 'nine quantiles in one call, method auto'),
                        (4, 'dp_cdf', 'dp_cdf with default options'),
                        (5, 'other', 'any other without delta')) AS k (number, query, title)
     CROSS JOIN LATERAL (SELECT dpquantile.charged_rho(k.query, dp_budget_fits.epsilon, b.neighbours) AS rho,
                                dpquantile.charged_epsilon(k.query, dp_budget_fits.epsilon, b.neighbours) AS epsilon) AS c
     CROSS JOIN LATERAL (SELECT CASE b.accountant WHEN 'zcdp' THEN c.rho ELSE c.epsilon END AS asked) AS a
     WHERE dp_budget_fits.epsilon IS NOT NULL AND (b.on_table IS NULL OR b.on_table = dp_budget_fits.on_table)
     GROUP BY b.role, k.number, k.title
     ORDER BY b.role::text, k.number;
  END;
COMMENT ON FUNCTION @extschema@.dp_budget_fits(float8, regclass) IS
  'The number of further queries of rows of a protected table that the budgets pay for: the role''s budget for the table and its general '
  'budget, whichever pays for fewer. epsilon: the epsilon of each query, from 1e-6 to 1000; on_table: the table, or NULL for the general '
  'budget alone. One row for each kind of query, as dp_budget_fits(epsilon) has them: role; accountant: that of the budget for the table, if '
  'there is one; query; rho_each; fits, 0 if the budget for the table has been revoked. Reads no data and costs no budget.';

CREATE FUNCTION @extschema@.dp_budget_fits(epsilon float8)
  RETURNS TABLE (role regrole, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT * FROM @extschema@.dp_budget_fits(dp_budget_fits.epsilon, NULL::regclass);
  END;
COMMENT ON FUNCTION @extschema@.dp_budget_fits(float8) IS
  'The number of further queries that the general budget pays for. epsilon: the epsilon of each query, from 1e-6 to 1000. One '
  'row for each kind of query: role; accountant; query; rho_each: the rho that accountant zcdp charges for one query; '
  'fits: the number of queries that fit if the role asks nothing else, 0 below the smallest charge. If the budget is for '
  'replacing a value, one quantile is the median and any other query the dearest. dp_iqr with '
  'method propose-test-release has a delta and is not included. A role sees its own budget, the owner of the '
  'extension sees all budgets. Reads no data and costs no budget.';

-- A role may be renamed, dropped and created again under any of its names. So a budget is connected with all names
-- that it was granted or charged under, and a name with all such budgets, over any number of steps.
CREATE FUNCTION dpquantile.earlier_spending(role_name name, table_names text[] DEFAULT NULL)
  RETURNS TABLE (epsilon numeric, delta numeric, rho numeric, has_rho_alone boolean, neighbours text)
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    WITH RECURSIVE named AS (
      SELECT l.budget_id, l.role_name FROM dpquantile.ledger l
      UNION
      SELECT n.budget_id, n.role_name FROM dpquantile.budget_name n
    ), connected AS (
      SELECT n.budget_id FROM named n WHERE n.role_name = earlier_spending.role_name
      UNION
      SELECT other.budget_id
        FROM connected
        JOIN named mine USING (budget_id)
        JOIN named other ON other.role_name = mine.role_name
    ), spent AS (
      SELECT l.budget_id, l.epsilon, l.delta, l.rho, l.epsilon IS NULL AS has_rho_alone,
             l.neighbours = 'replace the value of one row' AS replaces,
             earlier_spending.table_names IS NULL OR coalesce(l.tables && earlier_spending.table_names, false) AS is_asked
        FROM dpquantile.ledger l
       UNION ALL
      SELECT n.budget_id, n.epsilon, n.delta, n.rho, n.has_rho_alone, n.replaces, earlier_spending.table_names IS NULL
        FROM dpquantile.budget_name n
       UNION ALL
      SELECT a.budget_id, a.epsilon, a.delta, a.rho, a.has_rho_alone, a.replaces,
             coalesce(a.table_name = ANY (earlier_spending.table_names), false)
        FROM dpquantile.archived_by_table a
    ), counted AS (
      -- Beside charges for replacing a value, the others count twice, or four times in rho.
      SELECT s.*, CASE WHEN bool_or(s.replaces) OVER () AND NOT s.replaces THEN 2 ELSE 1 END AS times
        FROM spent s WHERE s.budget_id IN (SELECT c.budget_id FROM connected c)
    )
    SELECT coalesce(sum(c.times * c.epsilon) FILTER (WHERE c.is_asked), 0), coalesce(sum(c.times * c.delta) FILTER (WHERE c.is_asked), 0),
           coalesce(sum(c.times * c.times * c.rho) FILTER (WHERE c.is_asked), 0),
           coalesce(bool_or(c.has_rho_alone) FILTER (WHERE c.is_asked), false),
           CASE WHEN bool_or(c.replaces) THEN 'replace' ELSE 'add or remove' END
      FROM counted c;
  END;
COMMENT ON FUNCTION dpquantile.earlier_spending(name, text[]) IS
  'role_name: the name of a role; table_names: of protected tables, with their schemas, or NULL for all charges. The sums of all charges of '
  'the budgets that are connected with this name, for rows of one of the tables, in the '
  'ledger and archived, and the neighbours that they are for. Tells nothing about any data.';

-- In sessions with the library a hook calls it around each ALTER ROLE ... RENAME and DROP ROLE in this database. If the library is preloaded, each
-- resident worker calls it when it starts.
CREATE FUNCTION dpquantile.note_role_names() RETURNS void
  LANGUAGE sql VOLATILE
  BEGIN ATOMIC
    INSERT INTO dpquantile.budget_name (budget_id, role_name)
    SELECT b.budget_id, r.rolname FROM dpquantile.budget b JOIN pg_catalog.pg_roles r ON r.oid = b.role
     WHERE NOT EXISTS (SELECT FROM dpquantile.budget_name n WHERE n.budget_id = b.budget_id AND n.role_name = r.rolname)
        ON CONFLICT DO NOTHING;
  END;
COMMENT ON FUNCTION dpquantile.note_role_names() IS
  'Notes the present names of all roles that have a budget, so that what is spent under one name counts under each. Tells nothing about any '
  'data.';

-- A table may be renamed, dropped and created again, like a role.
CREATE FUNCTION dpquantile.name_of_table(relation regclass) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  BEGIN ATOMIC
    SELECT n.nspname || '.' || c.relname
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = name_of_table.relation;
  END;
COMMENT ON FUNCTION dpquantile.name_of_table(regclass) IS
  'relation: a table or view. Its name with its schema, as the ledger has it. Not quoted, because that depends on a setting. Tells '
  'nothing about any data.';

CREATE FUNCTION dpquantile.note_table_name(relation regclass) RETURNS void
  LANGUAGE sql VOLATILE
  BEGIN ATOMIC
    INSERT INTO dpquantile.table_identity (relation)
    SELECT p.relation FROM dpquantile.protected_table p WHERE p.relation = note_table_name.relation
    ON CONFLICT DO NOTHING;
    INSERT INTO dpquantile.table_name (table_id, name)
    SELECT i.table_id, dpquantile.name_of_table(i.relation) FROM dpquantile.table_identity i
     WHERE i.relation = note_table_name.relation
    ON CONFLICT DO NOTHING;
  END;
COMMENT ON FUNCTION dpquantile.note_table_name(regclass) IS
  'relation: a protected table. Keeps its name in table_name. Tells nothing about any data.';

CREATE FUNCTION dpquantile.connected_tables(relation regclass) RETURNS text[]
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH RECURSIVE connected AS (
      SELECT i.table_id FROM dpquantile.table_identity i WHERE i.relation = connected_tables.relation
      UNION
      SELECT n.table_id FROM dpquantile.table_name n WHERE n.name = dpquantile.name_of_table(connected_tables.relation)
      UNION
      SELECT other.table_id
        FROM connected
        JOIN dpquantile.table_name mine USING (table_id)
        JOIN dpquantile.table_name other ON other.name = mine.name
    )
    SELECT array_agg(n.name)
      FROM (SELECT dpquantile.name_of_table(connected_tables.relation) AS name
             UNION
            SELECT n.name FROM dpquantile.table_name n JOIN connected USING (table_id)) n;
  END;
COMMENT ON FUNCTION dpquantile.connected_tables(regclass) IS
  'relation: a protected table. Its name, and all names of the tables that are connected with it: with a table each of its names, and with '
  'a name each table that had it, over any number of steps. Tells nothing about any data.';

CREATE FUNCTION @extschema@.dp_grant_budget(role regrole, epsilon float8, delta float8 DEFAULT NULL,
                                            accountant text DEFAULT NULL, smallest_charge float8 DEFAULT NULL,
                                            neighbours text DEFAULT NULL, every interval DEFAULT NULL,
                                            on_table regclass DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres
AS $$
#variable_conflict use_column
DECLARE
  grantee CONSTANT regrole := dp_grant_budget.role;
  -- The row of the role, which counts all its charges, and the terms to be changed: its own, or those for a table.
  general dpquantile.budget;
  budget dpquantile.budget;
  -- The limit that the accountant compares with the sum of the charges.
  total_limit numeric;
  name_now name;
  -- By its text: PostgreSQL takes 30 days for equal to a month.
  calendar CONSTANT text := CASE dp_grant_budget.every::text WHEN '1 day' THEN 'day' WHEN '7 days' THEN 'week'
                                                             WHEN '1 mon' THEN 'month' WHEN '1 year' THEN 'year' END;
  every_before text;
BEGIN
  PERFORM dpquantile.check_version();
  IF grantee IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = grantee) THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(grantee::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  -- dp_add_charge takes no more at once.
  IF NOT coalesce(dp_grant_budget.epsilon > 0 AND dp_grant_budget.epsilon <= 1e30, false) THEN
    RAISE EXCEPTION 'epsilon must be above 0 and at most 1e30, got %', coalesce(dp_grant_budget.epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'To take a budget away, use dp_revoke_budget.';
  END IF;
  IF dp_grant_budget.delta < 0 OR dp_grant_budget.delta >= 1 THEN
    RAISE EXCEPTION 'delta must be at least 0 and less than 1, got %', dp_grant_budget.delta
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A useful delta is far below one over the number of rows, or 0.';
  END IF;
  IF dp_grant_budget.accountant NOT IN ('pure', 'zcdp') THEN
    RAISE EXCEPTION 'accountant must be pure or zcdp, got %', dp_grant_budget.accountant
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'pure adds epsilons; zcdp adds rhos, so many small queries cost much less.';
  END IF;
  IF dp_grant_budget.neighbours NOT IN ('add or remove', 'replace') THEN
    RAISE EXCEPTION 'neighbours must be "add or remove" or "replace", got "%"', dp_grant_budget.neighbours
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'replace promises the limit for replacing the value of one row, whatever the role asks.';
  END IF;
  IF dp_grant_budget.every IS NOT NULL AND calendar IS NULL THEN
    RAISE EXCEPTION 'every must be 1 day, 1 week, 1 month or 1 year, got %', dp_grant_budget.every
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'The budget begins anew with each day, week (on Monday), month or year of the calendar in UTC.';
  END IF;
  IF dp_grant_budget.on_table IS NOT NULL
     AND NOT EXISTS (SELECT FROM dpquantile.protected_table t WHERE t.relation = dp_grant_budget.on_table) THEN
    RAISE EXCEPTION 'on_table must be a protected table, got %', dp_grant_budget.on_table
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Its owner protects it: SELECT dp_protect_table(%L).', dp_grant_budget.on_table);
  END IF;

  -- A new row starts with the earlier spending under this name: a restore without some roles may have
  -- lost the row, or the role may have been dropped and created again. The row has no terms yet, like
  -- a revoked budget.
  SELECT r.rolname INTO STRICT name_now FROM pg_roles r WHERE r.oid = grantee;
  PERFORM dpquantile.note_role_names();
  IF NOT EXISTS (SELECT FROM dpquantile.budget b WHERE b.role = grantee) THEN
    INSERT INTO dpquantile.budget
           (role, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_spent, has_rho_alone, smallest_charge, revoked,
            neighbours)
    SELECT grantee, 0, s.epsilon, 0, s.delta, s.rho, s.has_rho_alone, 0, true, s.neighbours
      FROM dpquantile.earlier_spending(name_now) s
    ON CONFLICT ON CONSTRAINT budget_pkey DO NOTHING;
  END IF;
  SELECT * INTO STRICT general FROM dpquantile.budget b WHERE b.role = grantee FOR UPDATE;
  INSERT INTO dpquantile.budget_name (budget_id, role_name) VALUES (general.budget_id, name_now)
  ON CONFLICT ON CONSTRAINT budget_name_pkey DO NOTHING;
  budget := general;
  -- Likewise a new row for a table, with the earlier spending under this name on tables that are connected with it.
  IF dp_grant_budget.on_table IS NOT NULL THEN
    INSERT INTO dpquantile.table_budget
           (role, relation, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_spent, has_rho_alone, smallest_charge, revoked)
    SELECT grantee, dp_grant_budget.on_table, 0, s.epsilon, 0, s.delta, s.rho, s.has_rho_alone, 0, true
      -- The subquery runs once. PostgreSQL would put the function itself beside each row of the ledger.
      FROM dpquantile.earlier_spending(name_now, (SELECT dpquantile.connected_tables(dp_grant_budget.on_table))) s
     WHERE NOT EXISTS (SELECT FROM dpquantile.table_budget t WHERE t.role = grantee AND t.relation = dp_grant_budget.on_table)
    ON CONFLICT ON CONSTRAINT table_budget_pkey DO NOTHING;
    PERFORM dpquantile.note_table_name(dp_grant_budget.on_table);
    SELECT t.epsilon_spent, t.delta_limit, t.delta_spent, t.rho_spent, t.has_rho_alone, t.accountant, t.revoked, t.every, t.period_start,
           t.epsilon_before, t.delta_before, t.rho_before
      INTO STRICT budget.epsilon_spent, budget.delta_limit, budget.delta_spent, budget.rho_spent, budget.has_rho_alone,
           budget.accountant, budget.revoked, budget.every, budget.period_start,
           budget.epsilon_before, budget.delta_before, budget.rho_before
      FROM dpquantile.table_budget t WHERE t.role = grantee AND t.relation = dp_grant_budget.on_table FOR UPDATE;
  END IF;

  -- The new terms. An omitted argument keeps its old value, or gets its default after a revocation.
  budget.epsilon_limit := dpquantile.decimal(dp_grant_budget.epsilon);
  budget.delta_limit := coalesce(dpquantile.decimal(dp_grant_budget.delta),
                                 CASE WHEN budget.revoked THEN 0 ELSE budget.delta_limit END);
  budget.accountant := coalesce(dp_grant_budget.accountant,
                                CASE WHEN budget.revoked THEN 'pure' ELSE budget.accountant END);
  every_before := budget.every;
  budget.every := coalesce(calendar, CASE WHEN NOT budget.revoked THEN budget.every END);
  -- What was spent before the period is not known for another calendar, so everything counts until the next period.
  IF budget.every IS DISTINCT FROM every_before THEN
    budget.epsilon_before := 0;
    budget.delta_before := 0;
    budget.rho_before := 0;
    budget.period_start := CASE WHEN budget.every IS NOT NULL
                                THEN greatest(budget.period_start, dpquantile.period_start(budget.every, clock_timestamp())) END;
  END IF;
  -- All budgets of the role have the same neighbours. What is spent cannot be counted for others.
  IF general.epsilon_spent = 0 AND general.delta_spent = 0 AND general.rho_spent = 0 THEN
    budget.neighbours := coalesce(dp_grant_budget.neighbours,
                                  CASE WHEN general.revoked AND dp_grant_budget.on_table IS NULL
                                            AND NOT EXISTS (SELECT FROM dpquantile.table_budget t WHERE t.role = grantee AND NOT t.revoked)
                                       THEN 'add or remove' ELSE general.neighbours END);
  ELSIF dp_grant_budget.neighbours <> general.neighbours THEN
    RAISE EXCEPTION 'role % cannot have neighbours "%": it has been charged for "%"', grantee, dp_grant_budget.neighbours,
                    general.neighbours
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'The same answers cost other amounts for other neighbours.',
            HINT = 'Leave neighbours out, or grant a budget to a new role.';
  END IF;
  budget.rho_limit := NULL;
  IF budget.accountant = 'zcdp' THEN
    IF budget.delta_limit = 0 THEN
      RAISE EXCEPTION 'accountant zcdp needs a delta above 0, got 0'
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('It converts rho to epsilon at that delta. For example: dp_grant_budget(%L, %s, 1e-6, %L), '
                            'with a delta far below one over the number of rows.',
                            grantee, dp_grant_budget.epsilon, 'zcdp');
    END IF;
    IF budget.delta_spent > 0 THEN
      RAISE EXCEPTION 'role % cannot have accountant zcdp: it has been charged delta %', grantee,
                      trim_scale(budget.delta_spent)
        USING ERRCODE = 'object_not_in_prerequisite_state',
              DETAIL = 'A charge with a delta has no rho.',
              HINT = 'Grant with accountant pure.';
    END IF;
    budget.rho_limit := dpquantile.rho_within(budget.epsilon_limit::float8, budget.delta_limit::float8);
    IF budget.rho_limit = 0 THEN
      RAISE EXCEPTION 'a limit of epsilon % and delta % is worth no rho', budget.epsilon_limit, budget.delta_limit
        USING ERRCODE = 'invalid_parameter_value', HINT = 'No query would fit. Grant more epsilon or delta.';
    END IF;
  ELSIF budget.has_rho_alone THEN
    RAISE EXCEPTION 'role % cannot have accountant pure: it has been charged for queries stated in rho alone', grantee
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Such a query has no epsilon to add to the others.',
            HINT = format('Grant with accountant zcdp: dp_grant_budget(%L, %s, 1e-6, %L).',
                          grantee, dp_grant_budget.epsilon, 'zcdp');
  END IF;
  -- Computed anew if it is omitted: the old one may be an amount of what another accountant adds. A limit pays for at most a
  -- million charges then.
  total_limit := coalesce(budget.rho_limit, budget.epsilon_limit);
  budget.smallest_charge := coalesce(dpquantile.decimal(dp_grant_budget.smallest_charge), total_limit * 1e-6);
  IF NOT (budget.smallest_charge > 0 AND budget.smallest_charge <= total_limit) THEN
    RAISE EXCEPTION 'smallest_charge must be positive and at most the limit of %, got %',
                    format('%s %s', CASE budget.accountant WHEN 'zcdp' THEN 'rho' ELSE 'epsilon' END,
                           trim_scale(total_limit)),
                    dp_grant_budget.smallest_charge
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is in epsilon with accountant pure, in rho with zcdp. Leave it out for a millionth of the limit.';
  END IF;
  IF dp_grant_budget.on_table IS NULL THEN
    UPDATE dpquantile.budget AS b
       SET epsilon_limit = budget.epsilon_limit, delta_limit = budget.delta_limit, rho_limit = budget.rho_limit,
           accountant = budget.accountant, smallest_charge = budget.smallest_charge, neighbours = budget.neighbours,
           every = budget.every, period_start = budget.period_start, epsilon_before = budget.epsilon_before,
           delta_before = budget.delta_before, rho_before = budget.rho_before, revoked = false
     WHERE b.role = grantee;
  ELSE
    UPDATE dpquantile.budget AS b SET neighbours = budget.neighbours WHERE b.role = grantee;
    UPDATE dpquantile.table_budget AS t
       SET epsilon_limit = budget.epsilon_limit, delta_limit = budget.delta_limit, rho_limit = budget.rho_limit,
           accountant = budget.accountant, smallest_charge = budget.smallest_charge,
           every = budget.every, period_start = budget.period_start, epsilon_before = budget.epsilon_before,
           delta_before = budget.delta_before, rho_before = budget.rho_before, revoked = false
     WHERE t.role = grantee AND t.relation = dp_grant_budget.on_table;
  END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_grant_budget(regrole, float8, float8, text, float8, text, interval, regclass) IS
  'Sets the limit of a role''s privacy budget. role: an existing role; epsilon: total limit, above 0 and at most '
  '1e30; delta: total limit, 0 or more and below 1 (default: the old value, at first 0; with accountant pure only dp_iqr spends delta); '
  'accountant: ''pure'' adds epsilons and deltas; ''zcdp'' adds rhos and answers while their sum implies (epsilon, '
  'delta)-differential privacy, which allows many more small queries and needs a delta above 0 (default: the old '
  'value, at first pure); smallest_charge: a query of the role with a smaller charge is refused, in epsilon with pure '
  'and in rho with zcdp, positive and at most the limit (default: a millionth of the new limit); neighbours: ''add or remove'' '
  'charges each query for the neighbours of its own guarantee; ''replace'' charges each query for replacing the value of one '
  'row, which moves it to another group if a key depends on it, and promises the limit for that, whatever the role asks '
  '(default: the old one, at first add or remove). A budget of '
  'which something is spent keeps its neighbours. every: ''1 day'', ''1 week'', ''1 month'' or ''1 year'': the limits are for each such '
  'period of the calendar in UTC, a week from Monday, so all answers of k periods together have the privacy loss k times epsilon and k '
  'times delta, without an end (default: the old value, at first for ever, also after a revocation). Until the first period of a new '
  'calendar begins, all that was ever spent counts. on_table: a protected table: the limit is for what private access to the '
  'table answers, beside the general budget of the role, if it has one; a query is charged to both, and must fit in both (default: the '
  'general budget). The earlier spending '
  'of the role still counts, also if the role was renamed, dropped and created again under any of its names; then '
  'everything counts that was ever charged to a budget of one of these names. The same holds for tables. For the data owner: the limit is '
  'the privacy loss that all answers to the role together may reach, or with every those of one period.';

CREATE FUNCTION @extschema@.dp_revoke_budget(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM FROM dpquantile.budget b WHERE b.role = dp_revoke_budget.role FOR UPDATE;
  IF NOT EXISTS (SELECT FROM dpquantile.present_budget b WHERE b.role = dp_revoke_budget.role AND NOT b.revoked) THEN
    RAISE EXCEPTION 'role % has no privacy budget', coalesce(dp_revoke_budget.role::text, 'NULL')
      USING ERRCODE = 'undefined_object',
            HINT = 'The view dp_budget lists the budgets.';
  END IF;
  UPDATE dpquantile.budget AS b SET revoked = true WHERE b.role = dp_revoke_budget.role;
  UPDATE dpquantile.table_budget AS t SET revoked = true WHERE t.role = dp_revoke_budget.role;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_revoke_budget(regrole) IS
  'Takes a role''s privacy budgets away, the general one and those for tables: the role gets no more private answers. role: a role with a '
  'budget. Its spending is kept and counts again if it gets a budget later.';

CREATE FUNCTION @extschema@.dp_revoke_budget(role regrole, on_table regclass) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM FROM dpquantile.budget b WHERE b.role = dp_revoke_budget.role FOR UPDATE;
  UPDATE dpquantile.table_budget AS t SET revoked = true
   WHERE t.role = dp_revoke_budget.role AND t.relation = dp_revoke_budget.on_table AND NOT t.revoked;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no privacy budget for table %', coalesce(dp_revoke_budget.role::text, 'NULL'),
                    coalesce(dp_revoke_budget.on_table::text, 'NULL')
      USING ERRCODE = 'undefined_object',
            HINT = 'The view dp_budget lists the budgets.';
  END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_revoke_budget(regrole, regclass) IS
  'Takes a role''s privacy budget for a protected table away: the role gets no more answers about its rows, also if it has a general budget, '
  'until it gets another one for the table. role, on_table: as dp_budget shows them. Its spending is kept and counts again if it gets a '
  'budget for the table later.';

CREATE FUNCTION dpquantile.archive_ledger(before timestamptz)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text, tables text[])
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  budgets uuid[];
BEGIN
  PERFORM dpquantile.check_version();
  IF archive_ledger.before IS NULL THEN
    RAISE EXCEPTION 'before must be a time, got NULL'
      USING ERRCODE = 'null_value_not_allowed',
            HINT = 'For example: SELECT * FROM dp_archive_ledger(now() - interval ''1 year'').';
  END IF;
  -- One archiving at a time. Charges and grants do not wait for this lock.
  LOCK TABLE dpquantile.budget_name IN SHARE UPDATE EXCLUSIVE MODE;
  -- The charges of these budgets wait, as they do for dp_grant_budget: a charge under way may refer to a text that no
  -- other charge refers to, and would not see that the text is removed.
  budgets := ARRAY(SELECT DISTINCT l.budget_id FROM dpquantile.ledger l WHERE l.charged_at < archive_ledger.before);
  PERFORM FROM dpquantile.budget b WHERE b.budget_id = ANY (budgets) ORDER BY b.role FOR UPDATE;
  RETURN QUERY
    WITH archived AS (
      DELETE FROM dpquantile.ledger l
       WHERE l.budget_id = ANY (budgets) AND l.charged_at < archive_ledger.before
      RETURNING l.*
    ), summed AS (
      INSERT INTO dpquantile.budget_name AS n
             (budget_id, role_name, charges, epsilon, delta, rho, has_rho_alone, last_charged_at, replaces)
      SELECT a.budget_id, a.role_name, count(*), coalesce(sum(a.epsilon), 0), sum(a.delta), coalesce(sum(a.rho), 0),
             bool_or(a.epsilon IS NULL), max(a.charged_at), bool_or(a.neighbours = 'replace the value of one row')
        FROM archived a GROUP BY a.budget_id, a.role_name
      ON CONFLICT ON CONSTRAINT budget_name_pkey DO UPDATE
         SET charges = n.charges + excluded.charges, epsilon = n.epsilon + excluded.epsilon,
             delta = n.delta + excluded.delta, rho = n.rho + excluded.rho,
             has_rho_alone = n.has_rho_alone OR excluded.has_rho_alone,
             last_charged_at = greatest(n.last_charged_at, excluded.last_charged_at),
             replaces = n.replaces OR excluded.replaces
    ), summed_by_table AS (
      INSERT INTO dpquantile.archived_by_table AS t (budget_id, table_name, epsilon, delta, rho, has_rho_alone, replaces)
      SELECT a.budget_id, n.name, coalesce(sum(a.epsilon), 0), sum(a.delta), coalesce(sum(a.rho), 0), bool_or(a.epsilon IS NULL),
             bool_or(a.neighbours = 'replace the value of one row')
        FROM archived a CROSS JOIN unnest(a.tables) AS n (name) GROUP BY a.budget_id, n.name
      ON CONFLICT ON CONSTRAINT archived_by_table_pkey DO UPDATE
         SET epsilon = t.epsilon + excluded.epsilon, delta = t.delta + excluded.delta, rho = t.rho + excluded.rho,
             has_rho_alone = t.has_rho_alone OR excluded.has_rho_alone, replaces = t.replaces OR excluded.replaces
    )
    SELECT a.budget_id, a.number, a.charged_at, a.role_name, a.session_role_name, a.function, a.mechanism,
           a.neighbours, trim_scale(a.epsilon), trim_scale(a.delta), a.grouping_sets, a.groups, t.query,
           trim_scale(a.rho), a.accountant, a.tables
      FROM archived a LEFT JOIN dpquantile.query_text t USING (budget_id, query_hash)
     ORDER BY a.charged_at, a.budget_id, a.number;
  DELETE FROM dpquantile.query_text t
   WHERE t.budget_id = ANY (budgets)
     AND NOT EXISTS (SELECT FROM dpquantile.ledger l
                      WHERE l.budget_id = t.budget_id AND l.query_hash = t.query_hash);
END
$$;

CREATE FUNCTION @extschema@.dp_archive_ledger(before timestamptz)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT a.budget_id, a.number, a.charged_at, a.role, a.session_role, a.function, a.mechanism, a.neighbours, a.epsilon, a.delta,
           a.grouping_sets, a.groups, a.query, a.rho, a.accountant
      FROM dpquantile.archive_ledger(dp_archive_ledger.before) a;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_archive_ledger(timestamptz) IS
  'Takes old charges out of the ledger and returns them, so that they can be kept elsewhere. In psql: BEGIN; then '
  '\copy (SELECT * FROM dp_archive_ledger(''2026-01-01'')) TO ''ledger.csv'' CSV HEADER; then look at the file; then '
  'COMMIT. Without BEGIN the charges are lost if psql cannot write the file. before: a time; earlier charges are taken '
  'out. The spending stays as it is: the sums of the charges are kept, and count when a budget has to be made again. '
  'The charges of the budgets concerned wait until the transaction ends. budget_id: the budget; the other columns are '
  'those of dp_ledger: number, charged_at, role, session_role, function, mechanism, neighbours, epsilon, delta, '
  'grouping_sets, groups, query, rho, accountant. For the data owner.';

-- The columns of the one above are those of 0.1.0, which tables of archived charges have.
CREATE FUNCTION @extschema@.dp_archive_ledger(before timestamptz, with_tables boolean)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text, tables text[])
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT a.budget_id, a.number, a.charged_at, a.role, a.session_role, a.function, a.mechanism, a.neighbours, a.epsilon, a.delta,
           a.grouping_sets, a.groups, a.query, a.rho, a.accountant,
           CASE WHEN dp_archive_ledger.with_tables THEN a.tables END
      FROM dpquantile.archive_ledger(dp_archive_ledger.before) a;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_archive_ledger(timestamptz, boolean) IS
  'What dp_archive_ledger(before) does and returns, and one column more, tables: the protected tables whose rows were asked about, under '
  'their names at that time (NULL for other rows). before: a time; with_tables: false leaves the column empty. The other columns are '
  'budget_id, number, charged_at, role, session_role, function, mechanism, neighbours, epsilon, delta, grouping_sets, groups, query, rho, '
  'accountant. For the data owner.';
COMMENT ON FUNCTION dpquantile.archive_ledger(timestamptz) IS 'What dp_archive_ledger does for its caller.';

-- A restore or a failover may lose charges, and a copy of the database has charges that this one lacks.
CREATE FUNCTION @extschema@.dp_add_charge(role regrole, epsilon numeric, delta numeric DEFAULT 0, rho numeric DEFAULT NULL,
                                          note text DEFAULT NULL, on_table regclass DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  charged CONSTANT regrole := dp_add_charge.role;
  name_now CONSTANT name := (SELECT r.rolname FROM pg_roles r WHERE r.oid = dp_add_charge.role);
  added_epsilon numeric := dp_add_charge.epsilon;
  added_delta numeric := coalesce(dp_add_charge.delta, 0);
  added_rho numeric;
  budget dpquantile.budget;
  counted record;
  added_at CONSTANT timestamptz := clock_timestamp();
  text_hash bytea;
BEGIN
  PERFORM dpquantile.check_version();
  IF NOT coalesce(coalesce(added_epsilon, dp_add_charge.rho) BETWEEN 1e-30 AND 1e30
                  AND coalesce(dp_add_charge.rho, 1) BETWEEN 1e-30 AND 1e30, false) THEN
    RAISE EXCEPTION 'epsilon and rho must be between 1e-30 and 1e30, got % and %',
                    coalesce(left(added_epsilon::text, 40), 'NULL'), coalesce(left(dp_add_charge.rho::text, 40), 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'One of them may be NULL: the epsilon of queries stated in rho alone, or the rho of other queries.';
  END IF;
  IF added_delta <> 0 AND (added_delta < 0 OR added_delta >= 1 OR added_epsilon IS NULL OR dp_add_charge.rho IS NOT NULL) THEN
    RAISE EXCEPTION 'delta must be 0 or more, below 1, and 0 beside a rho, got %', left(added_delta::text, 40)
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Only dp_iqr spends delta, and it has no rho. Add its charges apart from those of the others.';
  END IF;
  IF dp_add_charge.on_table IS NOT NULL
     AND NOT EXISTS (SELECT FROM dpquantile.protected_table t WHERE t.relation = dp_add_charge.on_table) THEN
    RAISE EXCEPTION 'on_table must be a protected table, got %', dp_add_charge.on_table
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Its owner protects it: SELECT dp_protect_table(%L).', dp_add_charge.on_table);
  END IF;
  IF octet_length(dp_add_charge.note) > 2048 THEN
    RAISE EXCEPTION 'note must have at most 2048 bytes, got %', octet_length(dp_add_charge.note)
      USING ERRCODE = 'invalid_parameter_value', HINT = 'The ledger cuts the texts of queries at this length.';
  END IF;
  -- Each later charge computes with the sums, so their digits are bounded. Upwards: no spending is forgotten.
  added_epsilon := ceil(added_epsilon * 1e50) * 1e-50;
  added_delta := ceil(added_delta * 1e50) * 1e-50;
  IF added_delta = 0 THEN
    -- Answers that are epsilon-differentially private together are epsilon^2/2-zCDP.
    added_rho := ceil(coalesce(dp_add_charge.rho, added_epsilon * added_epsilon / 2) * 1e50) * 1e-50;
  END IF;
  SELECT * INTO budget FROM dpquantile.budget b WHERE b.role = charged FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no privacy budget', coalesce(charged::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Grant one first with dp_grant_budget.';
  END IF;
  IF name_now IS NULL THEN
    RAISE EXCEPTION 'role % has been dropped', charged
      USING ERRCODE = 'undefined_object',
            HINT = 'Create a role with the last name that the ledger has for it, and grant it a budget: the budget starts with '
                   'the spending of the dropped role.';
  END IF;
  FOR counted IN
    SELECT b.relation, b.accountant FROM dpquantile.present_budget b
     WHERE b.role = charged AND NOT b.revoked AND (b.relation IS NULL OR b.relation = dp_add_charge.on_table)
       AND (b.accountant = 'zcdp' AND added_delta > 0 OR b.accountant = 'pure' AND added_epsilon IS NULL)
     ORDER BY b.relation NULLS FIRST
  LOOP
    RAISE EXCEPTION 'accountant % of role % cannot add a charge %', counted.accountant,
                    charged || coalesce(' for table ' || counted.relation, ''),
                    CASE WHEN added_delta > 0 THEN 'with a delta' ELSE 'without an epsilon' END
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Revoke the budget first with dp_revoke_budget. A later grant chooses the accountant.';
  END LOOP;
  -- It counts in the present period, whichever period the latest charge belongs to.
  UPDATE dpquantile.budget b
     SET epsilon_before = b.epsilon_spent, delta_before = b.delta_spent, rho_before = b.rho_spent,
         period_start = dpquantile.period_start(b.every, added_at)
   WHERE b.role = charged AND dpquantile.period_start(b.every, added_at) > b.period_start;
  UPDATE dpquantile.budget b
     SET epsilon_spent = b.epsilon_spent + coalesce(added_epsilon, 0), delta_spent = b.delta_spent + added_delta,
         rho_spent = b.rho_spent + coalesce(added_rho, 0), has_rho_alone = b.has_rho_alone OR added_epsilon IS NULL,
         charges = b.charges + 1
   WHERE b.role = charged;
  UPDATE dpquantile.table_budget t
     SET epsilon_before = t.epsilon_spent, delta_before = t.delta_spent, rho_before = t.rho_spent,
         period_start = dpquantile.period_start(t.every, added_at)
   WHERE t.role = charged AND t.relation = dp_add_charge.on_table AND dpquantile.period_start(t.every, added_at) > t.period_start;
  UPDATE dpquantile.table_budget t
     SET epsilon_spent = t.epsilon_spent + coalesce(added_epsilon, 0), delta_spent = t.delta_spent + added_delta,
         rho_spent = t.rho_spent + coalesce(added_rho, 0), has_rho_alone = t.has_rho_alone OR added_epsilon IS NULL
   WHERE t.role = charged AND t.relation = dp_add_charge.on_table;
  PERFORM dpquantile.note_table_name(dp_add_charge.on_table);
  IF dp_add_charge.note IS NOT NULL THEN
    text_hash := sha256(convert_to(dp_add_charge.note, getdatabaseencoding()));
    INSERT INTO dpquantile.query_text (budget_id, query_hash, query) VALUES (budget.budget_id, text_hash, dp_add_charge.note)
    ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO dpquantile.ledger (budget_id, number, role_name, session_role_name, function, mechanism, neighbours, epsilon,
                                 delta, rho, accountant, grouping_sets, query_hash, tables)
  VALUES (budget.budget_id, budget.charges + 1, name_now, session_user, 'dp_add_charge', 'none',
          CASE budget.neighbours WHEN 'replace' THEN 'replace the value of one row' ELSE 'unknown' END, added_epsilon, added_delta, added_rho,
          budget.accountant, 1, text_hash,
          CASE WHEN dp_add_charge.on_table IS NOT NULL THEN ARRAY[dpquantile.name_of_table(dp_add_charge.on_table)] END);
END
$$;
COMMENT ON FUNCTION @extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text, regclass) IS
  'Adds a charge to the budget of a role, for answers that this database does not know of: they were charged in a copy of '
  'the database, or a restore or a failover has lost their charges. role: a role with a budget, also a revoked one; '
  'epsilon: what the answers have spent together, for the neighbours of the budget, or NULL if they were stated in rho alone; '
  'delta: likewise, 0 or '
  'more and below 1 (default: 0); rho: likewise (default: half the square of epsilon if delta is 0, which is '
  'enough for answers without a delta); note: what the ledger shows as the query, also to the role, at most 2048 bytes; on_table: the '
  'protected table whose rows were asked about, so that the charge counts in the budget for it, too (default: none). '
  'Amounts are rounded up to 50 decimals. The spending may exceed the limit; then the role gets no more answers, of a renewed '
  'budget none in the present period. For '
  'the data owner.';

-- ---------------------------------------------------------------------------------------------
-- Restricted roles
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.told_by_function(function regprocedure) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_told_by_function';
COMMENT ON FUNCTION dpquantile.told_by_function(regprocedure) IS
  'function: any function. What exact facts it tells, if a restricted role may not execute it; otherwise NULL.';

CREATE FUNCTION dpquantile.stored_setting(database oid, role oid, setting text) RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT substr(c.entry, length(stored_setting.setting) + 2)
      FROM pg_catalog.pg_db_role_setting s
     CROSS JOIN unnest(s.setconfig) AS c (entry)
     WHERE s.setdatabase = stored_setting.database AND s.setrole = stored_setting.role
       AND starts_with(c.entry, stored_setting.setting || '=');
  END;
COMMENT ON FUNCTION dpquantile.stored_setting(oid, oid, text) IS
  'What ALTER ROLE or ALTER DATABASE has stored for a setting. database: an OID, or 0 for all databases; role: an '
  'OID, or 0 for all roles; setting: its name. NULL if nothing is stored.';

CREATE FUNCTION dpquantile.server_libraries() RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT CASE WHEN s.source IN ('default', 'configuration file', 'command line') THEN s.setting
                ELSE coalesce((SELECT f.setting FROM pg_catalog.pg_file_settings f
                                WHERE f.name = 'session_preload_libraries' AND f.applied), '') END
      FROM pg_catalog.pg_settings s WHERE s.name = 'session_preload_libraries';
  END;
COMMENT ON FUNCTION dpquantile.server_libraries() IS
  'The server''s session_preload_libraries, whatever the current database and role have.';

CREATE FUNCTION dpquantile.is_library(entry text) RETURNS boolean
  LANGUAGE sql IMMUTABLE
  RETURN btrim(entry, ' "') ~ '^(.*/)?dpquantile(\.so)?$';
COMMENT ON FUNCTION dpquantile.is_library(text) IS
  'entry: of a list of libraries. Whether it is the library of this extension.';

CREATE FUNCTION dpquantile.store_libraries(role regrole, in_database text, libraries text) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  before CONSTANT text := current_setting('session_preload_libraries');
BEGIN
  IF EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'citus') THEN
    RAISE EXCEPTION 'roles cannot be restricted in a database with the extension citus'
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'The restrictions of the role would not hold on the workers.',
            HINT = 'Keep the role from the workers, for example in pg_hba.conf. What concerns its other databases, call in one without citus.';
  END IF;
  -- FROM CURRENT takes a whole list. A literal would have to be split.
  PERFORM set_config('session_preload_libraries', libraries, true);
  EXECUTE format('ALTER ROLE %s%s SET session_preload_libraries FROM CURRENT', role, in_database);
  PERFORM set_config('session_preload_libraries', before, true);
END
$$;
COMMENT ON FUNCTION dpquantile.store_libraries(regrole, text, text) IS
  'Stores session_preload_libraries for a role. in_database: empty or '' IN DATABASE name''; libraries: the list.';

CREATE FUNCTION @extschema@.dp_restrict_role(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  login CONSTANT regrole := dp_restrict_role.role;
  libraries text;
  refusal record;
  scope record;
BEGIN
  IF login IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = login) THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(login::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  IF NOT (SELECT r.rolcanlogin FROM pg_roles r WHERE r.oid = login) THEN
    RAISE EXCEPTION 'role % cannot be restricted: it cannot log in', login
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A session has the settings of the role that logs in, not those of roles that it is a member of.',
            HINT = 'Restrict each role that logs in.';
  END IF;
  SELECT m.oid::regrole AS member, CASE WHEN m.rolsuper THEN 'a superuser'
                                        WHEN m.rolcreaterole THEN 'a role with CREATEROLE'
                                        WHEN m.rolreplication THEN 'a role with REPLICATION'
                                        ELSE 'a predefined role' END AS reason
    INTO refusal
    FROM pg_roles m
   WHERE (m.rolsuper OR m.rolcreaterole OR m.rolreplication OR starts_with(m.rolname, 'pg_'))
     AND m.rolname <> 'pg_database_owner' AND pg_has_role(login, m.oid, 'MEMBER')
   ORDER BY m.oid <> login, m.rolname LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % cannot be restricted: it is %', login,
                    CASE WHEN refusal.member = login THEN refusal.reason
                         ELSE format('a member of %s, %s', refusal.member, refusal.reason) END
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Such a role reads data or statistics past any restriction, or can undo it.',
            HINT = 'Take the attribute or the membership away first.';
  END IF;
  SELECT p.parname AS name INTO refusal
    FROM pg_parameter_acl p
   WHERE p.parname IN ('session_preload_libraries', 'dpquantile.restricted', 'log_temp_files', 'temp_file_limit')
     AND has_parameter_privilege(login, p.parname, 'SET, ALTER SYSTEM')
   ORDER BY 1 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % cannot be restricted: it may set %', login, refusal.name
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('REVOKE SET, ALTER SYSTEM ON PARAMETER %s from the role, its roles or PUBLIC.', refusal.name);
  END IF;

  -- For all databases, and once more for each database whose own settings would have precedence or whose own
  -- libraries the settings for all databases would rescope.
  FOR scope IN
    SELECT '' AS clause, dpquantile.stored_setting(0, login, 'session_preload_libraries') AS libraries
    UNION ALL
    SELECT format(' IN DATABASE %I', d.datname),
           coalesce(dpquantile.stored_setting(d.oid, login, 'session_preload_libraries'),
                    dpquantile.stored_setting(0, login, 'session_preload_libraries'),
                    dpquantile.stored_setting(d.oid, 0, 'session_preload_libraries'))
      FROM pg_database d
     WHERE EXISTS (SELECT FROM pg_db_role_setting s WHERE s.setdatabase = d.oid AND s.setrole = login)
        OR dpquantile.stored_setting(d.oid, 0, 'session_preload_libraries') IS NOT NULL
  LOOP
    libraries := coalesce(scope.libraries, dpquantile.server_libraries());
    IF NOT EXISTS (SELECT FROM regexp_split_to_table(libraries, ',') AS e (entry) WHERE dpquantile.is_library(e.entry))
    THEN
      libraries := concat_ws(', ', nullif(libraries, ''), 'dpquantile');
    END IF;
    PERFORM dpquantile.store_libraries(login, scope.clause, libraries);
    EXECUTE format('ALTER ROLE %s%s SET dpquantile.restricted = on', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s SET log_temp_files = -1', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s SET temp_file_limit = -1', login, scope.clause);
  END LOOP;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_restrict_role(regrole) IS
  'Takes from a role the functions and settings by which PostgreSQL tells exact facts about data that the role cannot '
  'read: statistics, sizes, locks, numbers of rows in catalogs, EXPLAIN ANALYZE, log messages. role: a role that logs '
  'in. Holds for sessions that begin afterwards. For the data owner: restrict every untrusted login of the cluster, also '
  'one that may not call approved functions.';

CREATE FUNCTION @extschema@.dp_unrestrict_role(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  login CONSTANT regrole := dp_unrestrict_role.role;
  libraries text;
  scope record;
BEGIN
  FOR scope IN
    SELECT s.setdatabase AS database,
           CASE WHEN d.oid IS NULL THEN '' ELSE format(' IN DATABASE %I', d.datname) END AS clause
      FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase
     WHERE s.setrole = login
       AND dpquantile.stored_setting(s.setdatabase, login, 'dpquantile.restricted') IS NOT NULL
  LOOP
    SELECT string_agg(btrim(e.entry), ', ' ORDER BY e.number) INTO libraries
      FROM regexp_split_to_table(dpquantile.stored_setting(scope.database, login, 'session_preload_libraries'), ',')
           WITH ORDINALITY AS e (entry, number)
     WHERE NOT dpquantile.is_library(e.entry);
    -- dp_restrict_role has copied what the role would have without it.
    IF coalesce(libraries, '') IN ('', coalesce(dpquantile.stored_setting(scope.database, 0, 'session_preload_libraries'),
                                                dpquantile.server_libraries())) THEN
      EXECUTE format('ALTER ROLE %s%s RESET session_preload_libraries', login, scope.clause);
    ELSE
      PERFORM dpquantile.store_libraries(login, scope.clause, libraries);
    END IF;
    EXECUTE format('ALTER ROLE %s%s RESET dpquantile.restricted', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s RESET log_temp_files', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s RESET temp_file_limit', login, scope.clause);
  END LOOP;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % is not restricted', coalesce(login::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'In psql, \drds lists the settings of roles.';
  END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_unrestrict_role(regrole) IS
  'Takes the settings of dp_restrict_role back. role: a restricted role. Libraries that the role had besides stay in '
  'its session_preload_libraries. Holds for sessions that begin afterwards.';

-- ---------------------------------------------------------------------------------------------
-- Private access to protected tables
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.identifies_users(type oid, collation oid) RETURNS boolean
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_identifies_users';
COMMENT ON FUNCTION dpquantile.identifies_users(oid, oid) IS
  'type, collation: of a column. Whether the user argument of the private aggregates takes it. Tells nothing about any data.';

CREATE FUNCTION dpquantile.problem_of_predicate(index oid) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_problem_of_predicate';
COMMENT ON FUNCTION dpquantile.problem_of_predicate(oid) IS
  'index: a partial index. Which object of its predicate, that is not PostgreSQL''s own, has private queries of its table refused: a scan may '
  'evaluate it for rows. NULL if none does. Tells nothing about any data.';

CREATE FUNCTION dpquantile.unprotectable(relation regclass) RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH RECURSIVE tree (oid) AS (
      SELECT unprotectable.relation::oid
      UNION
      SELECT i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.oid)
    SELECT CASE
           WHEN c.oid < 16384 THEN 'it belongs to the system'
           WHEN EXISTS (SELECT FROM pg_catalog.pg_depend d
                          JOIN pg_catalog.pg_extension e ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid
                         WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
                           AND e.extname = 'dpquantile') THEN 'it belongs to the extension dpquantile'
           WHEN c.relkind = 'f' THEN 'it is a foreign table'
           WHEN c.relkind NOT IN ('r', 'p', 'm', 'v') THEN 'it is not a table, a view or a materialized view'
           WHEN c.relpersistence = 't' THEN 'it is temporary'
           WHEN c.relrowsecurity OR c.relforcerowsecurity THEN 'it has row security'
           WHEN EXISTS (SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) o
                         WHERE o.option_name = 'security_invoker' AND o.option_value::boolean)
             THEN 'it is a view with security_invoker'
           ELSE (SELECT CASE WHEN k.relkind = 'f' THEN format('its child %s is a foreign table', k.oid::regclass)
                             WHEN v.attnum IS NOT NULL
                             THEN format('column "%s"%s is a virtual generated column', v.attname,
                                         CASE WHEN k.oid <> c.oid THEN format(' of its child %s', k.oid::regclass) END)
                             ELSE dpquantile.problem_of_predicate(i.indexrelid) END
                   FROM tree t
                   JOIN pg_catalog.pg_class k ON k.oid = t.oid
                   LEFT JOIN pg_catalog.pg_attribute v ON v.attrelid = k.oid AND v.attgenerated = 'v' AND NOT v.attisdropped
                   LEFT JOIN pg_catalog.pg_index i ON i.indrelid = k.oid AND i.indpred IS NOT NULL
                                                  AND dpquantile.problem_of_predicate(i.indexrelid) IS NOT NULL
                  WHERE k.relkind = 'f' OR v.attnum IS NOT NULL OR i.indexrelid IS NOT NULL
                  ORDER BY k.oid, v.attnum, i.indexrelid LIMIT 1)
           END
      FROM pg_catalog.pg_class c WHERE c.oid = unprotectable.relation;
  END;
COMMENT ON FUNCTION dpquantile.unprotectable(regclass) IS
  'relation: a table or view. Why it cannot be protected, and why its private access is closed if it is; otherwise NULL. Tells '
  'nothing about any data.';

-- The planner expects many rows, for which it would compile the query.
CREATE FUNCTION dpquantile.tables_with_same_rows(relation regclass) RETURNS SETOF regclass
  LANGUAGE sql STABLE ROWS 2 SET jit = off
  BEGIN ATOMIC
    -- What the rows are read from: views read tables, and tables have the rows of their children.
    WITH RECURSIVE below (oid) AS (
      SELECT tables_with_same_rows.relation::oid
      UNION
      SELECT s.oid
        FROM below b
       CROSS JOIN LATERAL (
         SELECT d.refobjid
           FROM pg_catalog.pg_class c
           JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
           JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
                                      AND d.refclassid = 'pg_catalog.pg_class'::regclass
          WHERE c.oid = b.oid AND c.relkind IN ('v', 'm')
          UNION ALL
         SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = b.oid) s (oid)
    ), above (oid) AS (
      SELECT b.oid FROM below b
      UNION
      SELECT i.inhparent FROM above a JOIN pg_catalog.pg_inherits i ON i.inhrelid = a.oid)
    SELECT a.oid::regclass FROM above a WHERE a.oid <> tables_with_same_rows.relation;
  END;
COMMENT ON FUNCTION dpquantile.tables_with_same_rows(regclass) IS
  'relation: a table or view. The other tables that have some of its rows: parents, children, parents of children, and what a view '
  'reads. Tells nothing about any data.';

-- The planner expects many rows, for which it would compile the query.
CREATE FUNCTION dpquantile.own_right(relation regclass, role oid, OUT reason text, OUT remedy text)
  LANGUAGE sql STABLE SET jit = off
  BEGIN ATOMIC
    -- A table has rows of its parents and children, and a view has those of what it reads. The rows of catalogs are nobody's.
    WITH RECURSIVE scope AS (
      SELECT c.oid, c.oid::regclass AS name, c.relowner, c.relacl
        FROM pg_catalog.pg_class c
       WHERE c.oid = own_right.relation
          OR c.oid >= 16384 AND c.oid IN (SELECT s.relation FROM dpquantile.tables_with_same_rows(own_right.relation) s (relation))
    ), keyed (oid, is_referenced, has_rule, name) AS (
      -- A row that refers to a row of the table is accepted if this one exists; one that a row of the table refers to is locked,
      -- and cannot be changed. Tables and views that pass their changes on to such a table tell the same, and so do those that
      -- pass them on to the table itself.
      SELECT s.oid, false, false, s.name FROM scope s
      UNION
      SELECT o.oid, o.is_referenced, false, s.name
        FROM scope s
        JOIN pg_catalog.pg_constraint k ON k.contype = 'f' AND s.oid IN (k.conrelid, k.confrelid)
       CROSS JOIN LATERAL (VALUES (k.conrelid, false), (k.confrelid, true)) o (oid, is_referenced)
       WHERE s.oid = CASE WHEN o.is_referenced THEN k.conrelid ELSE k.confrelid END
      UNION
      SELECT n.oid, n.is_referenced, n.has_rule, t.name
        FROM keyed t
       CROSS JOIN LATERAL (SELECT i.inhparent, t.is_referenced, t.has_rule FROM pg_catalog.pg_inherits i WHERE i.inhrelid = t.oid
                           UNION ALL
                           SELECT k.confrelid, true, t.has_rule
                             FROM pg_catalog.pg_constraint k
                            WHERE k.contype = 'f' AND k.conrelid = t.oid
                              AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
                           UNION ALL
                           SELECT r.ev_class, t.is_referenced, true
                             FROM pg_catalog.pg_depend d
                             JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
                             JOIN pg_catalog.pg_class c ON c.oid = r.ev_class AND c.relkind <> 'm'
                            WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
                              AND d.refobjid = t.oid) n (oid, is_referenced, has_rule)
    ), used (classid, objid, name) AS (
      -- Whoever owns what a table is made of has it run his code over the rows.
      SELECT 'pg_catalog.pg_class'::regclass::oid, s.oid, s.name FROM scope s
      UNION
      SELECT n.classid, n.objid, u.name
        FROM used u
       CROSS JOIN LATERAL (SELECT d.classid, d.objid
                             FROM pg_catalog.pg_depend d
                            WHERE d.refclassid = u.classid AND d.refobjid = u.objid AND d.deptype IN ('a', 'i')
                              AND u.classid IN ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_type'::regclass)
                              AND d.classid <> 'pg_catalog.pg_publication_rel'::regclass
                           UNION ALL
                           SELECT d.refclassid, d.refobjid
                             FROM pg_catalog.pg_depend d WHERE d.classid = u.classid AND d.objid = u.objid) n (classid, objid)
       WHERE n.classid NOT IN ('pg_catalog.pg_namespace'::regclass, 'pg_catalog.pg_extension'::regclass)
         AND NOT (n.classid = 'pg_catalog.pg_class'::regclass
                  AND EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = n.objid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')))
    ), beside AS (
      -- Tables and sequences beside the table, and the rights on them that tell something of it.
      -- Rules and views work with the rights of their owner.
      SELECT c.oid, c.oid::regclass AS name, CASE WHEN NOT k.has_rule THEN c.relowner END AS holder, c.relowner, c.relacl,
             format(CASE WHEN k.has_rule THEN '%s, which writes %s or a table that a foreign key connects with it'
                         ELSE '%s, which a foreign key connects with %s' END, c.oid::regclass, k.name) AS what,
             CASE WHEN k.has_rule THEN '{INSERT,UPDATE,DELETE}'::text[]
                  WHEN k.is_referenced THEN '{UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER,MAINTAIN}' ELSE '{INSERT,UPDATE}' END AS rights
        FROM keyed k JOIN pg_catalog.pg_class c ON c.oid = k.oid
       WHERE k.oid NOT IN (SELECT oid FROM scope)
      UNION ALL
      SELECT DISTINCT c.oid, c.oid::regclass, c.relowner, c.relowner, c.relacl, format('%s, which numbers the rows of %s', c.oid::regclass, u.name),
             '{SELECT,USAGE,UPDATE}'::text[]
        FROM used u
        JOIN pg_catalog.pg_class c ON u.classid = 'pg_catalog.pg_class'::regclass AND c.oid = u.objid AND c.relkind = 'S'
    ), granted AS (
      SELECT f.oid, f.name, e.grantee, e.privilege_type, '' AS columns, 0 AS number
        FROM scope f CROSS JOIN pg_catalog.aclexplode(f.relacl) e WHERE e.grantee <> f.relowner
      UNION ALL
      SELECT f.oid, f.name, e.grantee, e.privilege_type, format(' (%I)', a.attname), a.attnum
        FROM scope f JOIN pg_catalog.pg_attribute a ON a.attrelid = f.oid AND NOT a.attisdropped
       CROSS JOIN pg_catalog.aclexplode(a.attacl) e WHERE e.grantee <> f.relowner
    ), others AS (
      -- Roles whose sessions are not those of the role. From PostgreSQL 16 on, some of their members neither have their rights nor may
      -- become them.
      SELECT r.oid FROM pg_catalog.pg_roles r
       WHERE NOT pg_catalog.pg_has_role(own_right.role, r.oid,
                                        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END)
    ), found AS (
      SELECT 1 AS sort, 0::oid AS table_oid, 0 AS number, m.oid AS holder, 'is a superuser' AS what, NULL AS remedy
        FROM pg_catalog.pg_roles m WHERE m.rolsuper
      UNION ALL
      SELECT 2, 0, 0, m.oid, 'has rights on all tables', NULL
        FROM pg_catalog.pg_roles m WHERE m.rolname IN ('pg_read_all_data', 'pg_write_all_data', 'pg_maintain')
      UNION ALL
      SELECT 3, f.oid, 0, f.relowner, format('owns %s', f.name), NULL FROM scope f
      UNION ALL
      SELECT 4, g.oid, g.number, g.grantee, format('has %s%s on %s', g.privilege_type, g.columns, g.name),
             format('REVOKE %s%s ON %s FROM %s;', g.privilege_type, g.columns, g.name,
                    CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END)
        FROM granted g
      UNION ALL
      SELECT 5, b.oid, 0, b.holder, format('owns %s', b.what), NULL FROM beside b
      UNION ALL
      SELECT 6, b.oid, e.number, e.grantee, format('has %s%s on %s', e.privilege_type, e.columns, b.what),
             format('REVOKE %s%s ON %s FROM %s;', e.privilege_type, e.columns, b.name,
                    CASE e.grantee WHEN 0 THEN 'PUBLIC' ELSE e.grantee::regrole::text END)
        FROM beside b
       CROSS JOIN LATERAL (SELECT x.grantee, x.privilege_type, '', 0
                             FROM pg_catalog.aclexplode(b.relacl) x
                           UNION ALL
                           SELECT x.grantee, x.privilege_type, format(' (%I)', a.attname), a.attnum
                             FROM pg_catalog.pg_attribute a CROSS JOIN pg_catalog.aclexplode(a.attacl) x
                            WHERE a.attrelid = b.oid AND NOT a.attisdropped) e (grantee, privilege_type, columns, number)
       WHERE e.grantee <> b.relowner AND e.privilege_type = ANY (b.rights)
      UNION ALL
      SELECT 7, u.objid, 0, o.refobjid, format('owns %s, which %s uses', pg_catalog.pg_describe_object(u.classid, u.objid, 0), u.name), NULL
        FROM used u
        JOIN pg_catalog.pg_database d ON d.datname = current_database()
        JOIN pg_catalog.pg_shdepend o ON o.dbid = d.oid AND o.classid = u.classid AND o.objid = u.objid AND o.objsubid = 0
                                     AND o.refclassid = 'pg_catalog.pg_authid'::regclass AND o.deptype = 'o'
       WHERE u.classid <> 'pg_catalog.pg_class'::regclass
      UNION ALL
      -- Code of the role that runs in the sessions of others: in triggers of their tables with their rights; in tables that refer to
      -- theirs, or are children of them, when they use these, with their rights or without the restriction.
      SELECT 8, 0, 0, d.datdba, 'owns the database, whose settings it may change for others', NULL
        FROM pg_catalog.pg_database d WHERE d.datname = current_database()
      UNION ALL
      -- No session reaches the temporary tables of another.
      SELECT 9, e.oid, e.number, e.grantee, format('has %s%s on %s, which would run its code in sessions of others', e.privilege_type, e.columns, e.oid::regclass),
             format('REVOKE %s%s ON %s FROM %s;', e.privilege_type, e.columns, e.oid::regclass,
                    CASE e.grantee WHEN 0 THEN 'PUBLIC' ELSE e.grantee::regrole::text END)
        FROM (SELECT c.oid, c.relowner, x.grantee, x.privilege_type, '', 0
                FROM pg_catalog.pg_class c CROSS JOIN pg_catalog.aclexplode(c.relacl) x
               WHERE c.relpersistence <> 't'
              UNION ALL
              SELECT c.oid, c.relowner, x.grantee, x.privilege_type, format(' (%I)', a.attname), a.attnum
                FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
               CROSS JOIN pg_catalog.aclexplode(a.attacl) x
               WHERE a.attacl IS NOT NULL AND NOT a.attisdropped AND c.relpersistence <> 't') e (oid, relowner, grantee, privilege_type, columns, number)
       WHERE e.privilege_type IN ('TRIGGER', 'REFERENCES') AND e.relowner IN (SELECT r.oid FROM others r)
      UNION ALL
      SELECT 10, c.oid, 0, p.proowner, format('owns %s, which trigger %I of %s runs in sessions of others', p.oid::regprocedure, t.tgname, c.oid::regclass), NULL
        FROM pg_catalog.pg_trigger t
        JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
        JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
       WHERE NOT t.tgisinternal AND c.relowner IN (SELECT r.oid FROM others r)
      UNION ALL
      SELECT 11, o.oid, 0, o.relowner,
             format('owns %s, which %s %s and so runs its code in sessions of others', o.oid::regclass, k.how, c.oid::regclass), NULL
        FROM (SELECT f.conrelid, f.confrelid, 'refers to' FROM pg_catalog.pg_constraint f WHERE f.contype = 'f'
              UNION ALL
              SELECT i.inhrelid, i.inhparent, 'is a child of' FROM pg_catalog.pg_inherits i) k (oid, other, how)
        JOIN pg_catalog.pg_class o ON o.oid = k.oid
        JOIN pg_catalog.pg_class c ON c.oid = k.other
       WHERE c.relowner IN (SELECT r.oid FROM others r))
    SELECT CASE f.holder WHEN 0 THEN 'PUBLIC ' WHEN own_right.role THEN 'it '
                         ELSE format('it is a member of %s, which ', f.holder::regrole) END || f.what,
           coalesce(f.remedy, (SELECT format('REVOKE %s FROM %s;', m.roleid::regrole, m.member::regrole)
                                 FROM pg_catalog.pg_auth_members m
                                WHERE m.roleid = f.holder AND m.member = own_right.role LIMIT 1))
      FROM found f
     WHERE f.holder IN (0, own_right.role) OR pg_catalog.pg_has_role(own_right.role, f.holder, 'MEMBER')
     ORDER BY f.holder <> own_right.role, f.sort, f.table_oid <> own_right.relation, f.table_oid, f.number, f.what LIMIT 1;
  END;
COMMENT ON FUNCTION dpquantile.own_right(regclass, oid) IS
  'relation: a table or view; role: an OID. reason: a right of the role, of its own or as a member of other roles, by which it '
  'learns exact facts about the table without private queries, NULL if it has none, also one on tables and sequences beside it, or '
  'what it owns of what the table is made of, or by which its code runs in sessions of others; remedy: how to take it away. Tells nothing '
  'about any data.';

-- The planner expects many rows, for which it would compile the query.
CREATE FUNCTION dpquantile.rights_of_members(relation regclass, role oid) RETURNS TABLE (member oid, reason text, remedy text)
  LANGUAGE sql STABLE SET jit = off
  BEGIN ATOMIC
    -- Members that nobody has given anything, neither themselves nor by other roles, have the rights of the role. From PostgreSQL 16
    -- on there are members that neither have these nor may become a role with them, such as who has made it.
    SELECT m.oid, o.reason, o.remedy
      FROM pg_catalog.pg_roles m
     CROSS JOIN LATERAL dpquantile.own_right(rights_of_members.relation, m.oid) o
     WHERE m.rolcanlogin AND m.oid <> rights_of_members.role
       AND EXISTS (SELECT FROM pg_catalog.pg_roles n
                    WHERE NOT n.rolsuper AND pg_catalog.pg_has_role(n.oid, rights_of_members.role, 'USAGE')
                      AND pg_catalog.pg_has_role(m.oid, n.oid,
                                                 CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END))
       AND NOT pg_catalog.has_table_privilege(m.oid, rights_of_members.relation, 'SELECT')
       AND EXISTS (SELECT FROM pg_catalog.pg_roles g
                    WHERE pg_catalog.pg_has_role(m.oid, g.oid, 'MEMBER') AND NOT pg_catalog.pg_has_role(rights_of_members.role, g.oid, 'MEMBER')
                      AND (g.oid < 16384 OR EXISTS (SELECT FROM pg_catalog.pg_shdepend d
                                                     WHERE d.refclassid = 'pg_catalog.pg_authid'::regclass AND d.refobjid = g.oid)))
       AND o.reason IS NOT NULL AND o.reason NOT LIKE 'PUBLIC %'
     ORDER BY m.rolname;
  END;
COMMENT ON FUNCTION dpquantile.rights_of_members(regclass, oid) IS
  'relation: a table or view; role: the OID of a role with private access to it. The members that log in, cannot read it, and have '
  'a right as in dpquantile.own_right. Tells nothing about any data.';

CREATE FUNCTION dpquantile.table_with_other_users(relation regclass, user_column name) RETURNS regclass
  LANGUAGE C STABLE
  AS 'MODULE_PATHNAME', 'dpq_table_with_other_users';
COMMENT ON FUNCTION dpquantile.table_with_other_users(regclass, name) IS
  'relation: a materialized view, or a view of one; user_column: of its users, NULL if it protects rows. The protected table because '
  'of whose users its private access is closed, otherwise NULL. Tells nothing about any data.';

CREATE FUNCTION dpquantile.unrestricted_code() RETURNS text
  LANGUAGE C STABLE
  AS 'MODULE_PATHNAME', 'dpq_unrestricted_code';
COMMENT ON FUNCTION dpquantile.unrestricted_code() IS
  'Which restricted role owns a table or may create one, here or in another database, so that autovacuum would run its code '
  'without the library; NULL if none, or if the library is in shared_preload_libraries. Tells nothing about any data.';

CREATE FUNCTION dpquantile.is_restricted(role oid) RETURNS boolean
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT coalesce(dpquantile.stored_setting(d.oid, is_restricted.role, 'dpquantile.restricted'),
                    dpquantile.stored_setting(0, is_restricted.role, 'dpquantile.restricted')) = 'on'
           AND EXISTS (SELECT FROM regexp_split_to_table(
                                     coalesce(dpquantile.stored_setting(d.oid, is_restricted.role, 'session_preload_libraries'),
                                              dpquantile.stored_setting(0, is_restricted.role, 'session_preload_libraries')),
                                     ',') AS e (entry)
                        WHERE dpquantile.is_library(e.entry))
      FROM pg_catalog.pg_database d WHERE d.datname = current_database();
  END;
COMMENT ON FUNCTION dpquantile.is_restricted(oid) IS
  'role: an OID. Whether dp_restrict_role has restricted its sessions in this database. Tells nothing about any data.';

CREATE FUNCTION dpquantile.set_protection(relation regclass, user_id name, max_rows integer, unit name, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_protection.relation;
  refusal CONSTANT text := dpquantile.unprotectable(set_protection.relation);
  user_column pg_attribute;
  other record;
  before dpquantile.protected_table;
BEGIN
  PERFORM dpquantile.check_version();
  IF refusal IS NOT NULL THEN
    RAISE EXCEPTION '% cannot be protected: %', asked, refusal
      USING ERRCODE = 'wrong_object_type',
            HINT = 'Tables, partitioned tables, materialized views and views can be protected. They must not be temporary or '
                   'have row security, foreign children, virtual generated columns, partial indexes by functions that are not PostgreSQL''s own, or the option security_invoker.';
  END IF;
  IF set_protection.max_rows IS NOT NULL AND set_protection.user_id IS NULL THEN
    RAISE EXCEPTION 'max_rows limits the rows of each user, and user_id is NULL'
      USING ERRCODE = 'invalid_parameter_value',
            HINT = format('Name the column that names the user: SELECT dp_protect_table(%L, user_id => ..., max_rows => %s).',
                          asked, set_protection.max_rows);
  ELSIF NOT set_protection.max_rows BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'max_rows must be between 1 and 1000, got %', set_protection.max_rows
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is how many rows of each user a query sees. Each gets a part of the epsilon.';
  END IF;
  IF set_protection.unit IS NOT NULL AND set_protection.user_id IS NULL THEN
    RAISE EXCEPTION 'unit says what the users are, and user_id is NULL'
      USING ERRCODE = 'invalid_parameter_value',
            HINT = format('Name the column that names the user: SELECT dp_protect_table(%L, user_id => ..., unit => %L).',
                          asked, set_protection.unit);
  ELSIF set_protection.unit = '' THEN
    RAISE EXCEPTION 'unit must be a name, got an empty one'
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Name what the column of users names, such as patient, or leave it out.';
  END IF;
  IF set_protection.user_id IS NOT NULL THEN
    SELECT * INTO user_column FROM pg_attribute a
     WHERE a.attrelid = asked AND a.attname = set_protection.user_id AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
      RAISE EXCEPTION '% has no column "%"', asked, set_protection.user_id
        USING ERRCODE = 'undefined_column',
              HINT = format('Its columns are: %s.',
                            (SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_attribute a
                              WHERE a.attrelid = asked AND a.attnum > 0 AND NOT a.attisdropped));
    END IF;
    IF NOT dpquantile.identifies_users(user_column.atttypid, user_column.attcollation) THEN
      RAISE EXCEPTION 'column "%" of % cannot name users: it is of type %', set_protection.user_id, asked,
                      format_type(user_column.atttypid, user_column.atttypmod)
        USING ERRCODE = 'datatype_mismatch',
              HINT = 'A user is named by an identifier, for example of type text, bigint or uuid.';
    END IF;
  END IF;
  -- A column has one name in all parents and children; a view may give it another one.
  FOR other IN
    SELECT t.relation, t.user_column FROM dpquantile.tables_with_same_rows(asked) s (relation)
      JOIN dpquantile.protected_table t ON t.relation = s.relation
     WHERE CASE WHEN set_protection.user_id IS NULL OR t.user_column IS NULL THEN t.user_column IS DISTINCT FROM set_protection.user_id
                ELSE t.user_column <> set_protection.user_id
                     AND (SELECT c.relkind FROM pg_class c WHERE c.oid = asked) IN ('r', 'p') END
     ORDER BY t.user_column IS NULL, t.relation
  LOOP
    IF set_protection.user_id IS NULL THEN
      RAISE EXCEPTION '% cannot be protected without user_id: its rows are those of %, which protects all rows of a user', asked, other.relation
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = format('Name the column that names the user: SELECT dp_protect_table(%L, user_id => ...).', asked);
    ELSIF other.user_column IS NOT NULL THEN
      RAISE EXCEPTION '% cannot be protected with user_id %: its rows are those of %, which protects all rows of a user of column "%"',
                      asked, set_protection.user_id, other.relation, other.user_column
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = format('Name the same column: SELECT dp_protect_table(%L, user_id => %L).', asked, other.user_column);
    END IF;
    RAISE NOTICE 'private access to % is closed: its rows are also rows of %, which protects all rows of a user', other.relation, asked
      USING HINT = format('Protect it with the same column: SELECT dp_protect_table(%L, user_id => %L).', other.relation,
                          set_protection.user_id);
  END LOOP;

  INSERT INTO dpquantile.protected_table (relation, user_column, max_rows, unit)
  VALUES (asked, set_protection.user_id, set_protection.max_rows, set_protection.unit)
  ON CONFLICT ON CONSTRAINT protected_table_pkey DO NOTHING;
  IF FOUND THEN
    -- Of rows that somebody has deleted from the table of protected tables
    DELETE FROM dpquantile.private_grant g WHERE g.relation = asked;
    DELETE FROM dpquantile.failed_read f WHERE f.relation = asked;
    DELETE FROM dpquantile.column_domain d WHERE d.relation = asked;
    PERFORM dpquantile.note_table_name(asked);
    RETURN;
  END IF;
  SELECT * INTO STRICT before FROM dpquantile.protected_table t WHERE t.relation = asked FOR UPDATE;
  IF (before.user_column, before.user_number) IS NOT DISTINCT FROM (user_column.attname, user_column.attnum) THEN
    IF (before.max_rows, before.unit) IS NOT DISTINCT FROM (set_protection.max_rows, set_protection.unit) THEN
      RAISE NOTICE '% is protected already', asked;
      RETURN;
    END IF;
    UPDATE dpquantile.protected_table AS t SET max_rows = set_protection.max_rows, unit = set_protection.unit WHERE t.relation = asked;
    IF before.max_rows IS DISTINCT FROM set_protection.max_rows THEN
      RAISE NOTICE '% is protected with max_rows % now; until now %', asked, coalesce(set_protection.max_rows::text, 'NULL'),
                   coalesce(before.max_rows::text, 'NULL');
    END IF;
    IF before.unit IS DISTINCT FROM set_protection.unit THEN
      RAISE NOTICE '% is protected with unit % now; until now %', asked, coalesce(set_protection.unit, 'NULL'),
                   coalesce(before.unit, 'NULL');
    END IF;
    RETURN;
  END IF;
  -- What is granted must not become more than what its owner has granted: all rows of a user are more than one row, and the
  -- users of two columns have nothing in common.
  IF user_column.attname IS NULL
     OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = asked AND a.attnum = before.user_number AND NOT a.attisdropped)
  THEN
    RAISE EXCEPTION '% is protected already, with user_id %', asked, before.user_column
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('To change it, SELECT dp_unprotect_table(%L); this ends all private access. Then protect it again.', asked);
  END IF;
  UPDATE dpquantile.protected_table AS t
     SET user_column = user_column.attname, user_number = user_column.attnum, max_rows = set_protection.max_rows,
         unit = set_protection.unit
   WHERE t.relation = asked;
  RAISE NOTICE '% is protected with user_id % now; until now %', asked, user_column.attname,
               CASE WHEN before.user_column IS NULL THEN 'each row was protected by itself'
                    ELSE format('with a column "%s" that is gone', before.user_column) END;
END
$$;

CREATE FUNCTION dpquantile.end_protection(relation regclass, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  DELETE FROM dpquantile.protected_table t WHERE t.relation = end_protection.relation;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', end_protection.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists the protected tables.';
  END IF;
  DELETE FROM dpquantile.private_grant g WHERE g.relation = end_protection.relation;
  DELETE FROM dpquantile.failed_read f WHERE f.relation = end_protection.relation;
  DELETE FROM dpquantile.column_domain d WHERE d.relation = end_protection.relation;
END
$$;

CREATE FUNCTION dpquantile.set_private_grant(relation regclass, role regrole, smallest_epsilon float8, epsilon float8,
                                             delta float8, reuse interval, most_cancels integer, caller oid)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_private_grant.relation;
  grantee pg_roles;
  own record;
BEGIN
  PERFORM dpquantile.check_version();
  IF EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'citus') THEN
    RAISE EXCEPTION 'private access cannot be granted in a database with the extension citus'
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'The restrictions of the role would not hold on the workers.',
            HINT = 'Wrap a query in a function with SECURITY DEFINER, or keep the protected tables in a database without citus.';
  END IF;
  PERFORM FROM dpquantile.protected_table t WHERE t.relation = asked FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', asked
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Protect it first: SELECT dp_protect_table(%L);', asked);
  END IF;
  SELECT * INTO grantee FROM pg_roles r WHERE r.oid = set_private_grant.role;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(set_private_grant.role::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  IF NOT coalesce(set_private_grant.smallest_epsilon > 0 AND set_private_grant.smallest_epsilon <= 100, false) THEN
    RAISE EXCEPTION 'smallest_epsilon must be above 0 and at most 100, got %',
                    coalesce(set_private_grant.smallest_epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'An aggregate with a smaller epsilon is refused. Leave it out for 0.01.';
  END IF;
  IF NOT coalesce(set_private_grant.epsilon >= set_private_grant.smallest_epsilon AND set_private_grant.epsilon <= 100, true) THEN
    RAISE EXCEPTION 'epsilon must be from smallest_epsilon, which is %, to 100, got %', set_private_grant.smallest_epsilon,
                    set_private_grant.epsilon
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is what each standard aggregate costs, such as count(*). Without it only private aggregates may be asked.';
  END IF;
  IF set_private_grant.delta IS NOT NULL
     AND NOT (set_private_grant.delta > 0 AND set_private_grant.delta < 1 AND set_private_grant.epsilon IS NOT NULL) THEN
    RAISE EXCEPTION 'delta must be above 0 and below 1, beside an epsilon, got % beside %', set_private_grant.delta,
                    coalesce(set_private_grant.epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is what the choice of groups costs, where the keys of GROUP BY come from the rows. It should be far below one '
                   'over the number of rows.';
  END IF;
  IF set_private_grant.reuse IS NOT NULL
     AND NOT coalesce(set_private_grant.reuse > '0' AND set_private_grant.reuse <= '10 years', false) THEN
    RAISE EXCEPTION 'reuse must be above 0 and at most 10 years, got %', set_private_grant.reuse
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is how long answers are shown again without a charge, for example ''1 day''.';
  END IF;
  IF NOT coalesce(set_private_grant.most_cancels >= 0, false) THEN
    RAISE EXCEPTION 'most_cancels must be 0 or more, got %', coalesce(set_private_grant.most_cancels::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is how many queries may end early while they read rows. Leave it out for 100.';
  END IF;
  SELECT * INTO own FROM dpquantile.own_right(asked, grantee.oid);
  IF own.reason IS NOT NULL THEN
    RAISE EXCEPTION 'role % cannot have private access to %: %', grantee.oid::regrole, asked, own.reason
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'With this right it learns exact facts about the table without private queries.',
            HINT = coalesce('Take it away first: ' || own.remedy, 'Take it away first, or grant private access to another role.');
  END IF;
  SELECT * INTO own FROM dpquantile.rights_of_members(asked, grantee.oid) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % cannot have private access to %: its member %', grantee.oid::regrole, asked, own.member::regrole || substr(own.reason, 3)
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'With this right the member learns exact facts about the table without private queries.',
            HINT = coalesce('Take it away first: ' || own.remedy, 'Take it away first, or take the member from the role.');
  END IF;
  IF grantee.rolcanlogin AND NOT dpquantile.is_restricted(grantee.oid) THEN
    IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = set_private_grant.caller) THEN
      RAISE EXCEPTION 'role % cannot have private access to %: it is not restricted', grantee.oid::regrole, asked
        USING ERRCODE = 'object_not_in_prerequisite_state',
              DETAIL = 'Its sessions could read exact facts about the table from statistics.',
              HINT = format('An administrator restricts it: SELECT dp_restrict_role(%L);', grantee.oid::regrole);
    END IF;
    PERFORM @extschema@.dp_restrict_role(grantee.oid::regrole);
    RAISE NOTICE 'role % is now restricted, in sessions that begin from now on', grantee.oid::regrole
      USING HINT = 'dp_unrestrict_role takes it back, and closes private access.';
  END IF;

  -- What was granted under an earlier name of the role is closed.
  DELETE FROM dpquantile.private_grant g
   WHERE g.relation = asked AND g.grantee_oid = grantee.oid AND g.grantee <> grantee.rolname;
  INSERT INTO dpquantile.private_grant AS g (relation, grantee, grantee_oid, smallest_epsilon, epsilon, delta, reuse, most_cancels,
                                             granted_by)
  VALUES (asked, grantee.rolname, grantee.oid, set_private_grant.smallest_epsilon, set_private_grant.epsilon,
          set_private_grant.delta, set_private_grant.reuse, set_private_grant.most_cancels, (SELECT r.rolname FROM pg_roles r WHERE r.oid = set_private_grant.caller))
  ON CONFLICT ON CONSTRAINT private_grant_pkey DO UPDATE
     SET grantee_oid = excluded.grantee_oid, smallest_epsilon = excluded.smallest_epsilon, epsilon = excluded.epsilon,
         delta = excluded.delta, reuse = excluded.reuse, most_cancels = excluded.most_cancels,
         granted_at = excluded.granted_at, granted_by = excluded.granted_by;
END
$$;

CREATE FUNCTION dpquantile.end_private_grant(relation regclass, role text, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  names CONSTANT text[] := parse_ident(end_private_grant.role);
BEGIN
  PERFORM dpquantile.check_version();
  DELETE FROM dpquantile.private_grant g
   WHERE g.relation = end_private_grant.relation AND names = ARRAY[g.grantee::text];
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no private access to %', coalesce(end_private_grant.role, 'NULL'),
                    end_private_grant.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists who has it.';
  END IF;
END
$$;

CREATE FUNCTION dpquantile.open_private_access(relation regclass, role regrole, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  IF NOT EXISTS (SELECT FROM dpquantile.protected_table t WHERE t.relation = open_private_access.relation) THEN
    RAISE EXCEPTION '% is not protected', open_private_access.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists the protected tables.';
  END IF;
  IF open_private_access.role IS NULL THEN
    RAISE EXCEPTION 'role must be an existing role, got NULL'
      USING ERRCODE = 'undefined_object',
            HINT = 'Column problem of dp_protected_tables names the role whose access is closed.';
  END IF;
  DELETE FROM dpquantile.failed_read f
   WHERE f.relation = open_private_access.relation AND f.grantee_oid = open_private_access.role;
  IF NOT FOUND THEN
    RAISE NOTICE 'no query of role % over % has ended early', open_private_access.role, open_private_access.relation
      USING HINT = 'Column problem of dp_protected_tables names the role whose access is closed.';
  END IF;
END
$$;

CREATE FUNCTION dpquantile.set_domain(relation regclass, column_name name, column_type regtype, lower text, upper text,
                                      granularity text, keys text[]) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_domain.relation;
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM FROM dpquantile.protected_table t WHERE t.relation = asked FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', asked
      USING ERRCODE = 'undefined_object',
            HINT = format('Protect it first: SELECT dp_protect_table(%L);', asked);
  END IF;
  -- Of a column that has had another type, or is another one of the same name, all is forgotten.
  DELETE FROM dpquantile.column_domain d
   WHERE d.relation = asked AND d.column_name = set_domain.column_name
     AND (d.column_type <> set_domain.column_type
          OR d.column_number <> (SELECT a.attnum FROM pg_attribute a
                                  WHERE a.attrelid = asked AND a.attname = set_domain.column_name AND NOT a.attisdropped));
  INSERT INTO dpquantile.column_domain AS d (relation, column_name, column_type, lower, upper, granularity, keys)
  VALUES (asked, set_domain.column_name, set_domain.column_type, set_domain.lower, set_domain.upper, set_domain.granularity,
          set_domain.keys)
  ON CONFLICT ON CONSTRAINT column_domain_pkey DO UPDATE
     SET column_number = excluded.column_number,
         lower = CASE WHEN excluded.keys IS NULL THEN excluded.lower ELSE d.lower END,
         upper = CASE WHEN excluded.keys IS NULL THEN excluded.upper ELSE d.upper END,
         granularity = CASE WHEN excluded.keys IS NULL THEN excluded.granularity ELSE d.granularity END,
         keys = coalesce(excluded.keys, d.keys);
END
$$;

CREATE FUNCTION dpquantile.end_domain(relation regclass, column_name name) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  PERFORM dpquantile.check_version();
  DELETE FROM dpquantile.column_domain d
   WHERE d.relation = end_domain.relation AND d.column_name = end_domain.column_name;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'column "%" of % has no domain', coalesce(end_domain.column_name, 'NULL'), end_domain.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists the domains.';
  END IF;
END
$$;

COMMENT ON FUNCTION dpquantile.set_domain(regclass, name, regtype, text, text, text, text[]) IS
  'What dp_set_domain does for the owner of the table. The texts are canonical. Bounds replace bounds, keys replace keys.';
COMMENT ON FUNCTION dpquantile.end_domain(regclass, name) IS 'What dp_drop_domain does for the owner of the table.';
COMMENT ON FUNCTION dpquantile.set_protection(regclass, name, integer, name, oid) IS 'What dp_protect_table does for caller.';
COMMENT ON FUNCTION dpquantile.end_protection(regclass, oid) IS 'What dp_unprotect_table does for caller.';
COMMENT ON FUNCTION dpquantile.open_private_access(regclass, regrole, oid) IS 'What dp_open_private_access does for caller.';
COMMENT ON FUNCTION dpquantile.set_private_grant(regclass, regrole, float8, float8, float8, interval, integer, oid) IS 'What dp_grant_private_access does for caller.';
COMMENT ON FUNCTION dpquantile.end_private_grant(regclass, text, oid) IS 'What dp_revoke_private_access does for caller.';

CREATE FUNCTION dpquantile.limited_row(user_id "any", max_rows integer) RETURNS boolean
  LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dpq_limited_row';
COMMENT ON FUNCTION dpquantile.limited_row("any", integer) IS
  'user_id: the user of a row; max_rows: a number. A condition that queries over protected tables get: true for at most max_rows rows '
  'of each user. A node of the plan gives its value; called itself, it is an error.';

CREATE FUNCTION @extschema@.dp_protect_table(relation regclass, user_id name DEFAULT NULL, max_rows integer DEFAULT NULL,
                                              unit name DEFAULT NULL) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_protect_table';
COMMENT ON FUNCTION @extschema@.dp_protect_table(regclass, name, integer, name) IS
  'Protects a table: a role that has private access to it (dp_grant_private_access), and no other right, may ask it exactly the '
  'queries whose answers are differentially private. Nothing changes for other roles. relation: a table, partitioned table, '
  'materialized view or view without row security; user_id: the column that names the user, if a user may have several rows; '
  'then only aggregates that protect all rows of a user are allowed, with this column as the user (default: NULL, each row is '
  'protected); max_rows: how many rows of each user a SELECT sees, 1 to 1000, chosen at random; then all other aggregates except those '
  'with a delta are allowed, too, and answer with epsilon / max_rows for each row, so that all rows of a user are protected with '
  'epsilon (default: NULL, they are refused); unit: a name for what user_id names, such as patient: a query may join the tables '
  'of one owner with the same unit by these columns, and then sees as many rows of each user as one of the tables allows, and '
  'protects the rows of a user in all of them together (default: NULL, no such joins). For the owner of the table.';

CREATE FUNCTION @extschema@.dp_unprotect_table(relation regclass) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_unprotect_table';
COMMENT ON FUNCTION @extschema@.dp_unprotect_table(regclass) IS
  'Ends the protection of a table, and all private access to it: then only roles with a right of their own may use it. relation: '
  'a protected table. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_grant_private_access(relation regclass, role regrole, smallest_epsilon float8 DEFAULT 0.01,
                                                     epsilon float8 DEFAULT NULL, delta float8 DEFAULT NULL,
                                                     reuse interval DEFAULT NULL, most_cancels integer DEFAULT 100)
  RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_grant_private_access';
COMMENT ON FUNCTION @extschema@.dp_grant_private_access(regclass, regrole, float8, float8, float8, interval, integer) IS
  'Lets a role ask private queries of a protected table, in restricted sessions and within its budget. relation: a protected '
  'table; role: a role without any right on the table; one that logs in must be restricted (dp_restrict_role), which this '
  'function does itself for a superuser; not PUBLIC; members of a role have its private access; smallest_epsilon: an aggregate '
  'with a smaller epsilon is refused, above 0 and at most 100 (default: 0.01); epsilon: lets the role also ask standard aggregates, '
  'such as count(*) and avg(salary), each at this price (default: NULL, only private aggregates); delta: lets it group by keys '
  'that come from the rows, each query at epsilon and this delta more (default: NULL, only by public keys); reuse: how long the answers of a query are shown again, '
  'without a charge, when the role asks it once more (default: NULL, each query is charged); most_cancels: how many queries of the role may be cancelled, or '
  'run out of time or memory, while they read rows, before its private access closes until dp_open_private_access: each may tell one bit '
  '(default: 100). A second grant to the role replaces the first. '
  'The grant holds for this role: it is closed if the role is renamed, or dropped and made again. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_open_private_access(relation regclass, role regrole) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_open_private_access';
COMMENT ON FUNCTION @extschema@.dp_open_private_access(regclass, regrole) IS
  'Opens private access again that has closed because a query failed, or many were cancelled, while they read rows, and counts from 0. '
  'relation: a protected table; role: the role that asked (dp_protected_tables names it). Look first at the server log, which has the error: it may '
  'be raised by some rows only, and then each query that meets it tells its user one exact fact about them. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_forget_answers(relation regclass) RETURNS integer
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_forget_answers';
COMMENT ON FUNCTION @extschema@.dp_forget_answers(regclass) IS
  'Forgets all answers over a protected table that are kept for reuse (dp_grant_private_access), so that the next queries are charged. '
  'relation: a protected table. Returns the number of answers. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_revoke_private_access(relation regclass, role text) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_revoke_private_access';
COMMENT ON FUNCTION @extschema@.dp_revoke_private_access(regclass, text) IS
  'Takes back what dp_grant_private_access has granted. relation: a protected table; role: the name of a role, as in SQL, also if '
  'the role is gone. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_revoke_private_access(relation regclass, role regrole) RETURNS void
  LANGUAGE sql VOLATILE
  BEGIN ATOMIC
    SELECT @extschema@.dp_revoke_private_access(dp_revoke_private_access.relation, dp_revoke_private_access.role::text);
  END;
COMMENT ON FUNCTION @extschema@.dp_revoke_private_access(regclass, regrole) IS
  'Takes back what dp_grant_private_access has granted. relation: a protected table; role: a role. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, lower anycompatible, upper anycompatible,
                                           granularity text DEFAULT NULL) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_bounds';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatible, anycompatible, text) IS
  'States the publicly known bounds of a column of a protected table. Values outside count as the nearer bound. relation: a '
  'protected table; column_name: a column of numbers, dates or times; lower, upper: values of its type, lower below upper; '
  'granularity: the step of the values, a number or an interval above 0 (default: NULL, the default of the aggregate). The bounds '
  'are public: choose them without looking at the data. They replace the bounds that the column had. For the owner of the table.';
CREATE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, lower anycompatible, upper anycompatible,
                                           granularity float8) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_bounds';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatible, anycompatible, float8) IS
  'States the publicly known bounds of a column of a protected table. Values outside count as the nearer bound. relation: a '
  'protected table; column_name: a column of numbers or dates; lower, upper: values of its type, lower below upper; granularity: the '
  'step of the values, a number above 0 (of days, for dates). The bounds are public: choose them without looking at the data. They '
  'replace the bounds that the column had. For the owner of the table.';
CREATE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, lower anycompatible, upper anycompatible,
                                           granularity interval) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_bounds';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatible, anycompatible, interval) IS
  'States the publicly known bounds of a column of a protected table. Values outside count as the nearer bound. relation: a '
  'protected table; column_name: a column of dates or times; lower, upper: values of its type, lower below upper; granularity: the '
  'step of the values. The bounds are public: choose them without looking at the data. They replace the bounds that the column '
  'had. For the owner of the table.';
CREATE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, keys anycompatiblearray) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_keys';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatiblearray) IS
  'Lists the keys by which private queries may group a protected table. relation: a protected table; column_name: a column of a '
  'type with equality and order; keys: 1 to 1000 different values of its type, none NULL. Rows with other values are in no group. '
  'The list is public: choose it without looking at the data. It replaces the list that the column had. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_drop_domain(relation regclass, column_name name) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_drop_domain';
COMMENT ON FUNCTION @extschema@.dp_drop_domain(regclass, name) IS
  'Takes back the bounds and the keys that dp_set_domain has given a column. relation: a protected table; column_name: one of its '
  'columns. For the owner of the table.';

CREATE FUNCTION @extschema@.dp_explain(query text, rows bigint DEFAULT 1000, OUT private_aggregate text, OUT method text,
                                        OUT epsilon float8, OUT delta float8, OUT rho float8, OUT charged_for text,
                                        OUT expected_error float8, OUT error_in text, OUT problem text, OUT tables text[],
                                        OUT longest_value integer)
  RETURNS SETOF record
  LANGUAGE C VOLATILE ROWS 5 AS 'MODULE_PATHNAME', 'dpq_explain';
COMMENT ON FUNCTION @extschema@.dp_explain(text, bigint) IS
  'What a query would cost: a row for each private aggregate in it, also for those that would answer in the place of standard ones; or '
  'one row with the problem, if the query is refused. query: one SELECT, without parameters; rows: a public guess of the number of rows '
  'of a group, from 1 to 2^40. private_aggregate: its name; '
  'method: how it is computed; epsilon, delta, rho: its price, under its own neighbour relation; charged_for: what is charged that much; '
  'expected_error: the mean absolute error of an answer on so many rows, of dp_stats that of the mean, of dp_cdf the 95 % error of all its counts at once, of '
  'several quantiles the largest, of dp_keep_group the rows with which a group is always shown (NULL if it depends on more); error_in: its unit (ranks are rows between a quantile and the answer; "at most" '
  'stands at means and spreads, whose error is that of the worst values); problem: '
  'why the query is refused, and what would be accepted; tables: the protected tables that its rows are of: budgets for them (dp_budget) are '
  'charged the same as the general budget, NULL for other rows; longest_value: bytes: a longer text, bytea, array or string of bits of a row, and a numeric '
  'of more than 400 digits, counts as NULL where the query computes with it, compares or groups by it (NULL: it does so with none). Reads no data and costs no budget.';

CREATE FUNCTION @extschema@.dp_private_query(query text) RETURNS text
  LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'dpq_private_query';
COMMENT ON FUNCTION @extschema@.dp_private_query(text) IS
  'The query with private aggregates in the place of the standard ones over protected tables, as it would be asked. query: one SELECT, '
  'without parameters. Reads no data and costs no budget.';

CREATE FUNCTION @extschema@.dp_error_of(answer anyelement) RETURNS float8
  LANGUAGE C STABLE AS 'MODULE_PATHNAME', 'dpq_error_of';
COMMENT ON FUNCTION @extschema@.dp_error_of(anyelement) IS
  'The error of a standard aggregate over a protected table, from the same release and for the same price: the answer is within it of the '
  'one without noise with a probability of 95 %. answer: count, sum, avg, variance, stddev, percentile_cont or percentile_disc, as dp_error_of(avg(salary)); that of a '
  'percentile includes the rounding of values to the granularity of their domain, and is the distance to the farther bound if the noise leaves no rows; that of '
  'count(DISTINCT x) does not include values that have one hash (dp_count_distinct). Where '
  'max_rows leaves out rows of some persons, the one without noise is that of the rows that were seen: which those are adds to the error, to a count at most its '
  'square root as the standard deviation. Costs no budget of its own.';

CREATE VIEW dpquantile.column_domains WITH (security_barrier) AS
  SELECT d.relation, d.column_name,
         concat_ws('; ', d.lower || ' to ' || d.upper || coalesce(' by ' || d.granularity, ''),
                   CASE WHEN cardinality(d.keys) <= 20 THEN d.keys::text
                        WHEN d.keys IS NOT NULL THEN format('%s and so on, %s keys', trim_array(d.keys, cardinality(d.keys) - 20), cardinality(d.keys))
                   END) AS domain,
         CASE WHEN a.attnum IS NULL THEN format('column "%s" is gone', d.column_name)
              WHEN a.atttypid <> d.column_type
                THEN format('column "%s" was of type %s when its domain was set', d.column_name, d.column_type) END AS problem
    FROM dpquantile.column_domain d
    LEFT JOIN pg_attribute a ON a.attrelid = d.relation AND a.attnum = d.column_number AND a.attname = d.column_name
                            AND NOT a.attisdropped;
COMMENT ON VIEW dpquantile.column_domains IS
  'What is publicly known of columns, to be read by people. problem: why it is not used, else NULL.';

CREATE VIEW dpquantile.private_access WITH (security_barrier) AS
  SELECT t.relation,
         c.relowner AS owner,
         t.user_column,
         t.max_rows,
         t.unit,
         g.grantee,
         g.grantee_oid,
         g.smallest_epsilon,
         g.epsilon,
         g.delta,
         g.reuse,
         g.most_cancels,
         coalesce(dpquantile.unprotectable(t.relation),
                  CASE WHEN t.user_column IS NOT NULL AND u.attnum IS NULL
                       THEN format('its user column "%s" is gone', t.user_column) END,
                  -- A column has one name in all parents and children; a view may give it another one.
                  (SELECT format('its rows are also rows of %s, which protects all rows of a user of column "%s"', o.relation, o.user_column)
                     FROM dpquantile.tables_with_same_rows(t.relation) s (relation)
                     JOIN dpquantile.protected_table o ON o.relation = s.relation
                    WHERE CASE WHEN c.relkind = 'm' THEN false
                               WHEN c.relkind = 'v' THEN t.user_column IS NULL AND o.user_column IS NOT NULL
                               ELSE t.user_column IS DISTINCT FROM o.user_column AND o.user_column IS NOT NULL END
                    ORDER BY o.relation LIMIT 1),
                  (SELECT format('its rows are those of %s, which protects all rows of a user of column "%s"', o.relation, o.user_column)
                     FROM dpquantile.protected_table o
                    WHERE c.relkind IN ('m', 'v') AND o.relation = dpquantile.table_with_other_users(t.relation, t.user_column)),
                  CASE WHEN g.grantee IS NOT NULL
                       THEN dpquantile.unrestricted_code() || ', and dpquantile is not in shared_preload_libraries' END) AS table_problem,
         CASE WHEN g.grantee IS NULL OR r.rolname = g.grantee THEN NULL
              WHEN r.rolname IS NOT NULL THEN format('the role is now called %I', r.rolname)
              WHEN EXISTS (SELECT FROM pg_roles n WHERE n.rolname = g.grantee) THEN 'another role has this name now'
              ELSE 'the role is gone' END AS role_problem,
         CASE WHEN r.rolname = g.grantee THEN (dpquantile.own_right(t.relation, r.oid)).reason END AS own_right
    FROM dpquantile.protected_table t
    JOIN pg_class c ON c.oid = t.relation
    LEFT JOIN pg_attribute u ON u.attrelid = t.relation AND u.attnum = t.user_number AND u.attname = t.user_column
                            AND NOT u.attisdropped
    LEFT JOIN dpquantile.private_grant g ON g.relation = t.relation
    LEFT JOIN pg_roles r ON r.oid = g.grantee_oid;
COMMENT ON VIEW dpquantile.private_access IS
  'Protected tables and who has private access to them. table_problem and role_problem: what closes it; own_right: a right with '
  'which the role needs no private queries.';

CREATE VIEW dpquantile.early_ends AS
  SELECT f.*,
         CASE WHEN f.errors > 0 THEN 'an error occurred while its rows were read'
              WHEN f.cancels > f.most_cancels
              THEN format('queries that were cancelled, or ran out of time or memory, while they read its rows: %s', f.cancels) END AS problem
    FROM (SELECT f.relation, f.grantee_oid, count(*) FILTER (WHERE NOT f.closes) AS cancels, count(*) FILTER (WHERE f.closes) AS errors,
                 max(f.failed_at) AS last_at,
                 (SELECT max(g.most_cancels) FROM dpquantile.private_grant g JOIN pg_roles r ON (r.oid, r.rolname) = (g.grantee_oid, g.grantee)
                   WHERE g.relation = f.relation AND pg_has_role(f.grantee_oid, g.grantee_oid, 'USAGE')) AS most_cancels
            FROM dpquantile.failed_read f
            JOIN pg_roles r ON r.oid = f.grantee_oid
           GROUP BY f.relation, f.grantee_oid) f;
COMMENT ON VIEW dpquantile.early_ends IS
  'How many queries of a role have ended early while they read rows of a protected table. problem: what closes its private access.';

CREATE VIEW @extschema@.dp_protected_tables WITH (security_barrier) AS
  SELECT p.relation,
         (SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = p.relation AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
         p.user_column AS user_id,
         p.max_rows,
         p.unit,
         (SELECT string_agg(format('%I: %s', d.column_name, d.domain), E'\n' ORDER BY d.column_name)
            FROM dpquantile.column_domains d WHERE d.relation = p.relation AND d.problem IS NULL) AS domains,
         quote_ident(p.grantee) AS role,
         p.smallest_epsilon,
         p.epsilon,
         p.delta,
         p.reuse,
         p.most_cancels,
         CASE WHEN p.table_problem IS NOT NULL THEN 'private access is closed: ' || p.table_problem
              WHEN p.role_problem IS NOT NULL THEN 'private access is closed: ' || p.role_problem
              WHEN e.problem IS NOT NULL
              THEN format('private access %sis closed: %s', 'of ' || nullif(e.grantee_oid, p.grantee_oid)::regrole || ' ', e.problem)
              WHEN p.own_right IS NOT NULL THEN 'the role learns exact facts about the table: ' || p.own_right END AS problem
    FROM dpquantile.private_access p
    LEFT JOIN LATERAL (SELECT e.problem, e.grantee_oid FROM dpquantile.early_ends e
                        WHERE e.relation = p.relation AND e.problem IS NOT NULL
                          AND (e.grantee_oid IN (p.grantee_oid, dpquantile.charged_role())
                               OR pg_has_role(current_user, p.owner, 'USAGE') AND pg_has_role(e.grantee_oid, p.grantee_oid, 'USAGE'))
                        ORDER BY e.grantee_oid <> p.grantee_oid, e.grantee_oid::regrole::text LIMIT 1) e ON true
   WHERE pg_has_role(current_user, p.owner, 'USAGE')
      OR p.role_problem IS NULL AND pg_has_role(current_user, p.grantee_oid, 'USAGE')
   ORDER BY p.relation::text, p.grantee;
COMMENT ON VIEW @extschema@.dp_protected_tables IS
  'The protected tables of the current role: those that it may ask private queries of, and those that it owns, with a row for each '
  'role that has private access. Reads no data and costs no budget.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.columns IS 'Names and types of the columns.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.user_id IS
  'The column that names the user all of whose rows are protected together; NULL if each row is protected.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.max_rows IS
  'How many rows of each user a SELECT sees; NULL if only aggregates over users may be asked.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.unit IS
  'What user_id names: tables of one owner with the same unit may be joined by these columns; NULL if the table may be joined with no '
  'other protected table.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.domains IS
  'What is publicly known of columns: bounds, granularity and lists of keys (dp_set_domain); NULL if nothing is.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.role IS
  'A role with private access: the current role, one that it is a member of, or for the owner of the table any role. NULL if no '
  'role has.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.smallest_epsilon IS 'A private aggregate with a smaller epsilon is refused.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.epsilon IS
  'What each standard aggregate costs, such as count(*); NULL if only private aggregates may be asked.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.delta IS
  'What a query costs besides, with an epsilon, if it groups by keys that come from the rows; NULL if keys must be public.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.reuse IS
  'How long the answers of a query are shown again, without a charge; NULL if each query is charged.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.most_cancels IS
  'How many queries of the role may be cancelled, or run out of time or memory, while they read rows, before private access closes.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.problem IS
  'What keeps the role from asking private queries, or makes them pointless; NULL if nothing does. It does not tell whether the role and '
  'its members are restricted: dp_health does.';
GRANT SELECT ON @extschema@.dp_protected_tables TO PUBLIC;

CREATE FUNCTION dpquantile.protection_findings() RETURNS TABLE (subject text, status text, detail text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT p.relation::text, 'warning', 'private access is closed: ' || min(p.table_problem)
      FROM dpquantile.private_access p WHERE p.table_problem IS NOT NULL GROUP BY p.relation
    UNION ALL
    SELECT t.relation::text, 'critical',
           format('every role may do more than ask private queries: PUBLIC has %s', string_agg(DISTINCT e.privilege_type, ', '))
      FROM dpquantile.protected_table t
      JOIN pg_catalog.pg_class c ON c.oid = t.relation
     CROSS JOIN LATERAL (SELECT c.relacl AS acl
                         UNION ALL
                         SELECT a.attacl FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped) o
     CROSS JOIN pg_catalog.aclexplode(o.acl) e
     WHERE e.grantee = 0 GROUP BY t.relation
    UNION ALL
    SELECT d.relation::text, 'warning', format('a domain is not used: %s. Set it again (dp_set_domain)', d.problem)
      FROM dpquantile.column_domains d WHERE d.problem IS NOT NULL
    UNION ALL
    SELECT format('%I on %s', p.grantee, p.relation), 'warning',
           'answers are not kept for reuse, because the library is not in shared_preload_libraries'
      FROM dpquantile.private_access p
     WHERE p.reuse IS NOT NULL AND p.role_problem IS NULL
       AND NOT dpquantile.keeps_answers()
    UNION ALL
    SELECT format('%I on %s', p.grantee, p.relation), 'warning',
           format('private access is closed: %s. Grant it again (dp_grant_private_access) or remove it '
                  '(dp_revoke_private_access)', p.role_problem)
      FROM dpquantile.private_access p WHERE p.role_problem IS NOT NULL
    UNION ALL
    SELECT format('%s on %s', e.grantee_oid::regrole, e.relation),
           CASE WHEN e.problem IS NOT NULL THEN 'critical' WHEN 2 * e.cancels > e.most_cancels THEN 'warning' ELSE 'ok' END,
           CASE WHEN e.problem IS NOT NULL
                THEN format('private access is closed since %s: %s. Look at the server log, then SELECT dp_open_private_access(%L, %L)',
                            to_char(e.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC'), e.problem, e.relation, e.grantee_oid::regrole)
                ELSE format('queries that were cancelled, or ran out of time or memory, while they read rows: %s; private access closes after %s',
                            e.cancels, e.most_cancels) END
      FROM dpquantile.early_ends e
     WHERE e.most_cancels IS NOT NULL
    UNION ALL
    SELECT format('%I on %s', p.grantee, p.relation), 'critical', 'the role learns exact facts about the table: ' || p.own_right
      FROM dpquantile.private_access p WHERE p.own_right NOT LIKE 'PUBLIC %' OR p.own_right LIKE '%, which %'
    UNION ALL
    SELECT format('%s on %s', m.member::regrole, p.relation), 'critical',
           format('the role learns exact facts about the table, to which it has private access as a member of %I: %s', p.grantee, m.reason)
      FROM dpquantile.private_access p CROSS JOIN LATERAL dpquantile.rights_of_members(p.relation, p.grantee_oid) m
     WHERE p.role_problem IS NULL
    UNION ALL
    SELECT format('%s on %s', m.oid::regrole, m.relation), 'critical',
           format('the role has private access and is not restricted: SELECT dp_restrict_role(%L)', m.oid::regrole)
      FROM (SELECT DISTINCT p.relation, m.oid
              FROM dpquantile.private_access p
              JOIN pg_catalog.pg_roles m ON m.rolcanlogin AND pg_catalog.pg_has_role(m.oid, p.grantee_oid, 'MEMBER')
             WHERE p.role_problem IS NULL AND NOT dpquantile.is_restricted(m.oid)
               AND (dpquantile.own_right(p.relation, m.oid)).reason IS NULL) m (relation, oid)
     ORDER BY 1, 2, 3;
  END;
COMMENT ON FUNCTION dpquantile.protection_findings() IS
  'What dp_health tells about protected tables: subject, status, detail. Reads no data.';

CREATE FUNCTION dpquantile.forget_dropped_tables() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  DELETE FROM dpquantile.private_grant g WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = g.relation);
  DELETE FROM dpquantile.failed_read f WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = f.relation);
  DELETE FROM dpquantile.table_budget b WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = b.relation);
  DELETE FROM dpquantile.protected_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation);
  DELETE FROM dpquantile.table_identity i WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = i.relation);
  DELETE FROM dpquantile.column_domain d
   WHERE NOT EXISTS (SELECT FROM pg_attribute a
                      WHERE a.attrelid = d.relation AND a.attnum = d.column_number AND NOT a.attisdropped);
END
$$;
COMMENT ON FUNCTION dpquantile.forget_dropped_tables() IS
  'Event trigger: ends the protection of tables that are dropped, because a later table may get the same OID, and forgets the '
  'domains of columns that are dropped.';
CREATE EVENT TRIGGER dpquantile_forget_dropped_tables ON sql_drop
  EXECUTE FUNCTION dpquantile.forget_dropped_tables();
ALTER EVENT TRIGGER dpquantile_forget_dropped_tables ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dpquantile_forget_dropped_tables IS
  'Ends the protection of tables that are dropped, and forgets the domains of columns that are dropped.';

CREATE FUNCTION dpquantile.follow_renamed_columns() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE dpquantile.protected_table t SET user_column = a.attname
    FROM pg_attribute a
   WHERE a.attrelid = t.relation AND a.attnum = t.user_number AND a.attname <> t.user_column AND NOT a.attisdropped;
  UPDATE dpquantile.column_domain d SET column_name = a.attname
    FROM pg_attribute a
   WHERE a.attrelid = d.relation AND a.attnum = d.column_number AND a.attname <> d.column_name AND NOT a.attisdropped;
END
$$;
COMMENT ON FUNCTION dpquantile.follow_renamed_columns() IS
  'Event trigger: a column keeps its role in the protection of its table, and its domain, when it gets another name.';
CREATE EVENT TRIGGER dpquantile_follow_renamed_columns ON ddl_command_end
  WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER TYPE')
  EXECUTE FUNCTION dpquantile.follow_renamed_columns();
ALTER EVENT TRIGGER dpquantile_follow_renamed_columns ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dpquantile_follow_renamed_columns IS
  'A column keeps its role in the protection of its table, and its domain, when it gets another name.';

-- A rename waits for the queries of the table, and later ones wait for the rename. So a charge finds the name of its table noted, and
-- does not wait for a grant that notes it.
CREATE FUNCTION dpquantile.note_renamed_tables() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- Each such table has a name already, except in a restore that has its names still to come.
  INSERT INTO dpquantile.table_name (table_id, name)
  SELECT i.table_id, n.name FROM dpquantile.table_identity i CROSS JOIN LATERAL dpquantile.name_of_table(i.relation) AS n (name)
   WHERE n.name IS NOT NULL AND EXISTS (SELECT FROM dpquantile.table_name t WHERE t.table_id = i.table_id)
      ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION dpquantile.note_renamed_tables() IS
  'Event trigger: what was charged for a table counts for a later one of any of its names, also of one that it got by a rename.';
CREATE EVENT TRIGGER dpquantile_note_renamed_tables ON ddl_command_end
  -- ALTER INDEX renames tables, too.
  WHEN TAG IN ('ALTER TABLE', 'ALTER INDEX', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER SCHEMA')
  EXECUTE FUNCTION dpquantile.note_renamed_tables();
ALTER EVENT TRIGGER dpquantile_note_renamed_tables ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dpquantile_note_renamed_tables IS
  'Keeps the names of tables that are or were protected, for what is charged for them.';

-- ---------------------------------------------------------------------------------------------
-- Health
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.library_version() RETURNS text
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_library_version';
COMMENT ON FUNCTION dpquantile.library_version() IS
  'The version of the library that this session has loaded. Tells nothing about any data.';

CREATE FUNCTION dpquantile.advice_on_versions() RETURNS text
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_advice_on_versions';
COMMENT ON FUNCTION dpquantile.advice_on_versions() IS
  'What to do while the library that this session has loaded and the extension''s objects in this database are of '
  'different versions; otherwise NULL. Tells nothing about any data.';

CREATE FUNCTION dpquantile.is_preloaded() RETURNS boolean
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_is_preloaded';
COMMENT ON FUNCTION dpquantile.is_preloaded() IS
  'Whether the server preloads the library. Tells nothing about any data.';

CREATE FUNCTION @extschema@.dp_health()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH spent AS (
    SELECT b.role::text || coalesce(' on ' || b.relation, '') AS role, b.every, s.*
      FROM dpquantile.present_budget b
      JOIN pg_roles r ON r.oid = b.role
     CROSS JOIN LATERAL (
       SELECT * FROM (VALUES ('epsilon', b.epsilon_spent, CASE b.accountant WHEN 'pure' THEN b.epsilon_limit END),
                             ('delta', b.delta_spent, CASE b.accountant WHEN 'pure' THEN nullif(b.delta_limit, 0) END),
                             ('rho', b.rho_spent, b.rho_limit)) AS v (unit, spent, granted)
        WHERE v.granted IS NOT NULL ORDER BY v.spent / v.granted DESC LIMIT 1) AS s
     WHERE NOT b.revoked
  ), slots AS (
    -- An owner who may not read the statistics of other roles sees their processes without a type.
    SELECT current_setting('max_worker_processes')::integer AS number, count(*) AS taken,
           bool_or(backend_type IS NULL) AS hidden
      FROM pg_stat_activity
     WHERE backend_type IS NULL
        OR backend_type NOT IN ('archiver', 'autovacuum launcher', 'autovacuum worker', 'background writer', 'checkpointer',
                                'client backend', 'io worker', 'logger', 'slotsync worker', 'standalone backend', 'startup',
                                'walreceiver', 'walsender', 'walsummarizer', 'walwriter')
  ), version AS (
    SELECT e.extversion AS sql, dpquantile.library_version() AS library, dpquantile.advice_on_versions() AS advice,
           dpquantile.is_preloaded() AS preloaded, nullif(a.default_version, e.extversion) AS other_files
      FROM pg_extension e LEFT JOIN pg_available_extensions a ON a.name = e.extname
     WHERE e.extname = 'dpquantile'
  ), member AS (
    SELECT d.classid, d.objid
      FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
     WHERE e.extname = 'dpquantile' AND d.deptype = 'e'
  ), powers AS (
    -- What a role may use by which it can change budgets, itself or by SET ROLE. Superusers and the owner may use all.
    SELECT b.role::text AS role, o.name
      FROM dpquantile.present_budget b
      JOIN pg_roles r ON r.oid = b.role AND NOT r.rolsuper
      JOIN pg_extension e ON e.extname = 'dpquantile' AND e.extowner <> b.role
      JOIN pg_roles m ON pg_has_role(b.role, m.oid, 'MEMBER')
     CROSS JOIN LATERAL (
       SELECT p.proname::text AS name FROM pg_proc p
        WHERE p.oid IN (SELECT objid FROM member WHERE classid = 'pg_proc'::regclass)
          AND p.proname IN ('dp_grant_budget', 'dp_revoke_budget', 'dp_add_charge', 'dp_archive_ledger', 'dp_unrestrict_role')
          AND has_function_privilege(m.oid, p.oid, 'EXECUTE')
        UNION ALL
       SELECT c.oid::regclass::text FROM pg_class c
        WHERE c.oid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass) AND c.relkind IN ('r', 'v')
          AND (has_table_privilege(m.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
               OR has_any_column_privilege(m.oid, c.oid, 'INSERT, UPDATE'))) AS o
     WHERE NOT b.revoked
  )
  SELECT 'version', v.sql,
         CASE WHEN v.advice IS NOT NULL THEN 'critical'
              WHEN v.other_files IS NULL THEN 'ok'
              WHEN v.preloaded THEN 'warning'
              ELSE 'critical' END,
         CASE WHEN v.advice IS NOT NULL THEN format('charges fail, because the library is version %s. %s', v.library, v.advice)
              WHEN v.other_files IS NULL THEN 'the installed version'
              WHEN v.preloaded
              THEN format('version %s is installed: restart the server, and then update each database', v.other_files)
              ELSE format('charges of new sessions fail, because version %s is installed: reconnect', v.other_files) END
    FROM version v
  UNION ALL
  SELECT 'workers', CASE WHEN v.preloaded THEN 'preloaded' ELSE 'not preloaded' END,
         CASE WHEN s.hidden THEN 'warning'
              WHEN s.taken >= s.number THEN 'critical' WHEN 2 * s.taken > s.number THEN 'warning' ELSE 'ok' END,
         CASE WHEN s.hidden THEN format('the workers cannot be seen: GRANT pg_read_all_stats TO %I', current_user)
              ELSE format('%s of %s max_worker_processes are taken', s.taken, s.number) END
    FROM slots s, version v
  UNION ALL
  SELECT 'durability', s.name, CASE s.setting WHEN 'on' THEN 'ok' ELSE 'critical' END,
         CASE s.setting WHEN 'on' THEN 'on'
              ELSE s.setting || ': a crash of the operating system may lose or damage charges' END
    FROM pg_settings s WHERE s.name IN ('fsync', 'full_page_writes')
  UNION ALL
  SELECT 'standby', 'this server', 'ok', 'a standby refuses private queries' WHERE pg_is_in_recovery()
  UNION ALL
  SELECT 'standby', coalesce(r.application_name, 'unknown'),
         CASE WHEN r.sync_state <> 'async' THEN 'ok' ELSE 'warning' END,
         CASE WHEN r.sync_state <> 'async' THEN 'synchronous'
              WHEN r.sync_state = 'async' THEN 'asynchronous: a failover to it may lose the latest charges'
              ELSE format('its state cannot be seen: GRANT pg_read_all_stats TO %I', current_user) END
    FROM pg_stat_replication r
   WHERE r.state IS DISTINCT FROM 'backup'
     AND NOT EXISTS (SELECT FROM pg_replication_slots l WHERE l.active_pid = r.pid AND l.slot_type = 'logical')
  UNION ALL
  SELECT 'subscription', c.relname, 'critical',
         'logical replication may change this table, so charges are refused: SELECT dpquantile.protect_tables()'
    FROM pg_class c
   WHERE c.relnamespace = 'dpquantile'::regnamespace AND c.relkind = 'r'
     AND EXISTS (SELECT FROM pg_subscription s
                   JOIN pg_database d ON d.oid = s.subdbid WHERE d.datname = current_database())
     AND 2 > (SELECT count(*) FROM pg_trigger t
               WHERE t.tgrelid = c.oid AND t.tgname IN ('skip_replicated', 'refuse_replicated_truncate')
                 AND t.tgenabled IN ('R', 'A'))
  UNION ALL
  SELECT 'tables', 'owners', 'critical',
         'charges fail, because the owners differ: '
           || string_agg(format('%s of %s', c.relowner::regrole, c.relname), ', ' ORDER BY c.relname)
    FROM pg_class c
   WHERE c.relnamespace = 'dpquantile'::regnamespace AND c.relname IN ('budget', 'ledger', 'query_text', 'table_budget', 'table_name', 'failed_read')
  HAVING count(DISTINCT c.relowner) > 1
  UNION ALL
  SELECT 'tables', 'user_key', 'critical', format('dp_user_ queries fail, because it has %s rows instead of one', count(*))
    FROM dpquantile.user_key
  HAVING count(*) <> 1
  UNION ALL
  SELECT 'privileges', w.role, 'critical', 'the role has a budget and may change budgets by ' || string_agg(DISTINCT w.name, ', ' ORDER BY w.name)
    FROM powers w
   GROUP BY w.role
  UNION ALL
  SELECT 'budget', s.role, CASE WHEN s.spent >= 0.9 * s.granted THEN 'warning' ELSE 'ok' END,
         format('%s %% of the %s is spent%s', floor(100 * s.spent / s.granted), s.unit, ' in this ' || s.every)
    FROM spent s
  UNION ALL
  SELECT 'budget', b.role::text || coalesce(' on ' || b.relation, ''), 'warning',
         format('it begins anew only on %s (UTC), because a charge was made while the clock was ahead',
                to_char(dpquantile.period_end(b.every, b.period_start) AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
    FROM dpquantile.present_budget b
    JOIN pg_roles r ON r.oid = b.role
   WHERE NOT b.revoked AND b.period_start > statement_timestamp()
  UNION ALL
  SELECT 'ledger', b.role::text, 'critical',
         'the ledger is newer than the budget, so charges are refused: was only a part of the tables restored?'
    FROM dpquantile.budget b
   WHERE b.charges < (SELECT max(l.number) FROM dpquantile.ledger l WHERE l.budget_id = b.budget_id)
  UNION ALL
  -- Charges of a budget that is not here, under the name of a role that has another one.
  SELECT 'ledger', b.role::text, 'critical',
         'the ledger has charges under this name that the budget does not count: was only a part of the tables restored?'
    FROM dpquantile.budget b
    JOIN pg_roles r ON r.oid = b.role
   CROSS JOIN LATERAL dpquantile.earlier_spending(r.rolname) AS s
   WHERE EXISTS (SELECT FROM dpquantile.budget_name n
                  WHERE n.role_name = r.rolname
                    AND NOT EXISTS (SELECT FROM dpquantile.budget o WHERE o.budget_id = n.budget_id))
     AND (s.epsilon > b.epsilon_spent OR s.delta > b.delta_spent OR s.rho > b.rho_spent)
  UNION ALL
  SELECT 'ledger', 'size', CASE WHEN s.bytes > 1e9 THEN 'warning' ELSE 'ok' END,
         pg_size_pretty(s.bytes) || CASE WHEN s.bytes > 1e9 THEN ': archive old charges with dp_archive_ledger' ELSE '' END
    FROM (SELECT pg_total_relation_size('dpquantile.ledger') + pg_total_relation_size('dpquantile.query_text') AS bytes) AS s
  UNION ALL
  SELECT 'protection', f.subject, f.status, f.detail FROM dpquantile.protection_findings() f
  UNION ALL
  SELECT 'restriction', 'autovacuum', 'warning',
         code || ', and autovacuum would run its code without restriction: dpquantile is not in shared_preload_libraries'
    FROM dpquantile.unrestricted_code() AS code
   WHERE code IS NOT NULL
   ORDER BY 1, 2
$$;
COMMENT ON FUNCTION @extschema@.dp_health() IS
  'What the person who runs the server should know. check_name: version, workers, durability, standby, subscription, '
  'tables, privileges, budget, ledger, protection or restriction; subject: what was checked, for example a role; status: ok; '
  'warning: look at it soon; critical: charges fail, what was spent can be lost, or a role learns exact facts about a '
  'protected table; detail: one line of text. A budget is a warning from 90 % on. For the owner of the extension, who may '
  'grant it to a monitoring role: it shows the spending of all roles. Reads no data and costs no budget.';

-- ---------------------------------------------------------------------------------------------
-- Options
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION @extschema@.dp_options(method text DEFAULT NULL, granularity float8 DEFAULT NULL, bins bigint DEFAULT NULL,
                                       lower float8 DEFAULT NULL, upper float8 DEFAULT NULL,
                                       max_contributions text DEFAULT NULL, suppress boolean DEFAULT NULL,
                                       rho float8 DEFAULT NULL)
  RETURNS jsonb
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_options';
COMMENT ON FUNCTION @extschema@.dp_options(text, float8, bigint, float8, float8, text, boolean, float8) IS
  'Builds and checks the options argument of the private aggregates. method: the mechanism; for quantiles and '
  'dp_synthesize ''blocks'' (the default for quantiles where it costs the budget no more than ''approximate'' and '
  'epsilon is not too large for it), ''approximate'', ''joint'', ''independent'', ''tree'' or ''auto'' (the '
  'default for dp_synthesize), for dp_cdf ''tree'' (the default for an epsilon), ''factorization'' (the default with '
  'rho, and only with it), ''binary'' or ''histogram'', for dp_iqr '
  '''propose-test-release'' (the default) or ''quantiles'', for dp_user_mean ''auto'' (the default), ''array'', ''baseline'', '
  '''levy'', ''quantile'', ''quantile-adaptive'' or ''bounded'', for dp_user_variance ''array'' (the default), '
  '''baseline'' or ''bounded''; granularity: the step between possible values, for '
  'example 1 for whole numbers or 0.01 for cents (default for quantiles: 2^20 cells from lower to upper); bins: '
  'the number of bins of a dp_cdf, 1 to 1048576 (default 1024), instead of granularity; lower, upper: public '
  'bounds of the values, for dp_iqr with method ''quantiles''; max_contributions: for dp_user_mean and '
  'dp_user_variance, the most rows kept of a user: a whole number such as 8, ''median'' or ''optimal'' (the '
  'default); suppress: for dp_user_grid_stats, whether users may be left out of some of their grids (default true); '
  'rho: for all but dp_iqr and dp_keep_group, the guarantee in rho of zero-concentrated differential privacy, 1e-12 '
  'to 1000, with NULL for epsilon. Options are public and cost no budget.';

-- Variants with max_contributions as a number, for the options that go with it. (Arguments with defaults would make calls ambiguous.)
CREATE FUNCTION @extschema@.dp_options(max_contributions bigint) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(max_contributions => dp_options.max_contributions::text);
CREATE FUNCTION @extschema@.dp_options(method text, max_contributions bigint) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(method => dp_options.method, max_contributions => dp_options.max_contributions::text);
COMMENT ON FUNCTION @extschema@.dp_options(bigint) IS
  'The same with max_contributions as a number: dp_options(max_contributions => 8). Options are public and cost no '
  'budget.';
COMMENT ON FUNCTION @extschema@.dp_options(text, bigint) IS
  'The same with max_contributions as a number: dp_options(method => ''bounded'', max_contributions => 8). Options are '
  'public and cost no budget.';
CREATE FUNCTION @extschema@.dp_options(max_contributions bigint, rho float8) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(max_contributions => dp_options.max_contributions::text, rho => dp_options.rho);
COMMENT ON FUNCTION @extschema@.dp_options(bigint, float8) IS
  'The same with max_contributions as a number: dp_options(max_contributions => 8, rho => 0.01). Options are public and '
  'cost no budget.';

-- The granularity of times is an interval.
CREATE FUNCTION dpquantile.interval_text(step interval) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  BEGIN ATOMIC
    SELECT substr(CASE WHEN months <> 0 THEN ' ' || months::text || ' months' ELSE '' END ||
                  CASE WHEN days <> 0 THEN ' ' || days::text || ' days' ELSE '' END ||
                  CASE WHEN seconds <> 0 OR (months = 0 AND days = 0)
                       THEN ' ' || trim_scale(seconds)::text || ' seconds' ELSE '' END, 2)
      FROM (SELECT 12 * extract(year FROM step) + extract(month FROM step) AS months, extract(day FROM step) AS days,
                   3600 * extract(hour FROM step) + 60 * extract(minute FROM step) + extract(second FROM step) AS seconds) AS p;
  END;
COMMENT ON FUNCTION dpquantile.interval_text(interval) IS
  'step: any interval. Its text, whatever the IntervalStyle of the session is. Tells nothing about any data.';
CREATE FUNCTION @extschema@.dp_time_options(granularity interval, method text DEFAULT NULL, rho float8 DEFAULT NULL) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(method => dp_time_options.method, rho => dp_time_options.rho)
         || jsonb_strip_nulls(jsonb_build_object('granularity', dpquantile.interval_text(dp_time_options.granularity)));
COMMENT ON FUNCTION @extschema@.dp_time_options(interval, text, float8) IS
  'Builds the options of private aggregates of dates or times. granularity: the step between possible values, an interval '
  'without months; method, rho: as in dp_options. For example dp_time_options(''1 hour''). Options are public and cost no '
  'budget.';

-- ---------------------------------------------------------------------------------------------
-- The state of the aggregates
-- ---------------------------------------------------------------------------------------------

CREATE TYPE dpquantile.records_state;

CREATE FUNCTION dpquantile.records_state_in(cstring) RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_in';
CREATE FUNCTION dpquantile.records_state_out(dpquantile.records_state) RETURNS cstring
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_out';
CREATE FUNCTION dpquantile.records_state_recv(internal) RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_recv';
CREATE FUNCTION dpquantile.records_state_send(dpquantile.records_state) RETURNS bytea
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_send';

CREATE TYPE dpquantile.records_state (
  INPUT = dpquantile.records_state_in,
  OUTPUT = dpquantile.records_state_out,
  RECEIVE = dpquantile.records_state_recv,
  SEND = dpquantile.records_state_send,
  INTERNALLENGTH = VARIABLE,
  ALIGNMENT = double,
  STORAGE = plain
);
COMMENT ON TYPE dpquantile.records_state IS
  'Internal state of the private aggregates. Holds exact data: no analyst may see it.';

CREATE FUNCTION dpquantile.records_combine(dpquantile.records_state, dpquantile.records_state)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_records_combine';

-- ---------------------------------------------------------------------------------------------
-- Quantiles: the aggregates
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.planner_support(internal) RETURNS internal
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_planner_support';
COMMENT ON FUNCTION dpquantile.planner_support(internal) IS
  'PostgreSQL calls it while it plans a query with a private aggregate, and loads the library for the call.';
CREATE FUNCTION dpquantile.quantiles_final(dpquantile.records_state) RETURNS float8[]
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantiles_final';
CREATE FUNCTION dpquantile.quantile_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantile_final';

CREATE FUNCTION dpquantile.quantiles_transition(dpquantile.records_state, float8, float8[], float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantiles(value float8, quantiles float8[], epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(float8, float8[], float8, float8, float8) IS
'Differentially private quantiles. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.quantiles_transition(dpquantile.records_state, float8, float8[], float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantiles(value float8, quantiles float8[], epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(float8, float8[], float8, float8, float8, jsonb) IS
'Differentially private quantiles. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): method ''blocks'' (level by level, up to four at once), ''approximate'' (level by level, one at
  a time), ''joint'' (all at once, up to 128), ''independent'' (each by itself), ''tree'' (from noisy counts) or ''auto''
  (the most accurate method for the number of quantiles, the value grid and the given epsilon or rho); granularity; rho.
  The default is ''blocks'', but ''approximate'' where ''blocks'' would charge the budget more (an epsilon under accountant
  zcdp) or epsilon is too large for joint draws.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.quantile_transition(dpquantile.records_state, float8, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantile(value float8, quantile float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.quantile_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(float8, float8, float8, float8, float8) IS
'Differentially private quantile. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.quantile_transition(dpquantile.records_state, float8, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantile(value float8, quantile float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.quantile_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(float8, float8, float8, float8, float8, jsonb) IS
'Differentially private quantile. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): method (for one quantile ''approximate'', the default, ''joint'', ''independent'' and
  ''auto'' are the same; ''tree'' is different); granularity; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.median_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_median(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(float8, float8, float8, float8) IS
'Differentially private median. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.median_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_median(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(float8, float8, float8, float8, jsonb) IS
'Differentially private median. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): method (for one quantile ''approximate'', the default, ''joint'', ''independent'' and
  ''auto'' are the same; ''tree'' is different); granularity; rho.
All arguments except value must be constant.';

CREATE FUNCTION @extschema@.dp_quantiles_expected_error(n bigint, quantiles float8[], epsilon float8, lower float8, upper float8,
                                                        options jsonb DEFAULT '{}')
  RETURNS TABLE (quantile float8, rank_error_typical float8, rank_error_95 float8, rank_error_bound float8)
  LANGUAGE C VOLATILE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'dpq_quantiles_expected_error';
COMMENT ON FUNCTION @extschema@.dp_quantiles_expected_error(bigint, float8[], float8, float8, float8, jsonb) IS
'The expected error of dp_quantiles: one row for each quantile, with errors in ranks. Uses public figures only: reads
no data and costs no budget.
n: a public guess of the number of rows with a value, 1 to 2^40.
quantiles, epsilon, lower, upper, options: as for dp_quantiles.
quantile: the given quantile; rank_error_typical: the mean error, simulated for rows spread evenly over the value grid;
  rank_error_95: the error that 95 of 100 such answers do not exceed, also simulated (both are the same in every call);
  rank_error_bound: the error that with probability 95 % none of the quantiles exceeds, for any data (NULL for method ''tree'').
Values count as rounded to the value grid: rows that are rounded to the answer are equal to it. For values between the steps of a
  granularity up to half of the rows of a step come on top: n * granularity / (2 * (upper - lower)) if they are spread evenly.';

-- ---------------------------------------------------------------------------------------------
-- A synthetic sample
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.synthesize_final(dpquantile.records_state) RETURNS float8[]
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_synthesize_final';

CREATE FUNCTION dpquantile.synthesize_transition(dpquantile.records_state, float8, bigint, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_synthesize_transition';
CREATE AGGREGATE @extschema@.dp_synthesize(value float8, size bigint, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.synthesize_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.synthesize_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_synthesize(float8, bigint, float8, float8, float8) IS
'Differentially private synthetic sample: size values in ascending order, distributed like those of the column. They are
  the quantiles i / (size + 1) of the column. Each stands for 1 / (size + 1) of the rows; the sample does not tell the
  number of rows. It can be stored and queried without further charge. Values lie on a public value grid; an empty
  input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
size: the number of synthetic values, 1 to 4096.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.synthesize_transition(dpquantile.records_state, float8, bigint, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_synthesize_transition';
CREATE AGGREGATE @extschema@.dp_synthesize(value float8, size bigint, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.synthesize_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.synthesize_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_synthesize(float8, bigint, float8, float8, float8, jsonb) IS
'Differentially private synthetic sample: size values in ascending order, distributed like those of the column. They are
  the quantiles i / (size + 1) of the column. Each stands for 1 / (size + 1) of the rows; the sample does not tell the
  number of rows. It can be stored and queried without further charge. Values lie on a public value grid; an empty
  input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
size: the number of synthetic values, 1 to 4096.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): method, as for dp_quantiles but with the default ''auto''; granularity; rho.
All arguments except value must be constant.';

-- ---------------------------------------------------------------------------------------------
-- CDF: the released value
-- ---------------------------------------------------------------------------------------------

CREATE TYPE @extschema@.dp_cdf;

CREATE FUNCTION dpquantile.cdf_in(cstring) RETURNS @extschema@.dp_cdf
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_in';
CREATE FUNCTION dpquantile.cdf_out(@extschema@.dp_cdf) RETURNS cstring
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_out';
CREATE FUNCTION dpquantile.cdf_recv(internal) RETURNS @extschema@.dp_cdf
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_recv';
CREATE FUNCTION dpquantile.cdf_send(@extschema@.dp_cdf) RETURNS bytea
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_send';

CREATE TYPE @extschema@.dp_cdf (
  INPUT = dpquantile.cdf_in,
  OUTPUT = dpquantile.cdf_out,
  RECEIVE = dpquantile.cdf_recv,
  SEND = dpquantile.cdf_send,
  INTERNALLENGTH = VARIABLE,
  STORAGE = extended
);
COMMENT ON TYPE @extschema@.dp_cdf IS
  'A released private CDF, the answer of dp_cdf(): the curve, the number of rows, the domain and the public '
  'law of the noise. Its text form is a JSON object; it casts to and from jsonb. Storing it, copying it and '
  'asking it any number of questions cost no budget.';

CREATE CAST (@extschema@.dp_cdf AS jsonb) WITH INOUT;
COMMENT ON CAST (@extschema@.dp_cdf AS jsonb) IS 'A released CDF as a JSON object. Costs no budget.';
CREATE CAST (jsonb AS @extschema@.dp_cdf) WITH INOUT;
COMMENT ON CAST (jsonb AS @extschema@.dp_cdf) IS 'A released CDF from its JSON object. Costs no budget.';

COMMENT ON FUNCTION dpquantile.cdf_in(cstring) IS 'Text form of the type dp_cdf, a JSON object.';
COMMENT ON FUNCTION dpquantile.cdf_out(@extschema@.dp_cdf) IS 'Text form of the type dp_cdf, a JSON object.';
COMMENT ON FUNCTION dpquantile.cdf_recv(internal) IS 'Binary form of the type dp_cdf.';
COMMENT ON FUNCTION dpquantile.cdf_send(@extschema@.dp_cdf) IS 'Binary form of the type dp_cdf.';

-- ---------------------------------------------------------------------------------------------
-- CDF: the aggregates
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.cdf_final(dpquantile.records_state) RETURNS @extschema@.dp_cdf
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_cdf_final';

CREATE FUNCTION dpquantile.cdf_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_transition';
CREATE AGGREGATE @extschema@.dp_cdf(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.cdf_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.cdf_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_cdf(float8, float8, float8, float8) IS
'Differentially private cumulative distribution: one release, then any number of questions for free
  (dp_cdf_quantile, dp_cdf_probability, dp_cdf_count, dp_cdf_points, dp_cdf_plot, ...). An empty input
  gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count in the first or last bin.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.cdf_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_transition';
CREATE AGGREGATE @extschema@.dp_cdf(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.cdf_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.cdf_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_cdf(float8, float8, float8, float8, jsonb) IS
'Differentially private cumulative distribution: one release, then any number of questions for free
  (dp_cdf_quantile, dp_cdf_probability, dp_cdf_count, dp_cdf_points, dp_cdf_plot, ...). An empty input
  gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count in the first or last bin.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): method, and bins or granularity; rho.
All arguments except value must be constant.';

-- ---------------------------------------------------------------------------------------------
-- CDF: questions to a released value
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION @extschema@.dp_cdf_rows(cdf @extschema@.dp_cdf) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_rows';
COMMENT ON FUNCTION @extschema@.dp_cdf_rows(@extschema@.dp_cdf) IS
  'The private number of rows with a value. cdf: a released CDF. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_count(cdf @extschema@.dp_cdf, from_value float8, to_value float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_count';
COMMENT ON FUNCTION @extschema@.dp_cdf_count(@extschema@.dp_cdf, float8, float8) IS
  'The private number of rows with a value from from_value to to_value (both inclusive for a CDF with a '
  'granularity; a part of a bin counts in proportion to its width). cdf: a released CDF; from_value, '
  'to_value: any numbers, -Infinity and Infinity allowed. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_probability(cdf @extschema@.dp_cdf, x float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_probability';
COMMENT ON FUNCTION @extschema@.dp_cdf_probability(@extschema@.dp_cdf, float8) IS
  'The private fraction of rows with a value of at most x for a CDF with a granularity, or below x for a '
  'CDF with bins (inside a bin in proportion to the width); NULL if the release has no rows. cdf: a '
  'released CDF; x: any number. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_quantile(cdf @extschema@.dp_cdf, quantile float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantile';
COMMENT ON FUNCTION @extschema@.dp_cdf_quantile(@extschema@.dp_cdf, float8) IS
  'The least value that at least this fraction of the rows does not exceed; NULL if the release has no '
  'rows. cdf: a released CDF; quantile: from 0 to 1, 0.5 is the median. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_quantiles(cdf @extschema@.dp_cdf, quantiles float8[]) RETURNS float8[]
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantiles';
COMMENT ON FUNCTION @extschema@.dp_cdf_quantiles(@extschema@.dp_cdf, float8[]) IS
  'The quantiles of a released CDF in an array of the same shape; NULL for a NULL, or if the release has '
  'no rows. cdf: a released CDF; quantiles: each from 0 to 1. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_error(cdf @extschema@.dp_cdf, confidence float8 DEFAULT 0.95, simultaneous boolean DEFAULT true,
                                         OUT rows float8, OUT fraction float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_error';
COMMENT ON FUNCTION @extschema@.dp_cdf_error(@extschema@.dp_cdf, float8, boolean) IS
  'The error of a released CDF because of its noise, at the values of a CDF with a granularity or at the '
  'edges of bins. rows: the +- of the number of rows up to a point; fraction: the +- of a probability '
  '(NULL if the release has no rows). A count between two points may be off by twice as much, and inside a '
  'bin the straight line may be off by all rows of the bin. A granularity rounds values to the nearest of its own: values between these count '
  'at their neighbour, and the errors leave this out. cdf: a released CDF; confidence: the '
  'probability that the error holds, 0.5 to 0.999; simultaneous: true for all points at once, false for a '
  'point chosen at random. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_quantile_error(cdf @extschema@.dp_cdf, quantile float8, confidence float8 DEFAULT 0.95) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantile_error';
COMMENT ON FUNCTION @extschema@.dp_cdf_quantile_error(@extschema@.dp_cdf, float8, float8) IS
  'The +- of dp_cdf_quantile because of the noise, and because of what the curve does not tell: half a granularity, to which values are rounded, '
  'or the width of a bin; NULL if the release has no rows. It tells how far the least value may be that at least this fraction of the rows '
  'does not exceed. It holds for one quantile that is chosen before; the band of dp_cdf_points holds for all. cdf: a '
  'released CDF of numbers; quantile: from 0 to 1; confidence: the probability that the error holds, 0.5 to 0.999. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_points(cdf @extschema@.dp_cdf, confidence float8 DEFAULT 0.95)
  RETURNS TABLE (x float8, probability float8, low float8, high float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_points';
COMMENT ON FUNCTION @extschema@.dp_cdf_points(@extschema@.dp_cdf, float8) IS
  'The points of a released CDF: x, probability, and a band from low to high that holds at all points at '
  'once. For a CDF with a granularity the points are its values, with the fraction of rows up to x, of values rounded to the nearest '
  'point (the band holds for these); else they are the edges of the bins, with the fraction of rows below x. cdf: a released CDF; confidence: the '
  'probability that the true fractions lie in the band, 0.5 to 0.999. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_plot(cdf @extschema@.dp_cdf, width bigint DEFAULT 78, height bigint DEFAULT 22, confidence float8 DEFAULT 0.95)
  RETURNS SETOF text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 22 AS 'MODULE_PATHNAME', 'dpq_cdf_plot';
COMMENT ON FUNCTION @extschema@.dp_cdf_plot(@extschema@.dp_cdf, bigint, bigint, float8) IS
  'A plot of a released CDF with its band as lines of text. cdf: a released CDF; width: 40 to 400 '
  'columns; height: 10 to 200 lines; confidence: of the band, 0.5 to 0.999. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_svg(cdf @extschema@.dp_cdf, width bigint DEFAULT 720, height bigint DEFAULT 440, title text DEFAULT '',
                                       confidence float8 DEFAULT 0.95)
  RETURNS text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_svg';
COMMENT ON FUNCTION @extschema@.dp_cdf_svg(@extschema@.dp_cdf, bigint, bigint, text, float8) IS
  'A plot of a released CDF with its band as an SVG document. cdf: a released CDF; width, height: 200 '
  'to 4000 pixels; title: up to 1000 bytes; confidence: of the band, 0.5 to 0.999. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_expected_error(epsilon float8, bins bigint DEFAULT 1024, confidence float8 DEFAULT 0.95,
                                                  method text DEFAULT NULL, rho float8 DEFAULT NULL,
                                                  OUT pointwise float8, OUT simultaneous float8,
                                                  OUT branching int[], OUT level_epsilon float8[], OUT level_rho float8[])
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_expected_error';
COMMENT ON FUNCTION @extschema@.dp_cdf_expected_error(float8, bigint, float8, text, float8) IS
  'The expected error of dp_cdf: the +- in rows at a point chosen at random (pointwise) and at all points '
  'at once (simultaneous), and the tree of the release: branching and level_epsilon or level_rho of each '
  'level, NULL for method ''factorization'', which has no tree. epsilon, bins, method: as for dp_cdf, NULL for the '
  'default method; confidence: the probability that the error holds, 0.5 to 0.999; rho: for a release with option rho, '
  'with NULL for epsilon. Reads no data and costs no budget.';

-- ---------------------------------------------------------------------------------------------
-- CDF: questions to a released value of dates or times. The value has no type that a function could have, so the
-- answers are texts.
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION @extschema@.dp_cdf_time_count(cdf @extschema@.dp_cdf, from_value anyelement, to_value anyelement) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_count';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_count(@extschema@.dp_cdf, anyelement, anyelement) IS
  'dp_cdf_count for a CDF of dates or times: the private number of rows with a value from from_value to to_value. '
  'cdf: a released CDF; from_value, to_value: values of its type, also infinite ones. Costs no budget.';
CREATE FUNCTION @extschema@.dp_cdf_time_count(cdf @extschema@.dp_cdf, from_value text, to_value text) RETURNS float8
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_count';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_count(@extschema@.dp_cdf, text, text) IS
  'dp_cdf_count for a CDF of dates or times: the private number of rows with a value from from_value to to_value. '
  'cdf: a released CDF; from_value, to_value: texts of values of its type. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_time_probability(cdf @extschema@.dp_cdf, x anyelement) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_probability';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_probability(@extschema@.dp_cdf, anyelement) IS
  'dp_cdf_probability for a CDF of dates or times: the private fraction of rows up to x. cdf: a released CDF; '
  'x: a value of its type, also an infinite one. Costs no budget.';
CREATE FUNCTION @extschema@.dp_cdf_time_probability(cdf @extschema@.dp_cdf, x text) RETURNS float8
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_probability';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_probability(@extschema@.dp_cdf, text) IS
  'dp_cdf_probability for a CDF of dates or times: the private fraction of rows up to x. cdf: a released CDF; '
  'x: the text of a value of its type. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_time_quantile(cdf @extschema@.dp_cdf, quantile float8) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_quantile';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_quantile(@extschema@.dp_cdf, float8) IS
  'dp_cdf_quantile for a CDF of dates or times. The answer is a text in ISO form, which casts to the type; a timestamptz is in '
  'the time zone of the session. cdf: a released CDF; quantile: from 0 to 1, 0.5 is the median. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_time_quantiles(cdf @extschema@.dp_cdf, quantiles float8[]) RETURNS text[]
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_quantiles';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_quantiles(@extschema@.dp_cdf, float8[]) IS
  'dp_cdf_quantiles for a CDF of dates or times. The answers are texts in ISO form, which cast to the type; a timestamptz is in '
  'the time zone of the session. cdf: a released CDF; quantiles: each from 0 to 1. Costs no budget.';

CREATE FUNCTION @extschema@.dp_cdf_time_points(cdf @extschema@.dp_cdf, confidence float8 DEFAULT 0.95)
  RETURNS TABLE (x text, probability float8, low float8, high float8)
  LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_time_points';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_points(@extschema@.dp_cdf, float8) IS
  'dp_cdf_points for a CDF of dates or times: x, probability, and a band from low to high that holds at all points at once. x '
  'is a text in ISO form, which casts to the type; a timestamptz is in the time zone of the session. cdf: a released CDF; '
  'confidence: the probability that the true fractions lie in the band, 0.5 to 0.999. Costs no budget.';

-- ---------------------------------------------------------------------------------------------
-- Interquartile range
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.iqr_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_iqr_final';

CREATE FUNCTION dpquantile.iqr_transition(dpquantile.records_state, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_transition';
CREATE AGGREGATE @extschema@.dp_iqr(value float8, epsilon float8, delta float8) (
  SFUNC = dpquantile.iqr_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.iqr_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_iqr(float8, float8, float8) IS
'Differentially private interquartile range (upper minus lower quartile) without bounds on the values. NULL is
  an ordinary private answer, given if a few rows decide the quartiles; see dp_iqr_min_rows. An empty input is
  answered like any other input.
Privacy: (epsilon, delta)-differentially private for adding or removing one row, or replacing it within its group.
  epsilon and delta are the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; infinities count as the largest finite numbers.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
delta: the probability with which the guarantee may fail, 1e-300 to 0.5; choose it far below one over the number of
  rows.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.iqr_transition(dpquantile.records_state, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_transition';
CREATE AGGREGATE @extschema@.dp_iqr(value float8, epsilon float8, delta float8, options jsonb) (
  SFUNC = dpquantile.iqr_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.iqr_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_iqr(float8, float8, float8, jsonb) IS
'Differentially private interquartile range (upper minus lower quartile) without bounds on the values. NULL is
  an ordinary private answer, given if a few rows decide the quartiles; see dp_iqr_min_rows. An empty input is
  answered like any other input.
Privacy: (epsilon, delta)-differentially private for adding or removing one row, or replacing it within its group;
  method ''quantiles'': epsilon-differentially private for adding or removing one row. epsilon and delta are the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; infinities count as the largest finite numbers (method ''quantiles'':
  values outside the bounds count as the nearer bound).
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
delta: the probability with which the guarantee may fail, 1e-300 to 0.5; choose it far below one over the number of
  rows; 0 for method ''quantiles''.
options: built by dp_options(): method ''propose-test-release'' (the default, needs no bounds) or ''quantiles''
  (needs lower and upper, spends no delta, never NULL, far more accurate).
All arguments except value must be constant.';

CREATE FUNCTION @extschema@.dp_iqr_min_rows(epsilon float8, delta float8) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_min_rows';
COMMENT ON FUNCTION @extschema@.dp_iqr_min_rows(float8, float8) IS
  'The number of rows with a value that dp_iqr needs in a group to answer NULL in less than one of twenty cases, for '
  'data from a smooth distribution such as the normal, exponential, uniform or Laplace. epsilon, delta: as for '
  'dp_iqr. Uses public parameters only: reads no data and costs no budget.';

CREATE FUNCTION @extschema@.dp_iqr_expected_error(epsilon float8, delta float8, rows float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_expected_error';
COMMENT ON FUNCTION @extschema@.dp_iqr_expected_error(float8, float8, float8) IS
  'The expected error of dp_iqr: 19 of 20 answers are too large or too small by a factor of at most 1 + this '
  'error, for data from a smooth distribution such as the normal, exponential, uniform or Laplace. NULL '
  'for fewer rows than dp_iqr_min_rows. epsilon, delta: as for dp_iqr; rows: a public guess of the number of '
  'rows with a value in a group. Reads no data and costs no budget.';

-- ---------------------------------------------------------------------------------------------
-- User level: all rows of a user are protected together
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.user_mean_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_user_mean_final';
CREATE FUNCTION dpquantile.user_variance_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_user_variance_final';

CREATE FUNCTION dpquantile.user_mean_transition(dpquantile.records_state, anynonarray, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_user_mean_transition';
CREATE AGGREGATE @extschema@.dp_user_mean(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.user_mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_mean(anynonarray, float8, float8, float8, float8) IS
'Differentially private mean of the rows, with all rows of a user protected together. An empty input gets an
  ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one user. The users and the
  number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private values breaks that, and
  so do values that are NULL or NaN for private reasons. Then use the method ''bounded'' (dp_options).
  epsilon is charged for each group of a GROUP BY, because a user may be in several groups (with grouping sets: for
  each group of each set): for one group before the rows are read, for all others together or not at all. The groups and
  their number are public.
user_id: the user of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
All arguments except user_id and value must be constant.';

CREATE FUNCTION dpquantile.user_mean_transition(dpquantile.records_state, anynonarray, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_user_mean_transition';
CREATE AGGREGATE @extschema@.dp_user_mean(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.user_mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_mean(anynonarray, float8, float8, float8, float8, jsonb) IS
'Differentially private mean of the rows, with all rows of a user protected together. An empty input gets an
  ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one user; with the option rho, rho-zCDP instead.
  The users and the number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private
  values breaks that, and so do values that are NULL or NaN for private reasons. Then use the method ''bounded'', whose
  guarantee is for adding or removing one user with all rows; nothing is public.
  epsilon or rho is charged for each group of a GROUP BY, because a user may be in several groups (with grouping sets:
  for each group of each set): for one group before the rows are read, for all others together or not at all. The groups
  and their number are public.
user_id: the user of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
options: built by dp_options(): method ''auto'' (the default: ''array'' or ''quantile'', by rows per user and epsilon
  or rho), ''array'' (at most max_contributions rows of each user), ''baseline'' (all rows), ''levy'', ''quantile'',
  ''quantile-adaptive'' (means of arrays of rows, clipped to a private interval) or ''bounded''; max_contributions: a
  whole number, ''median'' or ''optimal'' (the default: for ''auto'' the least error to expect, for ''array'' the least
  worst-case error; ''bounded'' needs a number); rho.
All arguments except user_id and value must be constant.';

CREATE FUNCTION dpquantile.user_variance_transition(dpquantile.records_state, anynonarray, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_user_variance_transition';
CREATE AGGREGATE @extschema@.dp_user_variance(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.user_variance_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_variance_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_variance(anynonarray, float8, float8, float8, float8) IS
'Differentially private population variance of the rows, with all rows of a user protected together. An empty input gets
  an ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one user. The users and the
  number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private values breaks that, and
  so do values that are NULL or NaN for private reasons. Then use the method ''bounded'' (dp_options).
  epsilon is charged for each group of a GROUP BY, because a user may be in several groups (with grouping sets: for
  each group of each set): for one group before the rows are read, for all others together or not at all. The groups and
  their number are public.
user_id: the user of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
All arguments except user_id and value must be constant.';

CREATE FUNCTION dpquantile.user_variance_transition(dpquantile.records_state, anynonarray, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_user_variance_transition';
CREATE AGGREGATE @extschema@.dp_user_variance(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.user_variance_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_variance_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_variance(anynonarray, float8, float8, float8, float8, jsonb) IS
'Differentially private population variance of the rows, with all rows of a user protected together. An empty input gets
  an ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one user; with the option rho, rho-zCDP instead.
  The users and the number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private
  values breaks that, and so do values that are NULL or NaN for private reasons. Then use the method ''bounded'', whose
  guarantee is for adding or removing one user with all rows; nothing is public.
  epsilon or rho is charged for each group of a GROUP BY, because a user may be in several groups (with grouping sets:
  for each group of each set): for one group before the rows are read, for all others together or not at all. The groups
  and their number are public.
user_id: the user of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
options: built by dp_options(): method ''array'' (the default: at most max_contributions rows of each user),
  ''baseline'' (all rows) or ''bounded''; max_contributions: a whole number, ''median'' or ''optimal'' (the default:
  least worst-case error; ''bounded'' needs a number); rho.
All arguments except user_id and value must be constant.';

CREATE TYPE @extschema@.dp_grid_stat AS (
  grid text,
  mean float8,
  variance float8,
  users_kept bigint,
  mean_error float8,
  variance_error float8,
  grids_per_user int,
  relative_error_bound float8
);
COMMENT ON TYPE @extschema@.dp_grid_stat IS
  'The released statistics of one grid, from dp_user_grid_stats. Reading them again costs no budget.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.grid IS 'The name of the grid. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.mean IS 'The noisy mean, from lower to upper.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.variance IS
  'The noisy population variance, from 0 to a quarter of (upper - lower) squared.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.users_kept IS
  'The number of users whose rows in this grid count; the others are suppressed here. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.mean_error IS
  'The error of the mean: the largest effect of suppression on any data, plus the expected size of the noise. '
  'Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.variance_error IS 'The same for the variance. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.grids_per_user IS
  'K, the largest number of grids in which one user counts. Each grid gets epsilon / K, or rho / K, half of it for the '
  'mean. The same in all grids of a release. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.relative_error_bound IS
  'A bound of mean_error / (upper - lower) + variance_error / (upper - lower)^2 in every grid: the largest of these '
  'sums before suppression. The same in all grids of a release. Public.';

CREATE FUNCTION dpquantile.user_grids_final(dpquantile.records_state) RETURNS @extschema@.dp_grid_stat[]
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_user_grids_final';

CREATE FUNCTION dpquantile.user_grids_transition(dpquantile.records_state, anynonarray, text, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_user_grids_transition';
CREATE AGGREGATE @extschema@.dp_user_grid_stats(user_id anynonarray, grid text, value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.user_grids_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_grids_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_grid_stats(anynonarray, text, float8, float8, float8, float8) IS
'Differentially private mean and variance of each grid (a region of a map, a time of the day, ...), with all rows of a
  user in all grids protected together. Returns one dp_grid_stat for each grid, ordered by the bytes of its name,
  for SELECT (s).* FROM unnest((SELECT dp_user_grid_stats(...) FROM trips)) s. An empty input has no grids.
Privacy: epsilon-differentially private, all grids together, for replacing the values of one user. The grids, the
  users and the number of rows with a value of each user in each grid are public; a WHERE, FILTER, join or GROUP BY on
  private values breaks that, and so do values that are NULL or NaN for private reasons. Then use dp_user_mean and
  dp_user_variance with method ''bounded'' for each grid. epsilon is the total for all grids. It is charged for
  each group of a GROUP BY, because a user may be in several groups (with grouping sets: for each group of each set):
  for one group before the rows are read, for all others together or not at all.
user_id: the user of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
grid: the name of the row''s grid, which is printed unchanged: never computed from private values. Names with different
  bytes are different grids. Rows with a NULL grid are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
All arguments except user_id, grid and value must be constant.';

CREATE FUNCTION dpquantile.user_grids_transition(dpquantile.records_state, anynonarray, text, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_user_grids_transition';
CREATE AGGREGATE @extschema@.dp_user_grid_stats(user_id anynonarray, grid text, value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.user_grids_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_grids_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_grid_stats(anynonarray, text, float8, float8, float8, float8, jsonb) IS
'Differentially private mean and variance of each grid (a region of a map, a time of the day, ...), with all rows of a
  user in all grids protected together. Returns one dp_grid_stat for each grid, ordered by the bytes of its name,
  for SELECT (s).* FROM unnest((SELECT dp_user_grid_stats(...) FROM trips)) s. An empty input has no grids.
Privacy: epsilon-differentially private, all grids together, for replacing the values of one user; with the option rho,
  rho-zCDP instead. The grids, the users and the number of rows with a value of each user in each grid are public; a
  WHERE, FILTER, join or GROUP BY on private values breaks that, and so do values that are NULL or NaN for private
  reasons. Then use dp_user_mean and dp_user_variance with method ''bounded'' for each grid. epsilon or rho is the total
  for all grids. It is charged for each group of a GROUP BY, because a user may be in several groups (with grouping sets:
  for each group of each set): for one group before the rows are read, for all others together or not at all.
user_id: the user of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
grid: the name of the row''s grid, which is printed unchanged: never computed from private values. Names with different
  bytes are different grids. Rows with a NULL grid are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
options: built by dp_options(): suppress, whether users may be left out of some of their grids (default true). This
  gives each grid a larger part of epsilon or rho, and no worst-case error exceeds the largest error without
  suppression; rho.
All arguments except user_id, grid and value must be constant.';

CREATE FUNCTION @extschema@.dp_user_expected_error(rows_per_user bigint[], users bigint[], epsilon float8, lower float8,
                                                   upper float8, options jsonb DEFAULT '{}')
  RETURNS TABLE (statistic text, max_contributions bigint, rows_kept bigint, left_out_error float8,
                 noise_error float8, total_error float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 2 AS 'MODULE_PATHNAME', 'dpq_user_expected_error';
COMMENT ON FUNCTION @extschema@.dp_user_expected_error(bigint[], bigint[], float8, float8, float8, jsonb) IS
'The expected error of dp_user_mean and dp_user_variance: one row for each statistic that has the method (''mean'' and,
except for methods that clip to a private interval, ''variance''). Uses public figures only: reads no data and costs no
budget.
rows_per_user, users: users[i] users have rows_per_user[i] rows each.
epsilon, lower, upper, options: as for dp_user_mean; epsilon is NULL with the option rho. With its default method,
  ''auto'', the row of the variance is for the default of dp_user_variance, ''array''.
statistic: ''mean'' or ''variance''; max_contributions: the most rows kept of a user; rows_kept: the rows kept of all
  users; left_out_error: the largest difference between the statistic of the kept rows and that of all rows, for any
  data (NULL for methods that clip to a private interval: no bound); noise_error: the expected size of the noise;
  total_error: their sum. Errors are in the units of the values, for the variance in their squares.';

-- ---------------------------------------------------------------------------------------------
-- Counts, sums, means and spreads
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.count_final(dpquantile.records_state) RETURNS bigint
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_count_final';
CREATE FUNCTION dpquantile.value_count_final(dpquantile.records_state) RETURNS bigint
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_value_count_final';
CREATE FUNCTION dpquantile.distinct_final(dpquantile.records_state) RETURNS bigint
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_distinct_final';
CREATE FUNCTION dpquantile.sum_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_sum_final';
CREATE FUNCTION dpquantile.mean_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_mean_final';
CREATE FUNCTION dpquantile.var_pop_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_var_pop_final';
CREATE FUNCTION dpquantile.var_samp_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_var_samp_final';
CREATE FUNCTION dpquantile.stddev_pop_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_stddev_pop_final';
CREATE FUNCTION dpquantile.stddev_samp_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_stddev_samp_final';

CREATE FUNCTION dpquantile.count_transition(dpquantile.records_state, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_count_transition';
CREATE AGGREGATE @extschema@.dp_count(epsilon float8) (
  SFUNC = dpquantile.count_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.count_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count(float8) IS
'Differentially private number of rows, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
All arguments must be constant.';

CREATE FUNCTION dpquantile.count_transition(dpquantile.records_state, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_count_transition';
CREATE AGGREGATE @extschema@.dp_count(epsilon float8, options jsonb) (
  SFUNC = dpquantile.count_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.count_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count(float8, jsonb) IS
'Differentially private number of rows, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
options: built by dp_options(): rho.
All arguments must be constant.';

CREATE FUNCTION dpquantile.value_count_transition(dpquantile.records_state, "any", float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_value_count_transition';
CREATE AGGREGATE @extschema@.dp_count(value "any", epsilon float8) (
  SFUNC = dpquantile.value_count_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.value_count_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count("any", float8) IS
'Differentially private number of rows in which value is not NULL, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: any expression.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.value_count_transition(dpquantile.records_state, "any", float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_value_count_transition';
CREATE AGGREGATE @extschema@.dp_count(value "any", epsilon float8, options jsonb) (
  SFUNC = dpquantile.value_count_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.value_count_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count("any", float8, jsonb) IS
'Differentially private number of rows in which value is not NULL, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: any expression.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
options: built by dp_options(): rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.distinct_transition(dpquantile.records_state, anyelement, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_distinct_transition';
CREATE AGGREGATE @extschema@.dp_count_distinct(value anyelement, epsilon float8) (
  SFUNC = dpquantile.distinct_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.distinct_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count_distinct(anyelement, float8) IS
'Differentially private number of different values, at least 0.
A value is kept as 64 bits of a keyed hash: 10 to 15 bytes of memory for each different value.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: an expression of any type that can be hashed. NULL is ignored.
  PostgreSQL''s own hash takes some different intervals, jsonb, ranges and arrays of elements of 64 bits for one, such as {1} and {4294967296}.
  They count as one, which no error tells. Cast them to text.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.distinct_transition(dpquantile.records_state, anyelement, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_distinct_transition';
CREATE AGGREGATE @extschema@.dp_count_distinct(value anyelement, epsilon float8, options jsonb) (
  SFUNC = dpquantile.distinct_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.distinct_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count_distinct(anyelement, float8, jsonb) IS
'Differentially private number of different values, at least 0.
A value is kept as 64 bits of a keyed hash: 10 to 15 bytes of memory for each different value.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: an expression of any type that can be hashed. NULL is ignored.
  PostgreSQL''s own hash takes some different intervals, jsonb, ranges and arrays of elements of 64 bits for one, such as {1} and {4294967296}.
  They count as one, which no error tells. Cast them to text.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
options: built by dp_options(): rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.sum_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_sum_transition';
CREATE AGGREGATE @extschema@.dp_sum(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.sum_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.sum_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(float8, float8, float8, float8) IS
'Differentially private sum. Its noise is proportional to the larger of |lower| and |upper|, and may take the sum beyond 0: sums of groups add up.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.sum_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_sum_transition';
CREATE AGGREGATE @extschema@.dp_sum(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.sum_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.sum_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(float8, float8, float8, float8, jsonb) IS
'Differentially private sum. Its noise is proportional to the larger of |lower| and |upper|, and may take the sum beyond 0: sums of groups add up.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.mean_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_mean_transition';
CREATE AGGREGATE @extschema@.dp_avg(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg(float8, float8, float8, float8) IS
'Differentially private mean, within the bounds. Without rows it is a number within the bounds.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.mean_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_mean_transition';
CREATE AGGREGATE @extschema@.dp_avg(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg(float8, float8, float8, float8, jsonb) IS
'Differentially private mean, within the bounds. Without rows it is a number within the bounds.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.var_pop_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_var_pop(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.var_pop_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop(float8, float8, float8, float8) IS
'Differentially private population variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.var_pop_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_var_pop(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.var_pop_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop(float8, float8, float8, float8, jsonb) IS
'Differentially private population variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.var_samp_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_var_samp(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.var_samp_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp(float8, float8, float8, float8) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.var_samp_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_var_samp(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.var_samp_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp(float8, float8, float8, float8, jsonb) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.variance_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_variance(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.variance_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance(float8, float8, float8, float8) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.variance_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_variance(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.variance_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance(float8, float8, float8, float8, jsonb) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.stddev_pop_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stddev_pop(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.stddev_pop_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop(float8, float8, float8, float8) IS
'Differentially private population standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.stddev_pop_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stddev_pop(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.stddev_pop_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop(float8, float8, float8, float8, jsonb) IS
'Differentially private population standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.stddev_samp_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stddev_samp(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.stddev_samp_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp(float8, float8, float8, float8) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.stddev_samp_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stddev_samp(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.stddev_samp_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp(float8, float8, float8, float8, jsonb) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.stddev_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stddev(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.stddev_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev(float8, float8, float8, float8) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.stddev_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stddev(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.stddev_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev(float8, float8, float8, float8, jsonb) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE TYPE @extschema@.dp_statistics AS (
  count bigint,
  count_error bigint,
  sum float8,
  sum_error float8,
  avg float8,
  avg_error float8,
  variance float8,
  variance_error float8,
  stddev float8,
  stddev_error float8
);
COMMENT ON TYPE @extschema@.dp_statistics IS
  'The answer of dp_stats: number of rows, sum, mean, sample variance and sample standard deviation. The exact '
  'statistic lies within ..._error of each with a probability of at least 95 %.';
CREATE TYPE @extschema@.dp_numeric_statistics AS (
  count bigint,
  count_error bigint,
  sum numeric,
  sum_error numeric,
  avg numeric,
  avg_error numeric,
  variance numeric,
  variance_error numeric,
  stddev numeric,
  stddev_error numeric
);
COMMENT ON TYPE @extschema@.dp_numeric_statistics IS
  'The answer of dp_stats for integers and numeric values: number of rows, sum, mean, sample variance and sample standard deviation. The exact '
  'statistic lies within ..._error of each with a probability of at least 95 %.';
CREATE FUNCTION dpquantile.stats_final(dpquantile.records_state) RETURNS @extschema@.dp_statistics
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_stats_final';
CREATE FUNCTION dpquantile.stats_transition(dpquantile.records_state, float8, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stats(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.stats_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stats_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stats(float8, float8, float8, float8) IS
'Differentially private number of rows, sum, mean, sample variance and sample standard deviation with their errors, all for
  one epsilon. Write (dp_stats(...)).* for columns.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.stats_transition(dpquantile.records_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_moments_transition';
CREATE AGGREGATE @extschema@.dp_stats(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.stats_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stats_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stats(float8, float8, float8, float8, jsonb) IS
'Differentially private number of rows, sum, mean, sample variance and sample standard deviation with their errors, all for
  one epsilon. Write (dp_stats(...)).* for columns.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which sum, mean, variance and deviation are rounded; rho.
All arguments except value must be constant.';

CREATE FUNCTION @extschema@.dp_stats_expected_error(n bigint, epsilon float8, lower float8, upper float8, options jsonb DEFAULT '{}',
    OUT count float8, OUT sum float8, OUT avg float8, OUT variance float8, OUT stddev float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_stats_expected_error';
COMMENT ON FUNCTION @extschema@.dp_stats_expected_error(bigint, float8, float8, float8, jsonb) IS
  'The mean absolute errors to expect of dp_stats on the worst data with n rows: at most these on other data. n: a public guess of the number of rows; '
  'epsilon, lower, upper, options: as in dp_stats; count, sum, avg, variance, stddev: the error of each column (the sample variance and its root). Reads no '
  'data and costs no budget.';

-- ---------------------------------------------------------------------------------------------
-- Which groups may be shown
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.keep_group_final(dpquantile.records_state) RETURNS boolean
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_keep_group_final';
CREATE FUNCTION dpquantile.keep_group_transition(dpquantile.records_state, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keep_group_transition';
CREATE AGGREGATE @extschema@.dp_keep_group(epsilon float8, delta float8) (
  SFUNC = dpquantile.keep_group_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.keep_group_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_keep_group(float8, float8) IS
'Whether a group may be shown, for HAVING: GROUP BY city HAVING dp_keep_group(1, 1e-6). The key of a group of few rows can tell
  that a person is in the data. A group of one row is kept with probability delta; large groups are always kept.
  Without rows the answer is false.
Privacy: (epsilon, delta)-differentially private for adding or removing one row. epsilon and delta are the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private and hides more groups.
delta: the probability with which the guarantee may fail, 1e-290 to 0.5; choose it far below one over the number of
  rows.
All arguments must be constant.';

CREATE FUNCTION dpquantile.keep_user_group_final(dpquantile.records_state) RETURNS boolean
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_keep_user_group_final';
CREATE FUNCTION dpquantile.keep_user_group_transition(dpquantile.records_state, anynonarray, float8, float8, bigint)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keep_user_group_transition';
CREATE AGGREGATE @extschema@.dp_keep_group(user_id anynonarray, epsilon float8, delta float8, max_groups bigint) (
  SFUNC = dpquantile.keep_user_group_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.keep_user_group_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_keep_group(anynonarray, float8, float8, bigint) IS
'Whether a group may be shown, for users who may be in several groups. Each user counts in at most max_groups groups, which are
  chosen at random; with epsilon / max_groups and delta / max_groups each group is kept as if its users were rows.
Privacy: (epsilon, delta)-differentially private for adding or removing one user with all rows. epsilon and delta are the
  total charged, once for all groups of a GROUP BY (times the number of grouping sets).
user_id: the user of a row; rows without a user are ignored.
epsilon: privacy parameter; epsilon / max_groups from 1e-6 on, epsilon up to 1000.
delta: the probability with which the guarantee may fail, up to 0.5; choose it far below one over the number of users.
max_groups: the most groups in which a user counts. Fewer make the groups of users with many groups smaller, more make each
  group need more users.
All arguments except user_id must be constant.';

CREATE FUNCTION @extschema@.dp_keep_group_rows(epsilon float8, delta float8, OUT half_the_time bigint, OUT always bigint)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keep_group_rows';
COMMENT ON FUNCTION @extschema@.dp_keep_group_rows(float8, float8) IS
  'How many rows a group needs for dp_keep_group. epsilon, delta: as there; half_the_time: from so many rows on it is kept with '
  'probability 1/2 or more; always: from so many rows on it is always kept. Reads no data and costs no budget.';

-- ---------------------------------------------------------------------------------------------
-- Histograms
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.histogram_final(dpquantile.records_state) RETURNS bigint[]
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_histogram_final';
CREATE FUNCTION dpquantile.histogram_transition(dpquantile.records_state, float8, float8, float8[])
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_transition';
CREATE AGGREGATE @extschema@.dp_histogram(value float8, epsilon float8, bounds float8[]) (
  SFUNC = dpquantile.histogram_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.histogram_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_histogram(float8, float8, float8[]) IS
'Differentially private histogram: the number of values in each bin, at least 0. dp_histogram_rows makes rows of it.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL, NaN and values outside all bins are ignored.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
bounds: 2 to 65537 public numbers in ascending order, at the ends also -Infinity and Infinity. Bin i goes from element i,
  inclusive, to element i + 1, exclusive; the last bin includes its end.
All arguments except value must be constant.';

CREATE FUNCTION dpquantile.histogram_transition(dpquantile.records_state, float8, float8, float8[], jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_transition';
CREATE AGGREGATE @extschema@.dp_histogram(value float8, epsilon float8, bounds float8[], options jsonb) (
  SFUNC = dpquantile.histogram_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.histogram_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_histogram(float8, float8, float8[], jsonb) IS
'Differentially private histogram: the number of values in each bin, at least 0. dp_histogram_rows makes rows of it.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL, NaN and values outside all bins are ignored.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
bounds: 2 to 65537 public numbers in ascending order, at the ends also -Infinity and Infinity. Bin i goes from element i,
  inclusive, to element i + 1, exclusive; the last bin includes its end.
options: built by dp_options(): rho.
All arguments except value must be constant.';

CREATE FUNCTION @extschema@.dp_histogram_rows(bounds anyarray, counts bigint[])
  RETURNS TABLE (lower anyelement, upper anyelement, count bigint)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'dpq_histogram_rows';
COMMENT ON FUNCTION @extschema@.dp_histogram_rows(anyarray, bigint[]) IS
  'The rows of a histogram. bounds: as in dp_histogram; counts: its answer; lower, upper: the bounds of a bin; count: the '
  'number of values in it. Costs no budget.';

CREATE FUNCTION @extschema@.dp_histogram_plot(bounds anyarray, counts bigint[], width bigint DEFAULT 78, height bigint DEFAULT 22,
                                              error bigint DEFAULT NULL)
  RETURNS SETOF text
  LANGUAGE C STABLE PARALLEL SAFE ROWS 22 AS 'MODULE_PATHNAME', 'dpq_histogram_plot';
COMMENT ON FUNCTION @extschema@.dp_histogram_plot(anyarray, bigint[], bigint, bigint, bigint) IS
  'A plot of a released histogram as lines of text: a bar a bin, all equally wide, with the bounds between them. bounds: as '
  'in dp_histogram; counts: its answer; width: 40 to 400 columns; height: 10 to 200 lines; error: the +- of each count, for '
  'example dp_histogram_error(epsilon), or NULL. Costs no budget.';

CREATE FUNCTION @extschema@.dp_histogram_svg(bounds anyarray, counts bigint[], width bigint DEFAULT 720, height bigint DEFAULT 440,
                                             title text DEFAULT '', error bigint DEFAULT NULL)
  RETURNS text
  LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_svg';
COMMENT ON FUNCTION @extschema@.dp_histogram_svg(anyarray, bigint[], bigint, bigint, text, bigint) IS
  'A plot of a released histogram as an SVG document: a bar a bin, all equally wide, with the bounds between them. bounds: '
  'as in dp_histogram; counts: its answer; width, height: 200 to 4000 pixels; title: up to 1000 bytes; error: the +- of each '
  'count, for example dp_histogram_error(epsilon), or NULL. Costs no budget.';

CREATE FUNCTION @extschema@.dp_histogram_error(epsilon float8, confidence float8 DEFAULT 0.95) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_error';
COMMENT ON FUNCTION @extschema@.dp_histogram_error(float8, float8) IS
  'The error of a count of dp_count, dp_count_distinct or a bin of dp_histogram: the exact number lies within it with this '
  'confidence. epsilon: as there; confidence: a number from 0 to 1. Reads no data and costs no budget.';

-- ---------------------------------------------------------------------------------------------
-- Values of other types: each aggregate above once more for numeric, and for integers, dates and times where an answer
-- of this type makes sense. (Those of smallint answer in integer. real becomes float8, and without a variant of
-- its own so does an integer.) Bounds of dates and times are of the type of the values; those of numbers are float8, so that a
-- call with any number finds the variant of its values: an implicit cast of a numeric to float8 would raise an error that
-- depends on the data. These clamp it like any other value.
-- ---------------------------------------------------------------------------------------------

DO $$
DECLARE
  variant record;
  transition text;
  final text;
BEGIN
  FOR variant IN
    SELECT p.oid, p.proname, transition.proname AS transition, transition.prosrc AS transition_symbol,
           final.proname AS final, final.prosrc AS final_symbol, v.type, v.kind, v.sort,
           CASE WHEN 'options' = ANY (p.proargnames) THEN f.granularity ELSE 'none' END AS granularity,
           'lower' = ANY (p.proargnames) AS bounded,
           CASE f.answers WHEN 'value' THEN v.own
                          WHEN 'values' THEN v.own || '[]'
                          WHEN 'mean' THEN CASE v.kind WHEN 'integer' THEN 'numeric' ELSE v.type END
                          WHEN 'difference' THEN CASE v.kind WHEN 'integer' THEN 'numeric' WHEN 'time' THEN 'interval' ELSE v.type END
                          WHEN 'sum' THEN CASE v.own WHEN 'integer' THEN 'bigint' WHEN 'bigint' THEN 'numeric' ELSE v.type END
                          WHEN 'statistics' THEN '@extschema@.dp_numeric_statistics'
                          END AS answer,
           given.*
      FROM (VALUES ('dp_quantiles',       'values',     'default', '{number,integer,time}'::text[]),
                   ('dp_quantile',        'value',      'default', '{number,integer,time}'),
                   ('dp_median',          'value',      'default', '{number,integer,time}'),
                   ('dp_synthesize',      'values',     'default', '{number,integer,time}'),
                   ('dp_cdf',             'unchanged',  'default', '{number,time}'),
                   ('dp_iqr',             'difference', 'none',    '{number,time}'),
                   ('dp_sum',             'sum',        'whole',   '{number,integer,interval}'),
                   ('dp_avg',             'mean',       'any',     '{number,integer,time}'),
                   ('dp_var_pop',         'mean',       'any',     '{number,integer}'),
                   ('dp_var_samp',        'mean',       'any',     '{number,integer}'),
                   ('dp_variance',        'mean',       'any',     '{number,integer}'),
                   ('dp_stddev_pop',      'difference', 'any',     '{number,integer,time}'),
                   ('dp_stddev_samp',     'difference', 'any',     '{number,integer,time}'),
                   ('dp_stddev',          'difference', 'any',     '{number,integer,time}'),
                   ('dp_stats',           'statistics', 'any',     '{number,integer}'),
                   ('dp_histogram',       'unchanged',  'none',    '{number,time}'),
                   ('dp_user_mean',       'value',      'none',    '{number,time}'),
                   ('dp_user_variance',   'value',      'none',    '{number}'),
                   ('dp_user_grid_stats', 'unchanged',  'none',    '{number}')) AS f (name, answers, granularity, kinds)
      JOIN (SELECT t.*, replace(t.type, 'smallint', 'integer') AS own
              FROM (VALUES (1, 'numeric', 'number'), (2, 'smallint', 'integer'), (3, 'integer', 'integer'),
                           (4, 'bigint', 'integer'), (5, 'date', 'time'), (6, 'timestamp', 'time'),
                           (7, 'timestamptz', 'time'), (8, 'time', 'time'), (9, 'interval', 'time')) AS t (sort, type, kind)
           ) AS v ON f.kinds && ARRAY[v.kind, v.type]
      JOIN pg_proc p ON p.proname = f.name AND p.pronamespace = '@extschema@'::regnamespace
      JOIN pg_aggregate a ON a.aggfnoid = p.oid AND a.aggtranstype = 'dpquantile.records_state'::regtype
      JOIN pg_proc transition ON transition.oid = a.aggtransfn
      JOIN pg_proc final ON final.oid = a.aggfinalfn,
           LATERAL (SELECT string_agg(format('%I %s', name, new_type), ', ' ORDER BY number) AS arguments,
                           string_agg(new_type, ', ' ORDER BY number) AS types
                      FROM ROWS FROM (unnest(p.proargnames), unnest(p.proargtypes)) WITH ORDINALITY u (name, type, number),
                           LATERAL (SELECT CASE WHEN name = 'value' OR (v.kind = 'time' AND name IN ('lower', 'upper')) THEN v.type
                                                WHEN v.kind = 'time' AND name = 'bounds' THEN v.type || '[]'
                                                ELSE format_type(type, NULL) END) t (new_type)
                   ) given
     ORDER BY p.oid, v.sort
  LOOP
    transition := format('dpquantile.%I(dpquantile.records_state, %s)', variant.transition, variant.types);
    EXECUTE format('CREATE FUNCTION %s RETURNS dpquantile.records_state '
                   'LANGUAGE C IMMUTABLE PARALLEL SAFE AS ''MODULE_PATHNAME'', %L',
                   transition, variant.transition_symbol || '_typed');
    final := 'dpquantile.' || variant.final;
    IF variant.answer IS NOT NULL THEN
      final := final || '_' || regexp_replace(variant.answer, '^.*\.|\[\]', '', 'g');
      IF to_regprocedure(final || '(dpquantile.records_state)') IS NULL THEN
        EXECUTE format('CREATE FUNCTION %s(dpquantile.records_state) RETURNS %s LANGUAGE C VOLATILE PARALLEL SAFE '
                       'SUPPORT dpquantile.planner_support AS ''MODULE_PATHNAME'', %L',
                       final, variant.answer, variant.final_symbol);
      END IF;
    END IF;
    EXECUTE format(
      'CREATE AGGREGATE @extschema@.%I(%s) (SFUNC = dpquantile.%I, STYPE = dpquantile.records_state, SSPACE = 512, '
      'FINALFUNC = %s, FINALFUNC_MODIFY = READ_WRITE, COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)',
      variant.proname, variant.arguments, variant.transition, final);
    EXECUTE format(
      'COMMENT ON AGGREGATE @extschema@.%I(%s) IS %L', variant.proname, variant.types,
      obj_description(variant.oid, 'pg_proc') || format(E'\nThis variant takes values of type %s', variant.type)
        || CASE WHEN variant.answer IS NULL THEN '' ELSE ' and answers in ' || regexp_replace(variant.answer, '^.*\.', '') END
        || '.' || CASE variant.kind
           WHEN 'integer' THEN
             CASE variant.granularity
             WHEN 'default' THEN ' A granularity is a whole number (default: 1 up to 2^20 values; beyond, a round number).'
             WHEN 'whole' THEN ' A granularity is a whole number.' ELSE '' END
           WHEN 'time' THEN
             CASE WHEN variant.granularity = 'none' THEN ''
             WHEN variant.type <> 'date' THEN ' A granularity is an interval: dp_time_options(''1 hour'').'
             WHEN variant.granularity = 'default' THEN ' A granularity is a number of days, or an interval (default: 1 day).'
             ELSE ' A granularity is a number of days, or an interval.' END
             || CASE WHEN variant.bounded THEN ' Infinite values count as the nearer bound.' ELSE '' END
             || CASE variant.type WHEN 'interval' THEN ' A month counts as 30 days.' ELSE '' END
           ELSE '' END);
  END LOOP;
END
$$;

-- ---------------------------------------------------------------------------------------------
-- Numbers that a driver sends as text
--
-- Some drivers bind a number as varchar or text, and then no function takes it: PostgreSQL has no implicit
-- cast from text to float8. The type dp_number has one. These exist once more with dp_number in place of float8
-- and bigint, except in arrays: the private aggregates, dp_budget_fits, dp_iqr_min_rows, the functions
-- dp_..._expected_error, and the functions on a dp_cdf that take a number. dp_grant_budget, dp_options,
-- dp_cdf_quantiles (its numbers are an array) and the functions of schema dpquantile have no such variant.
-- float8 is the preferred type of its category and dp_number is not: so a call that works with float8, and a
-- parameter of unknown type ($1), still means float8.
-- ---------------------------------------------------------------------------------------------

CREATE TYPE @extschema@.dp_number;

CREATE FUNCTION dpquantile.number_in(cstring) RETURNS @extschema@.dp_number
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8in';
COMMENT ON FUNCTION dpquantile.number_in(cstring) IS 'Text form of the type dp_number, that of float8.';
CREATE FUNCTION dpquantile.number_out(@extschema@.dp_number) RETURNS cstring
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8out';
COMMENT ON FUNCTION dpquantile.number_out(@extschema@.dp_number) IS 'Text form of the type dp_number, that of float8.';
CREATE FUNCTION dpquantile.number_recv(internal) RETURNS @extschema@.dp_number
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8recv';
COMMENT ON FUNCTION dpquantile.number_recv(internal) IS 'Binary form of the type dp_number, that of float8.';
CREATE FUNCTION dpquantile.number_send(@extschema@.dp_number) RETURNS bytea
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8send';
COMMENT ON FUNCTION dpquantile.number_send(@extschema@.dp_number) IS 'Binary form of the type dp_number, that of float8.';

CREATE TYPE @extschema@.dp_number (
  INPUT = dpquantile.number_in,
  OUTPUT = dpquantile.number_out,
  RECEIVE = dpquantile.number_recv,
  SEND = dpquantile.number_send,
  LIKE = float8,
  CATEGORY = 'N',
  PREFERRED = false
);
COMMENT ON TYPE @extschema@.dp_number IS
  'A parameter that is a number, for drivers that send numbers as text. The same as float8, with implicit casts from '
  'text and from all numbers.';

-- Without a function: the two types are stored alike, so the aggregates below use the transition functions for float8.
CREATE CAST (float8 AS @extschema@.dp_number) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (@extschema@.dp_number AS float8) WITHOUT FUNCTION AS IMPLICIT;
-- A function that returns dp_number. The cast with float8(float4) would need the cast of float8, and pg_upgrade would make
-- that one later: it makes casts in the order of their names.
CREATE FUNCTION dpquantile.number_of_real(float4) RETURNS @extschema@.dp_number
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'ftod';
COMMENT ON FUNCTION dpquantile.number_of_real(float4) IS
  'The cast of real to dp_number, that to float8. Tells nothing about any data.';
CREATE CAST (float4 AS @extschema@.dp_number) WITH FUNCTION dpquantile.number_of_real(float4) AS IMPLICIT;
CREATE CAST (numeric AS @extschema@.dp_number) WITH FUNCTION float8(numeric) AS IMPLICIT;
CREATE CAST (int2 AS @extschema@.dp_number) WITH FUNCTION float8(int2) AS IMPLICIT;
CREATE CAST (int4 AS @extschema@.dp_number) WITH FUNCTION float8(int4) AS IMPLICIT;
CREATE CAST (int8 AS @extschema@.dp_number) WITH FUNCTION float8(int8) AS IMPLICIT;
CREATE CAST (text AS @extschema@.dp_number) WITH INOUT AS IMPLICIT;
CREATE CAST (varchar AS @extschema@.dp_number) WITH INOUT AS IMPLICIT;
CREATE CAST (bpchar AS @extschema@.dp_number) WITH INOUT AS IMPLICIT;

-- Each aggregate above once more, with its parameters as dp_number.
DO $$
DECLARE
  original record;
  transition text;
BEGIN
  FOR original IN
    SELECT p.oid, p.proname, transition.proname AS transition, transition.prosrc AS symbol, a.aggfinalfn::regproc AS final,
           given.*
      FROM pg_proc p
      JOIN pg_aggregate a ON a.aggfnoid = p.oid
      JOIN pg_proc transition ON transition.oid = a.aggtransfn,
           LATERAL (SELECT string_agg(format('%I %s', name, new_type), ', ' ORDER BY number) AS arguments,
                           string_agg(new_type, ', ' ORDER BY number) AS types,
                           replace(string_agg(new_type, ', ' ORDER BY number), '@extschema@.dp_number', 'float8') AS stored
                      FROM ROWS FROM (unnest(p.proargnames), unnest(p.proargtypes)) WITH ORDINALITY u (name, type, number),
                           LATERAL (SELECT CASE WHEN name <> 'value' AND format_type(type, NULL) IN
                                                     ('double precision', 'numeric', 'integer', 'bigint')
                                                THEN '@extschema@.dp_number' ELSE format_type(type, NULL) END) t (new_type)
                   ) given
     WHERE a.aggtranstype = 'dpquantile.records_state'::regtype
     ORDER BY p.oid
  LOOP
    transition := format('dpquantile.%I(dpquantile.records_state, %s)', original.transition, original.stored);
    EXECUTE format('CREATE OR REPLACE FUNCTION %s RETURNS dpquantile.records_state '
                   'LANGUAGE C IMMUTABLE PARALLEL SAFE AS ''MODULE_PATHNAME'', %L', transition, original.symbol);
    EXECUTE format(
      'CREATE AGGREGATE @extschema@.%I(%s) (SFUNC = dpquantile.%I, STYPE = dpquantile.records_state, SSPACE = 512, '
      'FINALFUNC = %s, FINALFUNC_MODIFY = READ_WRITE, COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)',
      original.proname, original.arguments, original.transition, original.final);
    EXECUTE format(
      'COMMENT ON AGGREGATE @extschema@.%I(%s) IS %L', original.proname, original.types,
      obj_description(original.oid, 'pg_proc') || E'\nThis variant takes parameters that a driver sends as text.');
  END LOOP;
END
$$;

-- dp_count(value, epsilon) once more for each type of number. With value "any" alone, an epsilon of unknown type ($1) beside a
-- number would be the options of dp_count(epsilon, options). These have no variant for dp_number, with which they would be
-- ambiguous.
DO $$
DECLARE
  type text;
BEGIN
  FOREACH type IN ARRAY '{smallint,integer,bigint,real,float8,numeric}'::text[] LOOP
    EXECUTE format('CREATE FUNCTION dpquantile.value_count_transition(dpquantile.records_state, %s, float8) '
                   'RETURNS dpquantile.records_state LANGUAGE C IMMUTABLE PARALLEL SAFE '
                   'AS ''MODULE_PATHNAME'', ''dpq_value_count_transition''', type);
    EXECUTE format('CREATE AGGREGATE @extschema@.dp_count(value %s, epsilon float8) ('
                   'SFUNC = dpquantile.value_count_transition, STYPE = dpquantile.records_state, SSPACE = 512, '
                   'FINALFUNC = dpquantile.value_count_final, FINALFUNC_MODIFY = READ_WRITE, '
                   'COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)', type);
    EXECUTE format('COMMENT ON AGGREGATE @extschema@.dp_count(%s, float8) IS %L', type,
                   obj_description('@extschema@.dp_count("any", float8)'::regprocedure, 'pg_proc'));
  END LOOP;
END
$$;

CREATE FUNCTION @extschema@.dp_budget_fits(epsilon @extschema@.dp_number)
  RETURNS TABLE (role regrole, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT * FROM @extschema@.dp_budget_fits(dp_budget_fits.epsilon::float8);
  END;
CREATE FUNCTION @extschema@.dp_budget_fits(epsilon @extschema@.dp_number, on_table regclass)
  RETURNS TABLE (role regrole, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT * FROM @extschema@.dp_budget_fits(dp_budget_fits.epsilon::float8, dp_budget_fits.on_table);
  END;
CREATE FUNCTION @extschema@.dp_quantiles_expected_error(
    n @extschema@.dp_number, quantiles float8[], epsilon @extschema@.dp_number, lower @extschema@.dp_number,
    upper @extschema@.dp_number, options jsonb DEFAULT '{}')
  RETURNS TABLE (quantile float8, rank_error_typical float8, rank_error_95 float8, rank_error_bound float8)
  LANGUAGE C VOLATILE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'dpq_quantiles_expected_error';
CREATE FUNCTION @extschema@.dp_cdf_count(
    cdf @extschema@.dp_cdf, from_value @extschema@.dp_number, to_value @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_count';
CREATE FUNCTION @extschema@.dp_cdf_probability(cdf @extschema@.dp_cdf, x @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_probability';
CREATE FUNCTION @extschema@.dp_cdf_quantile(cdf @extschema@.dp_cdf, quantile @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantile';
CREATE FUNCTION @extschema@.dp_cdf_error(
    cdf @extschema@.dp_cdf, confidence @extschema@.dp_number, simultaneous boolean DEFAULT true,
    OUT rows float8, OUT fraction float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_error';
CREATE FUNCTION @extschema@.dp_cdf_points(cdf @extschema@.dp_cdf, confidence @extschema@.dp_number)
  RETURNS TABLE (x float8, probability float8, low float8, high float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_points';
CREATE FUNCTION @extschema@.dp_cdf_time_quantile(cdf @extschema@.dp_cdf, quantile @extschema@.dp_number) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_quantile';
CREATE FUNCTION @extschema@.dp_cdf_time_points(cdf @extschema@.dp_cdf, confidence @extschema@.dp_number)
  RETURNS TABLE (x text, probability float8, low float8, high float8)
  LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_time_points';
-- Without defaults: beside a size of type bigint, a call with fewer arguments of unknown type would be ambiguous.
CREATE FUNCTION @extschema@.dp_cdf_plot(
    cdf @extschema@.dp_cdf, width @extschema@.dp_number, height @extschema@.dp_number, confidence @extschema@.dp_number)
  RETURNS SETOF text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 22 AS 'MODULE_PATHNAME', 'dpq_cdf_plot';
CREATE FUNCTION @extschema@.dp_cdf_svg(
    cdf @extschema@.dp_cdf, width @extschema@.dp_number, height @extschema@.dp_number, title text,
    confidence @extschema@.dp_number)
  RETURNS text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_svg';
CREATE FUNCTION @extschema@.dp_cdf_expected_error(
    epsilon @extschema@.dp_number, bins @extschema@.dp_number DEFAULT 1024, confidence @extschema@.dp_number DEFAULT 0.95,
    method text DEFAULT NULL, rho @extschema@.dp_number DEFAULT NULL,
    OUT pointwise float8, OUT simultaneous float8, OUT branching int[], OUT level_epsilon float8[], OUT level_rho float8[])
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_expected_error';
CREATE FUNCTION @extschema@.dp_iqr_min_rows(epsilon @extschema@.dp_number, delta @extschema@.dp_number) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_min_rows';
CREATE FUNCTION @extschema@.dp_iqr_expected_error(
    epsilon @extschema@.dp_number, delta @extschema@.dp_number, rows @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_expected_error';
CREATE FUNCTION @extschema@.dp_user_expected_error(
    rows_per_user bigint[], users bigint[], epsilon @extschema@.dp_number, lower @extschema@.dp_number,
    upper @extschema@.dp_number, options jsonb DEFAULT '{}')
  RETURNS TABLE (statistic text, max_contributions bigint, rows_kept bigint, left_out_error float8,
                 noise_error float8, total_error float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 2 AS 'MODULE_PATHNAME', 'dpq_user_expected_error';

CREATE FUNCTION @extschema@.dp_stats_expected_error(
    n @extschema@.dp_number, epsilon @extschema@.dp_number, lower @extschema@.dp_number, upper @extschema@.dp_number,
    options jsonb DEFAULT '{}', OUT count float8, OUT sum float8, OUT avg float8, OUT variance float8, OUT stddev float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_stats_expected_error';
CREATE FUNCTION @extschema@.dp_keep_group_rows(
    epsilon @extschema@.dp_number, delta @extschema@.dp_number, OUT half_the_time bigint, OUT always bigint)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keep_group_rows';
CREATE FUNCTION @extschema@.dp_histogram_error(epsilon @extschema@.dp_number, confidence @extschema@.dp_number DEFAULT 0.95)
  RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_error';

-- Each of these functions has the comment of the function with the same name.
DO $$
DECLARE
  variant record;
BEGIN
  FOR variant IN
    SELECT DISTINCT ON (v.oid) v.oid::regprocedure AS signature, obj_description(o.oid, 'pg_proc') AS comment
      FROM pg_proc v
      JOIN pg_proc o ON o.pronamespace = v.pronamespace AND o.proname = v.proname
     WHERE v.prokind = 'f' AND v.pronamespace <> 'dpquantile'::regnamespace
       AND '@extschema@.dp_number'::regtype = ANY (v.proargtypes) AND '@extschema@.dp_number'::regtype <> ALL (o.proargtypes)
     ORDER BY v.oid, o.pronargs <> v.pronargs
  LOOP
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', variant.signature,
                   variant.comment || ' This variant takes numbers that a driver sends as text.');
  END LOOP;
  FOR variant IN
    SELECT format('%s AS %s', format_type(c.castsource, NULL), format_type(c.casttarget, NULL)) AS signature
      FROM pg_cast c
     WHERE '@extschema@.dp_number'::regtype IN (c.castsource, c.casttarget)
  LOOP
    EXECUTE format('COMMENT ON CAST (%s) IS %L', variant.signature,
                   'For parameters that a driver sends as text. Costs no budget.');
  END LOOP;
END
$$;

-- With rho as a float8, dp_options('tree', NULL, 64) could mean this variant, too.
CREATE FUNCTION @extschema@.dp_options(method text, max_contributions bigint, rho @extschema@.dp_number) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(method => dp_options.method, max_contributions => dp_options.max_contributions::text,
                                rho => dp_options.rho);
COMMENT ON FUNCTION @extschema@.dp_options(text, bigint, @extschema@.dp_number) IS
  'The same with max_contributions as a number: dp_options(method => ''bounded'', max_contributions => 8, rho => 0.01). '
  'Options are public and cost no budget.';

-- ---------------------------------------------------------------------------------------------
-- Lists in FROM that protected rows are joined with
-- ---------------------------------------------------------------------------------------------

-- A private query calls these in the place of generate_series and around the argument of unnest.
DO $$
DECLARE
  type text;
  step text;
  volatility text;
BEGIN
  FOR type, step, volatility IN
    VALUES ('int', 'int', 'IMMUTABLE'), ('bigint', 'bigint', 'IMMUTABLE'), ('numeric', 'numeric', 'IMMUTABLE'),
           ('timestamp', 'interval', 'IMMUTABLE'), ('timestamptz', 'interval', 'STABLE')
  LOOP
    EXECUTE format('CREATE FUNCTION dpquantile.series(start %1$s, stop %1$s, step %2$s) RETURNS %1$s[] LANGUAGE C %3$s STRICT '
                   'PARALLEL SAFE AS ''MODULE_PATHNAME'', ''dpq_series''', type, step, volatility);
    EXECUTE format('COMMENT ON FUNCTION dpquantile.series(%1$s, %1$s, %2$s) IS %3$L', type, step,
                   'The values of generate_series(start, stop, step), at most 1000.
  start: the first value.
  stop: no value is beyond it.
  step: from one value to the next; negative for a series downwards.');
  END LOOP;
END
$$;

CREATE FUNCTION dpquantile.distinct_values(list anyarray) RETURNS anyarray
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_distinct_values';
COMMENT ON FUNCTION dpquantile.distinct_values(anyarray) IS
  'The same array. Raises an error if two of its elements are equal, or if there are more than 1000.
  list: the elements. NULL may occur several times.';

-- ---------------------------------------------------------------------------------------------
-- Functions that cannot fail
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.how_total(function regprocedure) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_how_total';
COMMENT ON FUNCTION dpquantile.how_total(regprocedure) IS
  'function: any function. How a query may apply it to values of protected rows: ''as it is'', if it cannot fail; '
  '''variant'', if dpquantile.total_<its name> takes its place; otherwise NULL.';

-- The list is in src/pg/protect/total_functions.cpp. Some functions of PostgreSQL share a symbol; those in SQL have none.
DO $$
DECLARE
  original record;
BEGIN
  FOR original IN
    SELECT p.oid::regprocedure AS signature, format('dpquantile.total_%s(%s)', p.proname, types.names) AS variant,
           format_type(p.prorettype, NULL) AS result, p.procost AS cost,
           CASE p.provolatile WHEN 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END AS volatility,
           'dpq_total_' || CASE l.lanname WHEN 'internal' THEN p.prosrc ELSE p.proname || '_' || types.suffix END AS symbol
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang
     CROSS JOIN LATERAL (SELECT string_agg(format_type(t.oid, NULL), ', ' ORDER BY number) AS names,
                                string_agg(t.typname, '_' ORDER BY number) AS suffix
                           FROM unnest(p.proargtypes) WITH ORDINALITY u (type, number)
                           JOIN pg_type t ON t.oid = u.type) types
     WHERE dpquantile.how_total(p.oid) = 'variant'
     ORDER BY p.oid
  LOOP
    EXECUTE format('CREATE FUNCTION %s RETURNS %s LANGUAGE C %s STRICT PARALLEL SAFE COST %s AS ''MODULE_PATHNAME'', %L',
                   original.variant, original.result, original.volatility, original.cost, original.symbol);
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', original.variant,
                   format('What %s answers, and NULL where that fails.', original.signature));
  END LOOP;
END
$$;

-- Casts of text, by the input functions of the types.
DO $$
DECLARE
  type text;
BEGIN
  FOREACH type IN ARRAY '{bool,int2,int4,int8,float4,float8,numeric,uuid,date,timestamp}'::text[] LOOP
    EXECUTE format('CREATE FUNCTION dpquantile.total_%1$s(text) RETURNS %1$s LANGUAGE C %2$s STRICT PARALLEL SAFE '
                   'AS ''MODULE_PATHNAME'', ''dpq_total_cast_to_%1$s''',
                   type, CASE WHEN type IN ('date', 'timestamp') THEN 'STABLE' ELSE 'IMMUTABLE' END);
    EXECUTE format('COMMENT ON FUNCTION dpquantile.total_%s(text) IS %L', type,
                   format('The value of type %s that a text stands for, and NULL if it stands for none.', type));
  END LOOP;
END
$$;

-- A private query puts this around a value of a row that a function reads.
DO $$
DECLARE
  type text;
BEGIN
  FOREACH type IN ARRAY '{text,varchar,bpchar,bytea,"bit",varbit,jsonb,anyarray,anyrange,anymultirange,numeric}'::text[] LOOP
    EXECUTE format('CREATE FUNCTION dpquantile.short_value(value %1$s, most_bytes int) RETURNS %1$s LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE '
                   'AS ''MODULE_PATHNAME'', %2$L', type, CASE type WHEN 'numeric' THEN 'dpq_short_numeric' ELSE 'dpq_short_value' END);
    EXECUTE format('COMMENT ON FUNCTION dpquantile.short_value(%1$s, int) IS %2$L', type,
                   'The same value, or NULL if it is longer. So the time that a private query takes for one row is bounded.
  value: of a row. A number has at most 400 digits before and after the decimal point, whatever the other argument is.
  most_bytes: of the value.');
  END LOOP;
END
$$;

-- A private query puts this around a value of a joined public table.
CREATE FUNCTION dpquantile.inline_value(value anyelement) RETURNS anyelement LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_inline_value';
COMMENT ON FUNCTION dpquantile.inline_value(anyelement) IS
'The same value, or NULL if the row has it stored out of line (TOAST). So what a private query reads of a joined table does not depend on which rows match.
  value: of a row.';

-- ---------------------------------------------------------------------------------------------
-- Distributed tables (Citus): Citus knows aggregates of these names, and calls them on the shards and on the coordinator.
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.collect_transition(dpquantile.records_state, "any", bytea) RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_collect_transition';
CREATE AGGREGATE @extschema@.topn_add_agg(value "any", parameters bytea) (
  SFUNC = dpquantile.collect_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.topn_add_agg("any", bytea) IS
'Part of a private aggregate over distributed tables, for the shards. Gives exact data about rows that its caller may read.
Not private, and not charged.
value: of the private aggregate.
parameters: those of the private aggregate, encoded.';
CREATE AGGREGATE @extschema@.topn_union_agg(state dpquantile.records_state) (
  SFUNC = dpquantile.records_combine,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.topn_union_agg(dpquantile.records_state) IS
'Part of a private aggregate over distributed tables, for the coordinator. Combines what the shards give.
Not private, and not charged.
state: what a shard gives.';

CREATE FUNCTION dpquantile.distributed_groups(bigint) RETURNS SETOF record
  LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dpq_distributed_groups';
COMMENT ON FUNCTION dpquantile.distributed_groups(bigint) IS
  'Stands for distributed tables while a query with private aggregates is planned. Cannot be executed.';

-- ---------------------------------------------------------------------------------------------
-- Only the aggregates may use the support functions: other roles could build their own aggregates from
-- them and read the state. Only the owner may call what runs with the owner's rights. ALTER DEFAULT PRIVILEGES may
-- have granted these functions, and the tables, to more roles than PUBLIC.
-- ---------------------------------------------------------------------------------------------

DO $$
DECLARE
  support record;
  granted record;
BEGIN
  FOR support IN
    SELECT p.oid, p.oid::regprocedure AS signature,
           (SELECT string_agg(', ' || g.grantee::regrole, '') FROM aclexplode(p.proacl) g
             WHERE g.grantee NOT IN (0, p.proowner)) AS others
      FROM pg_catalog.pg_proc p
     WHERE p.pronamespace = 'dpquantile'::regnamespace
       AND p.proname NOT IN ('charged_role', 'sees_all_budgets', 'epsilon_of_rho', 'charged_rho',
                             'charged_epsilon', 'six_digits',
                             'total_epsilon', 'period_start', 'period_end', 'decimal', 'interval_text', 'cdf_in', 'cdf_out', 'cdf_recv', 'cdf_send',
                             'number_in', 'number_out', 'number_recv', 'number_send', 'number_of_real',
                             'unprotectable', 'problem_of_predicate', 'own_right', 'tables_with_same_rows', 'table_with_other_users', 'unrestricted_code', 'series', 'distinct_values', 'short_value', 'inline_value', 'kept_answers',
                             'distributed_groups', 'is_closed_table')
       AND p.proname NOT LIKE 'total\_%'
        OR p.prosecdef AND p.oid IN (SELECT d.objid FROM pg_depend d
                                      WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
                                        AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'dpquantile'))
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC%s', support.signature, support.others);
    IF pg_catalog.obj_description(support.oid, 'pg_proc') IS NULL THEN
      EXECUTE pg_catalog.format(
        'COMMENT ON FUNCTION %s IS %L', support.signature,
        'Support function of the private aggregates. Handles exact data, gives no privacy by '
        'itself, and cannot be called directly.');
    END IF;
  END LOOP;
  FOR granted IN
    SELECT o.name, g.privilege_type AS privilege,
           CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END AS grantee
      FROM (SELECT 'SCHEMA dpquantile' AS name, n.nspowner AS owner, n.nspacl AS acl, NULL AS kept
              FROM pg_namespace n WHERE n.nspname = 'dpquantile'
             UNION ALL
            SELECT c.oid::regclass::text, c.relowner, c.relacl, NULL
              FROM pg_class c WHERE c.relnamespace = 'dpquantile'::regnamespace AND c.relkind IN ('r', 'v')
             UNION ALL
            SELECT c.oid::regclass::text, c.relowner, c.relacl, 'SELECT'
              FROM pg_class c
             WHERE c.oid IN ('@extschema@.dp_budget'::regclass, '@extschema@.dp_ledger'::regclass,
                             '@extschema@.dp_protected_tables'::regclass)) o
     CROSS JOIN aclexplode(o.acl) g
     WHERE g.grantee <> o.owner AND g.privilege_type IS DISTINCT FROM o.kept
  LOOP
    EXECUTE format('REVOKE %s ON %s FROM %s', granted.privilege, granted.name, granted.grantee);
  END LOOP;
END
$$;
