#include "pg/borrowed/borrowed_plan.hpp"

namespace dpquantile {

void BorrowedPlan::each_field(MarkFields* fields) {
  fields->oid("user", &user);
  fields->list("relations", T_OidList, &relations);
  fields->require(relations != NIL);
  fields->list("user_columns", T_IntList, &user_columns, list_length(relations));
  fields->list("through", T_OidList, &through, list_length(relations));
  fields->list("unnamed", T_IntList, &unnamed, list_length(relations));
  fields->list("max_rows", T_IntList, &max_rows, list_length(relations));
  fields->list("max_groups", T_IntList, &max_groups, list_length(relations));
  fields->texts("units", &units, list_length(relations));
  fields->list("tables", T_OidList, &tables, list_length(relations));
  fields->texts("table_users", &table_users, list_length(relations));
  fields->list("joined", T_OidList, &joined);
  fields->list("public_tables", T_OidList, &public_tables);
  fields->list("indexes", T_OidList, &indexes);
  fields->list("expressions", T_List, &expressions);
  fields->texts("identities", &identities, list_length(expressions));
  fields->list("samples", T_List, &samples);
  fields->list("short_values", T_IntList, &short_values);
  fields->list("patterns", T_IntList, &patterns);
  fields->list("pattern_collations", T_OidList, &pattern_collations, list_length(patterns));
  fields->integer("most_early_bytes", &most_early_bytes);
  fields->integer("longest_value", &longest_value);
  fields->integer("own_parameters", &own_parameters);
}

}  // namespace dpquantile
