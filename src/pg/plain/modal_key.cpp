#include "pg/plain/modal_key.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/group_keys.hpp"
#include "pg/plain/keyed_query.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/array_constant.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_key(const PlainLevel* level, const Aggref* call, int code,
                             const char* reason, const char* hint) {
  refuse_with_code(level->refused, code, call->location, reason, hint);
}

// Asks for the numbers of rows of all values.
const char* query_of_counts(const char* column) {
  return psprintf("SELECT %s, count(*) FROM ... GROUP BY 1 ORDER BY 2 DESC LIMIT 1", column);
}

// As a query may write it.
const char* name_of(const PlainLevel* level, const Node* key) {
  const auto origin = origin_of(level->select, key);
  return origin ? quote_identifier(get_attname(origin->relation, origin->column, false)) : "key";
}

[[noreturn]] void refuse_without_list(const PlainLevel* level, const Aggref* call, Node* key) {
  const auto origin = origin_of(level->select, key);
  const char* column = origin ? get_attname(origin->relation, origin->column, false) : nullptr;
  const char* counts = query_of_counts(name_of(level, key));
  const char* table =
      origin ? quote_literal_cstr(quote_identifier(get_rel_name(origin->relation))) : nullptr;
  const bool has_owner = origin && list_member_oid(level->relations, origin->relation);
  // Without a list its groups are chosen privately.
  const char* grouped =
      level->delta > 0 ? psprintf(" Or ask how often there is each value: %s.", counts) : "";
  refuse_key(
      level, call, ERRCODE_INVALID_PARAMETER_VALUE,
      psprintf("mode needs a public list of the values, but %s has none",
               column == nullptr ? "the expression" : psprintf("column \"%s\"", column)),
      has_owner
          ? psprintf("Ask the owner of the table for dp_set_domain(%s, %s, '{...}') or "
                     "dp_learn_keys(%s, %s, epsilon, delta).%s",
                     table, quote_literal_cstr(column), table, quote_literal_cstr(column), grouped)
          : psprintf("Ask how often there is each value: %s.", counts));
}

// Each row is compared with the values one after the other. Of long texts fewer can be, in the time
// that a row may take.
constexpr int kMostLongTexts = 500;
constexpr Size kLongText = 32;

int count_long_texts(const List* values) {
  int count = 0;
  for (const auto* value : each<const Const>(values)) {
    const bool is_long =
        value->constlen == -1 && toast_raw_datum_size(value->constvalue) - VARHDRSZ >= kLongText;
    count += is_long ? 1 : 0;
  }
  return count;
}

void check_size_of_list(const PlainLevel* level, const Aggref* call, const Node* key,
                        const List* values) {
  const int length = list_length(values);
  const int long_texts = count_long_texts(values);
  if (length <= kMaxElements && long_texts <= kMostLongTexts) return;
  refuse_key(
      level, call, ERRCODE_PROGRAM_LIMIT_EXCEEDED,
      length > kMaxElements
          ? psprintf("the values of mode have a list of %d, and the most are %d", length,
                     kMaxElements)
          : psprintf("the values of mode have a list with %d texts of %zu bytes or more, and "
                     "the most are %d",
                     long_texts, kLongText, kMostLongTexts),
      psprintf("Have fewer values by a condition on them in WHERE, or coarser ones. Or ask "
               "how often there is each value: %s.",
               query_of_counts(name_of(level, key))));
}

// At least two. Answers that have been charged may leave fewer, which is no reason to refuse.
List* values_of_rows(const PlainLevel* level, const Aggref* call, Node* key, List* listed) {
  List* left = values_left_by_where(level->select, key, listed);
  if (list_length(left) > 1) return left;
  if (is_after_charge() && list_length(listed) > 1) return listed;
  if (left == NIL) {
    refuse_key(level, call, ERRCODE_INVALID_PARAMETER_VALUE,
               "WHERE leaves out all values of mode that are publicly known",
               "Column domains of dp_protected_tables lists them. Ask the owner of the table for "
               "dp_set_domain if there are others.");
  }
  refuse_key(level, call, ERRCODE_FEATURE_NOT_SUPPORTED,
             "mode has one value to choose from, which is the answer whatever the rows are",
             "Leave mode out.");
}

// The values but NULL, which mode() leaves out.
List* candidates(const PlainLevel* level, const Aggref* call, Node* key) {
  List* values = NIL;
  const List* listed = shown_values_of(level->select, key);
  if (listed == NIL) refuse_without_list(level, call, key);
  for (auto* value : each<Const>(listed)) {
    if (!value->constisnull) values = lappend(values, value);
  }
  values = values_of_rows(level, call, key, values);
  check_size_of_list(level, call, key, values);
  return values;
}

