#include "pg/plain/missing_bounds.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// ---- The column ----------------------------------------------------------------------------

struct ColumnSearch {
  const Level* level;
  const List* relations;
  int columns_left;  // a derived table may name the columns of one below many times
  std::optional<ColumnOrigin> found;
};

bool find_column(Node* expression, ColumnSearch* columns);

bool may_get_bounds(const ColumnSearch* search, const ColumnOrigin& origin, Node* column) {
  return list_member_oid(search->relations, origin.relation) &&
         type_with_bounds(exprType(column)) && !bounds_of(search->level, column);
}

bool find_in_column(Var* column, ColumnSearch* search) {
  if (--search->columns_left < 0) return true;
  auto* node = as<Node>(column);
  const auto origin = origin_of(search->level, node);
  if (origin) {
    if (may_get_bounds(search, *origin, node)) search->found = origin;
    return search->found.has_value();
  }
  const auto definition = definition_of(search->level, column);
  if (!definition) return false;
  const Level* level = search->level;
  search->level = definition->level;
  const bool ends = find_column(definition->expression, search);
  search->level = level;
  return ends;
}

// The bounds of a CASE are those of its results.
bool find_column(Node* expression, ColumnSearch* columns) {
  return search(expression, [=](Node* node) {
    const bool is_branch = IsA(node, CaseWhen);
    if (!is_branch && !IsA(node, Var)) return Look::kBelow;
    const bool ends = is_branch ? find_column(as<Node>(as<CaseWhen>(node)->result), columns)
                                : find_in_column(as<Var>(node), columns);
    return ends ? Look::kFound : Look::kPast;
  });
}

// A column of a protected relation whose owner may state bounds, of which the value is computed.
std::optional<ColumnOrigin> column_without_bounds(const PlainLevel* level, Node* value) {
  constexpr int kMostColumns = 100;
  ColumnSearch search = {level->select, level->relations, kMostColumns, std::nullopt};
  (void)find_column(value, &search);
  return search.found;
}

// ---- What to ask instead -------------------------------------------------------------------

bool is_extreme(const char* aggregate) {
  return is_one_of(aggregate, "min max");
}

// The name of the column that the value is, or null.
const char* column_name(const PlainLevel* level, Node* value) {
  const auto origin = origin_of(level->select, value);
  return origin ? get_attname(origin->relation, origin->column, true) : nullptr;
}

// How to call the value in a query that the analyst writes.
const char* text_of_value(const PlainLevel* level, Node* value) {
  const char* name = column_name(level, value);
  return name == nullptr ? "column" : quote_identifier(name);
}

// The same for an argument of an aggregate of two values.
const char* text_of_argument(const PlainLevel* level, const Aggref* call, int number) {
  const auto* entry = static_cast<const TargetEntry*>(list_nth(call->args, number));
  return text_of_value(level, without_implicit_cast(as<Node>(entry->expr)));
}

// Without max_rows aggregates over rows are refused. Null if the aggregate has no counterpart that
// protects persons.
const char* call_for_persons(const PlainLevel* level, const char* aggregate, Node* value) {
  const ProtectedRelation* protection = find_protected_relation(linitial_oid(level->relations));
  if (protection == nullptr || protection->user_column < 1) return nullptr;
  const char* name = is_one_of(aggregate, "avg")                         ? "dp_user_mean"
                     : is_one_of(aggregate, "variance var_samp var_pop") ? "dp_user_variance"
                                                                         : nullptr;
  if (name == nullptr) return nullptr;
  return psprintf("%s(%s, %s, 0.5, lower, upper, dp_options('bounded', max_contributions => 20))",
                  name, quote_identifier(NameStr(protection->user_column_name)),
                  text_of_value(level, value));
}

bool lacks_max_rows(const PlainLevel* level) {
  for (const Oid relation : each_oid(level->relations)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection != nullptr && protection->user_column != 0 && protection->max_rows == 0) {
      return true;
    }
  }
  return false;
}

const char* call_of_owner(const ColumnOrigin& column) {
  const char* table = quote_literal_cstr(quote_identifier(get_rel_name(column.relation)));
  const char* name = quote_literal_cstr(get_attname(column.relation, column.column, false));
  return psprintf("dp_set_domain(%s, %s, lower, upper) or dp_learn_domain(%s, %s, epsilon)", table,
                  name, table, name);
}

// Whether a value is a column of a table that is not protected.
bool is_public_column(const PlainLevel* level, Node* value) {
  const auto origin = origin_of(level->select, value);
  return origin && find_protected_relation(origin->relation) == nullptr;
}

