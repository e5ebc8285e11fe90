CREATE OR REPLACE FUNCTION dpquantile.keep_group_final(dpquantile.records_state) RETURNS boolean
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_keep_group_final';
CREATE OR REPLACE AGGREGATE @extschema@.dp_keep_group(epsilon float8, delta float8) (
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

CREATE OR REPLACE FUNCTION dpquantile.keep_user_group_final(dpquantile.records_state) RETURNS boolean
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_keep_user_group_final';
CREATE OR REPLACE AGGREGATE @extschema@.dp_keep_group(user_id anynonarray, epsilon float8, delta float8, max_groups bigint) (
  SFUNC = dpquantile.keep_user_group_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.keep_user_group_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_keep_group(anynonarray, float8, float8, bigint) IS
'Whether a group may be shown, for persons who may be in several groups. Each person counts in at most max_groups groups, which are
  chosen at random; with epsilon / max_groups and delta / max_groups each group is kept as if its persons were rows.
Privacy: (epsilon, delta)-differentially private for adding or removing one person with all rows. epsilon and delta are the
  total charged, once for all groups of a GROUP BY (times the number of grouping sets).
user_id: the person of a row; rows without a person are ignored.
epsilon: privacy parameter; epsilon / max_groups from 1e-6 on, epsilon up to 1000.
delta: the probability with which the guarantee may fail, up to 0.5; choose it far below one over the number of persons.
max_groups: the most groups in which a person counts. Fewer make the groups of persons with many groups smaller, more make each
  group need more persons.
All arguments except user_id must be constant.';

CREATE OR REPLACE FUNCTION @extschema@.dp_keep_group_rows(epsilon float8, delta float8, OUT half_the_time bigint, OUT always bigint)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keep_group_rows';
COMMENT ON FUNCTION @extschema@.dp_keep_group_rows(float8, float8) IS
  'How many rows a group needs for dp_keep_group. epsilon, delta: as there; half_the_time: from so many rows on it is kept with '
  'probability 1/2 or more; always: from so many rows on it is always kept. Reads no data and costs no budget.';