Node* number_constant(int number) {
  return as<Node>(
      makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(number), false, true));
}

// WHEN value THEN number
CaseWhen* branch_of(ParseState* state, const CaseTestExpr* key, const Const* value, int number) {
  CaseWhen* branch = makeNode(CaseWhen);
  List* equality = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup("=")));
  branch->expr = make_op(state, equality, static_cast<Node*>(copyObjectImpl(key)),
                         static_cast<Node*>(copyObjectImpl(value)), nullptr, kNowhere);
  if (IsA(branch->expr, OpExpr)) as<OpExpr>(branch->expr)->inputcollid = key->collation;
  branch->result = as<Expr>(number_constant(number));
  branch->location = kNowhere;
  return branch;
}

Expr* is_null(const Node* key) {
  NullTest* test = makeNode(NullTest);
  test->arg = static_cast<Expr*>(copyObjectImpl(key));
  test->nulltesttype = IS_NULL;
  test->location = kNowhere;
  return as<Expr>(test);
}

CaseExpr* choice_of_numbers(Node* tested, List* branches, Node* otherwise) {
  CaseExpr* choice = makeNode(CaseExpr);
  choice->casetype = INT4OID;
  choice->arg = as<Expr>(tested);
  choice->args = branches;
  choice->defresult = as<Expr>(otherwise);
  choice->location = kNowhere;
  return choice;
}

Node* no_number() {
  return as<Node>(makeNullConst(INT4OID, -1, InvalidOid));
}

// The number of the value of a row in the list, from 1 on; of the one that stands for all others if
// it is not there.
Node* number_of_value(const PlainLevel* level, Node* key, const List* values) {
  const Const* other = other_value_of(level->select, key);
  CaseTestExpr* tested = makeNode(CaseTestExpr);
  tested->typeId = exprType(key);
  tested->typeMod = exprTypmod(key);
  tested->collation = exprCollation(key);
  ParseState* state = make_parsestate(nullptr);
  List* branches = NIL;
  Node* otherwise = no_number();
  for (const auto* value : each<const Const>(values)) {
    const int number = list_length(branches) + 1;
    if (other != nullptr && equal(other, value)) otherwise = number_constant(number);
    branches = lappend(branches, branch_of(state, tested, value, number));
  }
  free_parsestate(state);
  auto* copy = static_cast<Node*>(copyObjectImpl(key));
  auto* number = as<Node>(choice_of_numbers(copy, branches, otherwise));
  if (other == nullptr) return number;
  CaseWhen* absent = makeNode(CaseWhen);
  absent->expr = is_null(key);
  absent->result = as<Expr>(no_number());
  absent->location = kNowhere;
  return as<Node>(choice_of_numbers(nullptr, list_make1(absent), number));
}

Datum* elements_for(int count) {
  return static_cast<Datum*>(palloc(static_cast<Size>(count) * sizeof(Datum)));
}

// Bin i has the number i.
Node* bounds_of_numbers(int count) {
  Datum* bounds = elements_for(count + 1);
  for (int i = 0; i <= count; ++i) bounds[i] = Float8GetDatum(i + 1);
  return array_constant(bounds, count + 1, FLOAT8OID, InvalidOid);
}

Node* array_of_values(const List* values, const Node* key) {
  Datum* elements = elements_for(list_length(values));
  int count = 0;
  for (const auto* value : each<const Const>(values)) elements[count++] = value->constvalue;
  return array_constant(elements, count, exprType(key), exprCollation(key));
}

}  // namespace

bool is_mode(const Node* node) {
  if (!IsA(node, Aggref)) return false;
  const auto* call = as<Aggref>(node);
  return call->aggfnoid == F_MODE && call->agglevelsup == 0;
}

Node* modal_key(const PlainLevel* level, const Aggref* call) {
  if (level->select->has_public_side) {
    refuse_key(
        level, call, ERRCODE_FEATURE_NOT_SUPPORTED,
        "mode is not supported where an outer join keeps the rows of a public table",
        "Write JOIN. Where GROUP BY names columns of this table, it shows all of its rows, too.");
  }
  auto* key = as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
  const List* values = candidates(level, call, key);
  Aggref* number = call_private_aggregate(
      "dp_modal_bin",
      list_make3(number_of_value(level, key, values), float8_constant(level->epsilon),
                 bounds_of_numbers(list_length(values))),
      call->location);
  number->aggfilter = call->aggfilter;
  return element_of(array_of_values(values, key), as<Node>(number));
}

}  // namespace dpquantile
