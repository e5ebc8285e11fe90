-- A budget for a protected table names it by its identity, and not as a regclass: one name that a restore does not find would lose all rows.
CREATE TABLE dpquantile.budget (
  budget_id       uuid    NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
  role            regrole NOT NULL,
  table_id        uuid,
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
  every           text    CHECK (every IN ('day', 'week', 'month', 'quarter', 'year')),
  period_start    timestamptz,
  epsilon_before  numeric NOT NULL DEFAULT 0,
  delta_before    numeric NOT NULL DEFAULT 0,
  rho_before      numeric NOT NULL DEFAULT 0,
  charged_delta   numeric NOT NULL DEFAULT 0,
  converted_delta numeric NOT NULL DEFAULT 0,
  CONSTRAINT budget_of_role UNIQUE NULLS NOT DISTINCT (role, table_id),
  CHECK ((accountant = 'zcdp') = (rho_limit IS NOT NULL)),
  CONSTRAINT budget_charged_delta_check CHECK (charged_delta = 0 OR accountant = 'zcdp' AND charged_delta > 0 AND charged_delta < delta_limit),
  CONSTRAINT budget_period_check CHECK ((every IS NULL) = (period_start IS NULL)),
  CONSTRAINT budget_before_check CHECK (
    epsilon_before BETWEEN 0 AND epsilon_spent AND delta_before BETWEEN 0 AND delta_spent AND rho_before BETWEEN 0 AND rho_spent
    AND (every IS NOT NULL OR epsilon_before = 0 AND delta_before = 0 AND rho_before = 0))
);
