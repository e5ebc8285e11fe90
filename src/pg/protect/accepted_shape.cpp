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

// Plain SQL has public lists, and dp_keep_group needs a delta.
bool needs_public_keys(const RefusedQuery& query) {
  return query.answers_plain_sql && !query.chooses_keys;
}

// What grants more than lists.
const char* delta_of_grant(const RefusedQuery& query) {
  return psprintf(
      "To have others chosen privately, ask the owner of the table for a delta: "
      "dp_grant_private_access('%s', role, epsilon => 0.1, delta => 1e-6).",
      query.relation);
}

const char* accepted_plain_aggregate(const RefusedQuery& query) {
  const bool counts_rows = query.user_column == nullptr || query.limits_rows;
  const char* counted = counts_rows ? "*" : psprintf("DISTINCT %s", query.user_column);
  return psprintf("Ask aggregates, such as SELECT count(%s) FROM %s.", counted, query.relation);
}

}  // namespace

const char* accepted_aggregate(const RefusedQuery& query) {
  if (query.answers_plain_sql) return accepted_plain_aggregate(query);
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
  if (needs_public_keys(query)) {
    return psprintf(
        "Show how many rows have each value, SELECT key, count(*) FROM %s GROUP BY key, of columns "
        "with a list or bounds in dp_protected_tables, or of a joined table that you may read. %s",
        query.relation, delta_of_grant(query));
  }
  return psprintf("List the values that many rows have: GROUP BY them with HAVING %s.",
                  keep_group(query));
}

const char* accepted_keys(const RefusedQuery& query) {
  if (needs_public_keys(query)) {
    return psprintf(
        "Group by a column with a list or bounds in dp_protected_tables, date_trunc() of one, or a "
        "public table or list: FROM (VALUES ('a'), ('b')) k (key) LEFT JOIN %s ON ... = k.key "
        "GROUP "
        "BY k.key. %s",
        query.relation, delta_of_grant(query));
  }
  return psprintf(
      "Add HAVING %s%s, or group by a public table or list: FROM (VALUES ('a'), ('b')) k (key) "
      "LEFT JOIN %s ON ... = k.key GROUP BY k.key. A column with a list or bounds in "
      "dp_protected_tables needs neither, nor does date_trunc() of one.",
      keep_group(query), beside_keep_group(query), query.relation);
}

}  // namespace dpquantile
