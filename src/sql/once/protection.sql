CREATE TABLE dpquantile.table_name (
  table_id uuid NOT NULL,
  name     text NOT NULL,
  PRIMARY KEY (table_id, name)
);

-- Without a foreign key: a parallel pg_restore may restore this table first.
CREATE TABLE dpquantile.table_identity (
  relation regclass NOT NULL PRIMARY KEY,
  table_id uuid     NOT NULL UNIQUE DEFAULT gen_random_uuid()
);

CREATE TABLE dpquantile.protected_table (
  relation    regclass NOT NULL PRIMARY KEY,
  user_column name,
  user_number smallint,
  max_rows    integer,
  unit        name,
  through     regclass,
  max_groups  integer,
  rows_left_out       bigint,
  rows_left_out_error bigint,
  groups_left_out       bigint,
  groups_left_out_error bigint,
  CHECK ((user_column IS NULL) = (user_number IS NULL)),
  CHECK (max_rows IS NULL OR max_rows BETWEEN 1 AND 1000 AND user_column IS NOT NULL),
  CHECK (max_groups IS NULL OR max_groups BETWEEN 1 AND 1000 AND user_column IS NOT NULL),
  CHECK (max_rows IS NOT NULL OR rows_left_out IS NULL AND rows_left_out_error IS NULL),
  CHECK (max_groups IS NOT NULL OR groups_left_out IS NULL AND groups_left_out_error IS NULL),
  CHECK (unit IS NULL OR unit <> '' AND user_column IS NOT NULL),
  CHECK (through IS NULL OR unit IS NOT NULL)
);

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
  max_epsilon      float8      CHECK (max_epsilon >= greatest(smallest_epsilon, epsilon) AND max_epsilon <= 1000),
  PRIMARY KEY (relation, grantee)
);

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

-- With the name of the table, as the ledger has it: what is published of a table that is dropped, or that a restore does not find, is not forgotten.
CREATE TABLE dpquantile.published (
  table_name   text        NOT NULL,
  column_name  name        NOT NULL,
  function     name        NOT NULL,
  epsilon      numeric     NOT NULL CHECK (epsilon > 0 AND epsilon < 'Infinity'),
  delta        numeric     NOT NULL DEFAULT 0 CHECK (delta >= 0 AND delta < 1),
  role_name    name        NOT NULL,
  published_at timestamptz NOT NULL
);
ALTER TABLE dpquantile.published REPLICA IDENTITY FULL;

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
  other         integer,
  PRIMARY KEY (relation, column_name),
  CHECK ((lower IS NULL) = (upper IS NULL)),
  CHECK (granularity IS NULL OR lower IS NOT NULL),
  CHECK (lower IS NOT NULL OR keys IS NOT NULL),
  CHECK (other IS NULL OR keys IS NOT NULL AND other BETWEEN 1 AND cardinality(keys))
);
