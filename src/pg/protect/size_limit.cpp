#include "pg/protect/size_limit.hpp"

#include "pg/borrowed/early_lookups.hpp"
#include "pg/borrowed/early_values.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/long_types.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/protect/size_bounds.hpp"
#include "pg/reuse/secret_hash.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/own_function.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// The limit is an early value, which is known when all expressions have been counted.
void add_limit(JudgedStatement* statement) {
  statement->size_limit =
      makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
  statement->early = lappend(statement->early, statement->size_limit);
  statement->identities = lappend(statement->identities, makeString(text_of_hash({})));
  statement->limit_number = statement->own_parameters + list_length(statement->early);
}

Node* limit_parameter(JudgedStatement* statement) {
  if (statement->size_limit == nullptr) add_limit(statement);
  Param* parameter = makeNode(Param);
  parameter->paramkind = PARAM_EXTERN;
  parameter->paramid = statement->limit_number;
  parameter->paramtype = INT4OID;
  parameter->paramtypmod = -1;
  parameter->location = kNowhere;
  return as<Node>(parameter);
}

[[noreturn]] void report_internal(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("the time of a private query cannot be bounded: %s", what),
                  errhint("This call was not charged. Ask the administrator whether the library "
                          "and the SQL objects are of one version: dpquantile.check_version().")));
}

// dpquantile.short_value(value, limit): NULL in the place of a longer value.
Node* short_value(JudgedStatement* statement, Node* value, Node* limit) {
  const Oid type = exprType(value);
  const Oid types[] = {type_of_short_value(type), INT4OID};
  const Oid function = own_function(kShortValue, buildoidvector(types, 2));
  if (!OidIsValid(function)) report_internal("a function is missing");
  const Oid collation = exprCollation(value);
  FuncExpr* call = makeFuncExpr(function, type, list_make2(value, limit), collation, collation,
                                COERCE_EXPLICIT_CALL);
  call->location = exprLocation(value);
  statement->samples = with_samples(statement->samples, as<Node>(call));
  return as<Node>(call);
}

// ---- What reads values -----------------------------------------------------------------------

const Var* column_in(const JudgedLevel* level, const Node* node) {
  while (IsA(node, RelabelType)) {
    node = as<Node>(as<RelabelType>(node)->arg);
  }
  const auto* column = as<Var>(node);
  if (!IsA(node, Var) || column->varlevelsup > 0) return nullptr;
  const Node* merged = merged_column(level->query, column);
  return merged == nullptr ? column : column_in(level, merged);
}

bool is_of_protected(const JudgedLevel* level, const Var* column) {
  const JudgedEntry& entry = entry_of(level, column->varno);
  return entry.relation != nullptr || entry.source != nullptr;
}

bool is_equality(const Node* node) {
  if (!IsA(node, OpExpr)) return false;
  const Oid operation = as<OpExpr>(node)->opno;
  const Oid type = exprType(argument_of(node, 0));
  return op_mergejoinable(operation, type) || op_hashjoinable(operation, type);
}

// A key by which rows are joined stays as it is: of a public table, which is unique, and of the
// users of two protected tables.
bool is_key_of_join(const JudgedLevel* level, const Node* node, int number) {
  if (!is_equality(node)) return false;
  const Var* column = column_in(level, argument_of(node, number));
  if (column == nullptr) return false;
  if (!is_of_protected(level, column)) return true;
  const Var* other = column_in(level, argument_of(node, 1 - number));
  return other != nullptr && other->varno != column->varno && is_of_protected(level, other);
}

bool compares_lengths_first(const Node* node) {
  if (IsA(node, ScalarArrayOpExpr) || list_length(arguments_of(node)) != 2) return false;
  return time_of_function(function_of(node)) == CallTime::kEqualLength;
}

