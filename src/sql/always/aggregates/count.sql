CREATE OR REPLACE FUNCTION dpquantile.count_final(dpquantile.records_state) RETURNS bigint
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_count_final';
CREATE OR REPLACE FUNCTION dpquantile.value_count_final(dpquantile.records_state) RETURNS bigint
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_value_count_final';
CREATE OR REPLACE FUNCTION dpquantile.distinct_final(dpquantile.records_state) RETURNS bigint
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_distinct_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_count(epsilon float8) (
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

CREATE OR REPLACE AGGREGATE @extschema@.dp_count(epsilon float8, options jsonb) (
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

CREATE OR REPLACE AGGREGATE @extschema@.dp_count(value "any", epsilon float8) (
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

CREATE OR REPLACE AGGREGATE @extschema@.dp_count(value "any", epsilon float8, options jsonb) (
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

CREATE OR REPLACE AGGREGATE @extschema@.dp_count_distinct(value anyelement, epsilon float8) (
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

CREATE OR REPLACE AGGREGATE @extschema@.dp_count_distinct(value anyelement, epsilon float8, options jsonb) (
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

-- dp_count(value, epsilon) once more for numbers. With value "any" alone, an epsilon of unknown type ($1) beside a number would be the
-- options of dp_count(epsilon, options). Smaller types become float8, which has their values.
DO $$
DECLARE
  type text;
BEGIN
  FOREACH type IN ARRAY '{float8,bigint,numeric}'::text[] LOOP
    EXECUTE format('CREATE OR REPLACE AGGREGATE @extschema@.dp_count(value %s, epsilon float8) ('
                   'SFUNC = dpquantile.value_count_transition, STYPE = dpquantile.records_state, SSPACE = 512, '
                   'FINALFUNC = dpquantile.value_count_final, FINALFUNC_MODIFY = READ_WRITE, '
                   'COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)', type);
    EXECUTE format('COMMENT ON AGGREGATE @extschema@.dp_count(%s, float8) IS %L', type,
                   obj_description('@extschema@.dp_count("any", float8)'::regprocedure, 'pg_proc'));
  END LOOP;
END
$$;
