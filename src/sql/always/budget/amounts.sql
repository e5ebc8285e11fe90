CREATE OR REPLACE FUNCTION dpquantile.decimal(value float8) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_decimal';
COMMENT ON FUNCTION dpquantile.decimal(float8) IS
  'value: any number. The shortest decimal that reads back as the same float8, or as the same float4 for a number that '
  'was one. A charge of an epsilon adds this decimal to the spending. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.rho_within(epsilon float8, delta float8) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_rho_within';
COMMENT ON FUNCTION dpquantile.rho_within(float8, float8) IS
  'epsilon: 0 or more; delta: between 0 and 1. The largest rho, rounded down, for which rho-zCDP implies '
  '(epsilon, delta)-differential privacy. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.epsilon_of_rho(rho float8, delta float8) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_epsilon_of_rho';
COMMENT ON FUNCTION dpquantile.epsilon_of_rho(float8, float8) IS
  'rho: 0 or more; delta: between 0 and 1. The smallest epsilon, rounded up, for which rho-zCDP implies '
  '(epsilon, delta)-differential privacy. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.charged_rho(query text, epsilon float8, neighbours text) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_charged_rho';
COMMENT ON FUNCTION dpquantile.charged_rho(text, float8, text) IS
  'query: ''one quantile'', the median, ''nine quantiles'', ''nine quantiles, auto'' or ''dp_cdf''; another text means any other '
  'query without delta; epsilon: from 1e-6 to 1000; neighbours: of the budget. The rho charged for such a query. Tells nothing '
  'about any data.';
CREATE OR REPLACE FUNCTION dpquantile.charged_epsilon(query text, epsilon float8, neighbours text) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_charged_epsilon';
COMMENT ON FUNCTION dpquantile.charged_epsilon(text, float8, text) IS
  'query, epsilon, neighbours: as for charged_rho. The epsilon charged for such a query. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.six_digits(value numeric, upwards boolean) RETURNS numeric
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

CREATE OR REPLACE FUNCTION dpquantile.total_epsilon(accountant text, epsilon_spent numeric, rho_spent numeric, epsilon_limit numeric,
                                         converting_delta numeric, rho_limit numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  BEGIN ATOMIC
    SELECT CASE total_epsilon.accountant
           WHEN 'zcdp' THEN
             -- Rounded up, but not above the limit if the spending is within it.
             least(dpquantile.six_digits(
                     dpquantile.epsilon_of_rho(total_epsilon.rho_spent::float8, total_epsilon.converting_delta::float8), true),
                   CASE WHEN total_epsilon.rho_spent <= total_epsilon.rho_limit THEN total_epsilon.epsilon_limit END)
           ELSE trim_scale(total_epsilon.epsilon_spent) END;
  END;
COMMENT ON FUNCTION dpquantile.total_epsilon(text, numeric, numeric, numeric, numeric, numeric) IS
  'accountant and the other columns of a budget; converting_delta: what charges may not spend of its delta. The epsilon of all charges '
  'together, under its accountant. Tells nothing about any data.';
