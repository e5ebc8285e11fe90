CREATE OR REPLACE FUNCTION dpquantile.limited_row(user_id "any", max_rows integer) RETURNS boolean
  LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dpq_limited_row';
COMMENT ON FUNCTION dpquantile.limited_row("any", integer) IS
  'user_id: the person of a row; max_rows: a number. A condition that queries over protected tables get: true for at most max_rows rows '
  'of each person. A node of the plan gives its value; called itself, it is an error.';

CREATE OR REPLACE FUNCTION @extschema@.dp_explain(query text, rows bigint DEFAULT 1000, OUT private_aggregate text, OUT method text,
                                        OUT epsilon float8, OUT delta float8, OUT rho float8, OUT charged_for text,
                                        OUT expected_error float8, OUT error_in text, OUT problem text, OUT tables text[],
                                        OUT longest_value integer)
  RETURNS SETOF record
  LANGUAGE C VOLATILE ROWS 5 AS 'MODULE_PATHNAME', 'dpq_explain';
COMMENT ON FUNCTION @extschema@.dp_explain(text, bigint) IS
  'What a query would cost: a row for each private aggregate in it, also for those that would answer in the place of standard ones, and for min and max, '
  'which answer public bounds for nothing; or, '
  'if the query is refused, a row for each reason that another one does not hide, 100 at most, in the order of the text. query: one SELECT, without parameters; rows: a public guess of the number of rows '
  'of a group, from 1 to 2^40. private_aggregate: its name; '
  'method: how it is computed; epsilon, delta, rho: its price, under its own neighbour relation; charged_for: what is charged that much, or that a subquery gives a parameter, so that the price is unknown before the query runs; '
  'expected_error: the mean absolute error of an answer on so many rows, of dp_stats that of the mean (those of its other fields stand in error_in), of dp_cdf the 95 % error of all its counts at once, of '
  'several quantiles the largest, of dp_keep_group the rows with which a group is always shown (NULL if it depends on more); error_in: its unit (ranks are rows between a quantile and the answer; "at most" '
  'stands at means and spreads, whose error is that of the worst values); problem: '
  'why the query is refused, and what would be accepted; tables: the protected tables that its rows are of: budgets for them (dp_budget) are '
  'charged the same as the general budget, NULL for other rows; longest_value: bytes: a longer text, bytea, array or string of bits of a row, and a numeric '
  'of more than 400 digits, counts as NULL where the query computes with it, compares or groups by it (NULL: it does so with none). Reads no data and costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_private_query(query text) RETURNS text
  LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'dpq_private_query';
COMMENT ON FUNCTION @extschema@.dp_private_query(text) IS
  'The query with private aggregates in the place of the standard ones over protected tables, as it would be asked. query: one SELECT, '
  'without parameters. Reads no data and costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_error_of(answer anyelement) RETURNS float8
  LANGUAGE C STABLE SUPPORT dpquantile.planner_support AS 'MODULE_PATHNAME', 'dpq_error_of';
COMMENT ON FUNCTION @extschema@.dp_error_of(anyelement) IS
  'The error of a standard aggregate over a protected table, from the same release and for the same price: the answer is within it of the '
  'one without noise with a probability of 95 %. answer: count, sum, avg, variance, stddev, percentile_cont or percentile_disc, as dp_error_of(avg(salary)); that of a '
  'percentile includes the rounding of values to the granularity of their domain, and is the distance to the farther bound if the noise leaves no rows; that of '
  'count(DISTINCT x) does not include values that have one hash (dp_count_distinct). Where '
  'max_rows leaves out rows of some persons, or max_groups leaves persons out of groups, the one without noise is that of the rows that were seen: what is cut is in no stated error, and which rows those are adds to it, to a count at most its '
  'square root as the standard deviation. Costs no budget of its own.';
