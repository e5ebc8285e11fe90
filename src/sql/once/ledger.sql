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
  table_ids         uuid[],
  PRIMARY KEY (budget_id, number)
);

-- The texts of each budget are separate. Charges of one budget never wait for, or hit, the texts of another.
CREATE TABLE dpquantile.query_text (
  budget_id  uuid  NOT NULL,
  query_hash bytea NOT NULL,
  query      text  NOT NULL,
  PRIMARY KEY (budget_id, query_hash)
);

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
  converted_delta numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (budget_id, role_name)
);

CREATE TABLE dpquantile.archived_by_table (
  budget_id       uuid    NOT NULL,
  table_name      text    NOT NULL,
  epsilon         numeric NOT NULL DEFAULT 0,
  delta           numeric NOT NULL DEFAULT 0,
  rho             numeric NOT NULL DEFAULT 0,
  has_rho_alone   boolean NOT NULL DEFAULT false,
  replaces        boolean NOT NULL DEFAULT false,
  converted_delta numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (budget_id, table_name)
);