// The sentences of the hint, each perhaps empty.
const char* for_owner(const PlainLevel* level, const char* aggregate, Node* value) {
  const auto column = column_without_bounds(level, value);
  const char* bounds = column ? call_of_owner(*column) : nullptr;
  if (is_public_column(level, value)) {
    return "The bounds of a column of a table that you may read are its least and its greatest "
           "value, if it has values and all are finite.";
  }
  const bool needs_max_rows = !is_extreme(aggregate) && lacks_max_rows(level);
  constexpr char kMaxRows[] =
      "max_rows, the most rows of a person that an answer sees (dp_protect_table or "
      "dp_learn_limits)";
  if (needs_max_rows && bounds != nullptr) {
    return psprintf("Ask the owner of the table for %s and for %s.", bounds, kMaxRows);
  }
  if (needs_max_rows) return psprintf("Ask the owner of the table for %s.", kMaxRows);
  return bounds == nullptr ? "" : psprintf("Ask the owner of the table for %s.", bounds);
}

const char* with_own_bounds(const PlainLevel* level, const Aggref* standard, Node* value) {
  const char* aggregate = get_func_name(standard->aggfnoid);
  const char* call = lacks_max_rows(level) ? call_for_persons(level, aggregate, value)
                                           : call_with_own_bounds(level, standard, value);
  if (call == nullptr) return "";
  if (is_extreme(aggregate)) {
    return psprintf("For a %s value ask %s.", strcmp(aggregate, "min") == 0 ? "low" : "high", call);
  }
  const bool is_computed = column_name(level, value) == nullptr && list_length(standard->args) < 2;
  return psprintf("With bounds of your own ask %s%s.", call,
                  is_computed ? ", or least(greatest(expression, lower), upper) in its place" : "");
}

}  // namespace

const char* call_with_own_bounds(const PlainLevel* level, const Aggref* standard, Node* value) {
  const char* aggregate = get_func_name(standard->aggfnoid);
  if (standard->aggkind == AGGKIND_NORMAL && list_length(standard->args) == 2) {
    return psprintf("dp_%s(%s, %s, 0.1, lower, upper, x_lower, x_upper)", aggregate,
                    text_of_argument(level, standard, 0), text_of_argument(level, standard, 1));
  }
  const char* text = text_of_value(level, value);
  if (!is_extreme(aggregate) && strncmp(aggregate, "percentile", 10) != 0) {
    return psprintf("dp_%s(%s, 0.1, lower, upper)", aggregate, text);
  }
  const char* fraction = strcmp(aggregate, "min") == 0   ? "0.01"
                         : strcmp(aggregate, "max") == 0 ? "0.99"
                                                         : "0.5";
  return psprintf("dp_quantile(%s, %s, 0.1, lower, upper)", text, fraction);
}

namespace {

// Whether a value is computed of what a window function over rows of several persons gives.
bool is_of_window(const Level* level, const Node* value, int* columns_left) {
  return any_node(const_cast<Node*>(value), [=](const Node* node) {
    if (IsA(node, WindowFunc)) return !level->windows_persons;
    if (!IsA(node, Var) || --*columns_left < 0) return false;
    const auto definition = definition_of(level, as<Var>(node));
    return definition && is_of_window(definition->level, definition->expression, columns_left);
  });
}

}  // namespace

void refuse_without_bounds(const PlainLevel* level, const Aggref* call, Node* value) {
  const char* name = get_func_name(call->aggfnoid);
  int most_columns = 100;
  if (is_of_window(level->select, value, &most_columns)) {
    refuse(
        level->refused, call->location,
        psprintf("%s of what a window function over several persons gives is not supported", name),
        "For a median ask percentile_cont(0.5) WITHIN GROUP (ORDER BY value) of the rows. Or "
        "partition the window by the column that identifies the persons: OVER (PARTITION BY "
        "person ORDER BY day).");
  }
  if (!type_with_bounds(exprType(value))) {
    refuse(level->refused, call->location,
           psprintf("%s has no private counterpart for values of type %s", name,
                    format_type_be(exprType(value))),
           is_extreme(name)
               ? "Numbers, dates and times with bounds have one, and other values with a "
                 "public list, such as those of tables that you may read. Group by others to "
                 "see which many rows have."
               : "Numbers, dates and times have one. Group by other values to see which "
                 "many rows have.");
  }
  const char* column = column_name(level, value);
  const char* owner = for_owner(level, name, value);
  const char* own = with_own_bounds(level, call, value);
  refuse_with_code(
      level->refused, ERRCODE_INVALID_PARAMETER_VALUE, call->location,
      psprintf("%s needs public bounds of its values, but %s has none", name,
               column == nullptr ? "the expression" : psprintf("column \"%s\"", column)),
      *owner == '\0' && *own == '\0'
          ? "Aggregate a column with bounds. dp_protected_tables shows them."
          : psprintf("%s%s%s", owner, *owner != '\0' && *own != '\0' ? " " : "", own));
}

}  // namespace dpquantile