// Functions that compare lengths first read no value that is longer than the other argument, unless
// rows are joined by its hash; some read the length only. Variants look at the digits of numbers
// themselves.
bool reads_little(const Node* node, int number) {
  if (variant_of_call(node) != nullptr) {
    return !is_read_whole(exprType(argument_of(node, number)));
  }
  if (compares_lengths_first(node)) return !reads_columns(argument_of(node, 1 - number));
  return time_of_function(function_of(node)) == CallTime::kLength;
}

// The column of a list that a text is equal to, or null. None of its values is equal to a longer
// text.
Node* equal_column_of_list(const JudgedLevel* level, const Node* node, int number) {
  if (!is_equality(node) || !compares_lengths_first(node)) return nullptr;
  Node* other = argument_of(node, 1 - number);
  const Var* column = column_in(level, other);
  return column != nullptr && is_list(entry_of(level, column->varno)) ? other : nullptr;
}

// A text that is compared with a column of a list.
Node* value_as_short_as(JudgedLevel* level, Node* value, Node* column) {
  if (!bound_of(level, value).is_stored) return value;
  const double longest = bound_of(level, column).bytes[0];
  Node* limit = as<Node>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
                                   Int32GetDatum(static_cast<int32>(longest)), false, true));
  return short_value(level->statement, value, limit);
}

Node* with_limit(JudgedLevel* level, Node* value) {
  return short_value(level->statement, value, limit_parameter(level->statement));
}

// A number in few bytes, such as 1e100000, may be a long text.
Node* value_to_write(JudgedLevel* level, Node* value) {
  const bool is_any_number = is_number(exprType(value)) && exprTypmod(value) < 0;
  return is_any_number ? with_limit(level, value) : limited_value(level, value);
}

void limit_arguments(JudgedLevel* level, Node* node) {
  ListCell* cell;
  const int first = first_argument(node);
  foreach (cell, arguments_of(node)) {
    auto* argument = static_cast<Node*>(lfirst(cell));
    const int number = foreach_current_index(cell) - first;
    if (number < 0) continue;
    if (reads_little(node, number) || is_key_of_join(level, node, number)) continue;
    Node* column = equal_column_of_list(level, node, number);
    lfirst(cell) = column == nullptr ? limited_value(level, argument)
                                     : value_as_short_as(level, argument, column);
  }
}

}  // namespace

// Whether a value is known yet must not decide about the limit: by the costs of plans, PostgreSQL
// decides whether it is.
void require_short_value(JudgedStatement* statement, Node* early) {
  const Oid type = exprType(early);
  if (get_typlen(type) != -1 || is_array(type) || is_literal(statement, early)) return;
  if (IsA(early, Param)) {
    const int number = number_of_early(statement, as<Param>(early));
    statement->short_values = list_append_unique_int(statement->short_values, number);
    return;
  }
  const auto* known = as<Const>(early);
  if (known->constisnull) return;
  check_short_number(known->constvalue, type);
  statement->longest_known =
      Max(statement->longest_known, static_cast<Size>(size_of_constant(known)));
}

Node* limited_value(JudgedLevel* level, Node* value) {
  if (!has_any_length(exprType(value))) return value;
  const SizeBound bound = bound_of(level, value);
  return bound.is_stored ? with_limit(level, value) : value;
}

void limit_values(JudgedLevel* level, Node* node) {
  if (IsA(node, SubscriptingRef)) {
    auto* element = as<SubscriptingRef>(node);
    element->refexpr = as<Expr>(limited_value(level, as<Node>(element->refexpr)));
  } else if (IsA(node, CoerceViaIO)) {
    auto* cast = as<CoerceViaIO>(node);
    cast->arg = as<Expr>(value_to_write(level, as<Node>(cast->arg)));
  } else {
    limit_arguments(level, node);
  }
}

void set_size_limit(JudgedStatement* statement, int number) {
  statement->most_early_bytes = static_cast<int>(early_limit_of(number));
  if (statement->size_limit != nullptr) {
    statement->size_limit->constvalue = Int32GetDatum(static_cast<int32>(limit_of(number)));
  }
  check_short_value(statement->longest_known, statement->most_early_bytes);
}

}  // namespace dpquantile
