#include "pg/protect/accepted_shape.hpp"

#include "pg/server/postgres.hpp"

namespace dpquantile {

namespace {

const char* keep_group(const RefusedQuery& query) {
  return query.user_column == nullptr
             ? "dp_keep_group(0.5, 1e-6)"
             : psprintf("dp_keep_group(%s, 0.5, 1e-6, 1)", query.user_column);
}

// dp_keep_group of persons is charged once, dp_user_ functions for each group.
const char* beside_keep_group(const RefusedQuery& query) {
  if (query.user_column == nullptr) return "";
  return query.limits_rows ? ", without dp_user_ functions" : ", without other aggregates";
}

}  // namespace

const char* accepted_aggregate(const RefusedQuery& query) {
  return query.user_column == nullptr
             ? psprintf("Ask private aggregates, such as SELECT dp_count(0.1) FROM %s.",
                        query.relation)
             : psprintf(
                   "Ask private aggregates that protect persons, such as SELECT "
                   "dp_count_distinct(%s, "
                   "0.1) FROM %s.",
                   query.user_column, query.relation);
}

const char* accepted_distinct(const RefusedQuery& query) {
  return psprintf("List the values that many rows have: GROUP BY them with HAVING %s.",
                  keep_group(query));
}

const char* accepted_keys(const RefusedQuery& query) {
  return psprintf(
      "Add HAVING %s%s, or group by a public table or list: FROM (VALUES ('a'), ('b')) k (key) "
      "LEFT JOIN %s ON ... = k.key GROUP BY k.key. A column with a list or bounds in "
      "dp_protected_tables needs neither, nor does date_trunc() of one.",
      keep_group(query), beside_keep_group(query), query.relation);
}

}  // namespace dpquantile
