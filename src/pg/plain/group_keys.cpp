#include "pg/plain/group_keys.hpp"

#include <climits>
#include <cmath>

#include "pg/borrowed/early_values.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/table_keys.hpp"
#include "pg/plain/time_keys.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/plain/value_range.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// An enum may have lost a label.
Node* key_of_text(const ColumnDomain& domain, const Node* key, const char* written) {
  const MemoryContext context = CurrentMemoryContext;
  Node* volatile value = nullptr;
  PG_TRY();
  value = constant_of_text(exprType(key), exprTypmod(key), exprCollation(key), written);
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    FlushErrorState();
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the list of keys of column \"%s\" has a value that the type of the "
                           "column no longer has: \"%s\"",
                           NameStr(domain.name), written),
                    errhint("Ask the owner of the table to set the list again: dp_set_domain.")));
  }
  PG_END_TRY();
  return value;
}

// What a search has found of a column: it is asked in several ways, and derived tables can double
// each other, level by level.
struct KnownList {
  const Level* level;
  const Node* column;
  List* values;
};

// A search for one key. It gives up after so many columns.
struct ListSearch {
  Lists lists = Lists::kAll;
  BoundsFor use = BoundsFor::kKeys;
  int columns = 0;
  int tables = 0;     // that have been read, perhaps in vain
  List* known = NIL;  // KnownList
  static constexpr int kMostColumns = 1000;
  static constexpr int kMostTables = 20;
};

List* values_of(ListSearch* search, const Level* level, Node* key);

const ColumnDomain* domain_with_keys(const Level* level, const Node* key) {
  const auto origin = origin_of(level, key);
  const ColumnDomain* domain = origin ? find_domain(origin->relation, origin->column) : nullptr;
  return domain == nullptr || domain->keys == nullptr ? nullptr : domain;
}

// The keys of a list with the numbers from `first` to before `end`, or to its end.
List* keys_of_domain(const ColumnDomain& domain, const Node* key, int first, int end) {
  Datum* texts;
  bool* nulls;
  int count;
  deconstruct_array(domain.keys, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &count);
  List* values = NIL;
  for (int i = first; i < Min(count, end); ++i) {
    CHECK_FOR_INTERRUPTS();
    values = lappend(values, nulls[i] ? as<Node>(null_like(key))
                                      : key_of_text(domain, key, TextDatumGetCString(texts[i])));
  }
  return values;
}

List* keys_of_domain(const Level* level, const Node* key) {
  const ColumnDomain* domain = domain_with_keys(level, key);
  return domain == nullptr ? NIL : keys_of_domain(*domain, key, 0, INT_MAX);
}

Node* constant_of_number(ValueType type, double number) {
  const Oid oid = oid_of(type);
  int16 length;
  bool by_value;
  get_typlenbyval(oid, &length, &by_value);
  return as<Node>(
      makeConst(oid, -1, InvalidOid, length, value_of_number(type, number), false, by_value));
}

// A sum of whole numbers is numeric where they may be large.
bool is_sum_of_whole_numbers(const Node* node) {
  if (!IsA(node, Aggref) || as<Aggref>(node)->args == NIL) return false;
  const auto* added = static_cast<const TargetEntry*>(linitial(as<Aggref>(node)->args));
  return is_one_of(get_func_name(as<Aggref>(node)->aggfnoid), "sum") &&
         is_whole_type(exprType(as<Node>(added->expr)));
}

// Whether an expression gives nothing but whole numbers, or days.
bool has_steps_of_one(const Node* key, ValueType type) {
  if (type == ValueType::kDate) return true;
  if (is_temporal(type)) return false;
  if (is_whole(type) || is_sum_of_whole_numbers(key)) return true;
  const Oid function = function_of(key);
  return OidIsValid(function) && function < FirstUnpinnedObjectId &&
         is_one_of(get_func_name(function), "sign div");
}

// The whole numbers from one to another, times a step. None if there are too many, or beyond 2^53,
// where a float8 has no next whole number.
List* whole_constants(ValueType type, double first, double last, double step = 1,
                      int most = kMaxElements) {
  constexpr double kMost = 9007199254740992;
  if (!(first * step >= -kMost && last * step <= kMost && last - first < most)) return NIL;
  List* values = NIL;
  for (auto number = static_cast<int64>(first); number <= static_cast<int64>(last); ++number) {
    values = lappend(values, constant_of_number(type, static_cast<double>(number) * step));
  }
  return values;
}

// Whole numbers and dates between the bounds of an expression.
List* series_of_bounds(const ListSearch* search, const Level* level, Node* key,
                       int most = kMaxElements) {
  const auto type = find_value_type(exprType(key));
  if (!type || oid_of(*type) != exprType(key) || !has_steps_of_one(key, *type)) return NIL;
  const auto bounds = bounds_of(level, key, search->use);
  if (!bounds || bounds->type != *type) return NIL;
  return whole_constants(*type, std::ceil(bounds->lower), std::floor(bounds->upper), 1, most);
}

// ---- Functions of numbers ------------------------------------------------------------------

// To which multiples floor, ceil, round or trunc rounds: whole numbers, or as round(x, -2) does. 0
// for other functions.
double step_of_rounding(const FuncExpr* call) {
  const char* name = get_func_name(call->funcid);
  if (list_length(call->args) == 1) {
    return is_one_of(name, "floor ceil ceiling round trunc") ? 1 : 0;
  }
  if (call->funcid != F_ROUND_NUMERIC_INT4 && call->funcid != F_TRUNC_NUMERIC_INT4) return 0;
  const auto* digits = static_cast<const Node*>(lsecond(call->args));
  if (!IsA(digits, Const) || as<Const>(digits)->constisnull) return 0;
  const int32 number = DatumGetInt32(as<Const>(digits)->constvalue);
  constexpr int kMostZeros = 15;
  return number <= 0 && number >= -kMostZeros ? std::pow(10.0, -number) : 0;
}

// Lists the numbers that such a function may give. Of a number that has a list itself they are
// those of the list.
List* rounded_numbers(ListSearch* search, const Level* level, const FuncExpr* call, double step) {
  auto* argument = static_cast<Node*>(linitial(call->args));
  if (values_of(search, level, argument) != NIL) return NIL;
  const auto bounds = bounds_of(level, argument, search->use);
  const auto type = find_value_type(call->funcresulttype);
  if (!bounds || is_temporal(bounds->type) || !type) return NIL;
  return whole_constants(*type, std::floor(bounds->lower / step), std::ceil(bounds->upper / step),
                         step);
}

// The buckets, and those below and above them.
List* bucket_numbers(const FuncExpr* call) {
  if (list_length(call->args) != 4) return NIL;
  const auto* count = static_cast<const Node*>(lfourth(call->args));
  if (!IsA(count, Const) || as<Const>(count)->constisnull) return NIL;
  const int32 buckets = DatumGetInt32(as<Const>(count)->constvalue);
  if (buckets < 1 || buckets > kMaxElements - 2) return NIL;
  return whole_numbers(call->funcresulttype, 0, buckets + 1);
}

List* values_of_function(ListSearch* search, const Level* level, const FuncExpr* call) {
  if (List* values = values_of_time_function(level, call)) return values;
  if (call->funcid >= FirstUnpinnedObjectId) return NIL;
  if (const double step = step_of_rounding(call)) return rounded_numbers(search, level, call, step);
  return is_one_of(get_func_name(call->funcid), "width_bucket") ? bucket_numbers(call) : NIL;
}

// ---- Few values ----------------------------------------------------------------------------

// All labels of an enum.
List* labels_of_enum(const Node* key) {
  const Oid type = exprType(key);
  if (get_typtype(type) != TYPTYPE_ENUM) return NIL;
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  List* values = NIL;
  if (labels->n_members <= kMaxElements) {
    for (int i = 0; i < labels->n_members; ++i) {
      const auto* label = reinterpret_cast<Form_pg_enum>(GETSTRUCT(&labels->members[i]->tuple));
      values = lappend(values, makeConst(type, -1, InvalidOid, sizeof(Oid),
                                         ObjectIdGetDatum(label->oid), false, true));
    }
  }
  ReleaseSysCacheList(labels);
  return values;
}

List* both_booleans() {
  return list_make2(bool_constant(false), bool_constant(true));
}

// ---- Choices -------------------------------------------------------------------------------

// What a result is: a constant, or one of its own list, of which none stands for all others.
List* values_of_result(ListSearch* search, const Level* level, Node* result) {
  if (IsA(result, Const)) return list_make1(result);
  return other_value_of(level, result) == nullptr ? values_of(search, level, result) : NIL;
}

// What a branch gives: also one of those of which its condition says that its result is.
List* values_of_branch(ListSearch* search, const Level* level, const CaseExpr* choice,
                       const CaseWhen* branch) {
  auto* result = as<Node>(branch->result);
  if (IsA(result, Const) || choice->arg != nullptr) return values_of_result(search, level, result);
  const auto* condition = as<Node>(branch->expr);
  if (List* values = values_in_term(level, result, condition)) return values;
  if (List* values = values_of_match(level, result, condition)) return values;
  return values_of_result(search, level, result);
}

List* values_of_case(ListSearch* search, const Level* level, const CaseExpr* choice) {
  check_stack_depth();
  auto* otherwise = as<Node>(choice->defresult);
  List* results =
      otherwise == nullptr ? NIL : list_copy(values_of_result(search, level, otherwise));
  if (otherwise != nullptr && results == NIL) return NIL;
  for (const auto* branch : each<const CaseWhen>(choice->args)) {
    List* given = values_of_branch(search, level, choice, branch);
    if (given == NIL || list_length(results) > kMaxElements) return NIL;
    results = list_concat(results, given);
  }
  List* values = NIL;
  if (list_length(results) > kMaxElements) return NIL;
  for (const auto* value : each<const Const>(results)) {
    auto* constant = static_cast<Const*>(copyObjectImpl(value));
    constant->location = -1;
    if (constant->constisnull && has_null(values)) continue;
    values = list_append_unique(values, constant);
  }
  if (has_null(values)) return list_length(values) == 1 ? NIL : values;
  // Conditions bound numbers, too.
  List* bounded = series_of_bounds(search, level, as<Node>(const_cast<CaseExpr*>(choice)));
  return bounded != NIL && list_length(bounded) < list_length(values) ? bounded : values;
}

// ---- Expressions of a key with a list ----------------------------------------------------

// The values of a key are computed for at most so many combinations of its parts.
constexpr double kMostCombinations = 10 * kMaxElements;

List* values_of_part(ListSearch* search, const Level* level, Node* key);
List* whole_numbers_of_part(ListSearch* search, const Level* level, Node* part);

// How the list of a part of a key is found; NIL if it has none.
using ListOfPart = List* (*)(ListSearch*, const Level*, Node*);

struct ListedPart {
  Node* part;
  List* values;
};

bool is_number(const Node* value) {
  char category;
  bool is_preferred;
  get_type_category_preferred(exprType(value), &category, &is_preferred);
  return category == TYPCATEGORY_NUMERIC;
}

// Whether a function may give different values for arguments that are equal: for 1.0 and 1.00 a
// text, or a scale. Arithmetic does not, nor do comparisons.
bool tells_equals_apart(Node* node) {
  if (IsA(node, CoerceViaIO)) return !looks_like_its_equals(as<Node>(as<CoerceViaIO>(node)->arg));
  if (!IsA(node, FuncExpr) && !IsA(node, OpExpr)) return false;
  if (IsA(node, OpExpr) && DPQ_PLACES_IN_ORDER(as<OpExpr>(node)->opno) != NIL) return false;
  const Oid function = function_of(node);
  if (function == F_TO_CHAR_NUMERIC_TEXT || function == F_TEXT_BPCHAR) return false;
  const bool gives_number = is_number(node) && function != F_SCALE;
  for (const auto* argument : each<const Node>(arguments_of(node))) {
    const bool is_of_numbers = gives_number && is_number(argument);
    if (!is_of_numbers && !looks_like_its_equals(argument)) return true;
  }
  return false;
}

// Whether a part is a column with equal values that look different. Parts that are computed, such
// as floor(amount), look alike.
bool is_of_any_look(const Level* level, const Node* part) {
  if (!IsA(part, Var) || looks_like_its_equals(part)) return false;
  const auto definition = definition_of(level, as<Var>(part));
  return !definition || is_of_any_look(definition->level, definition->expression);
}

// The parts of an expression that have lists, each once: ListedPart. NIL if a column stands outside
// of them.
List* listed_parts(ListSearch* lists, const Level* level, Node* key, ListOfPart list_of, int most) {
  List* parts = NIL;
  bool is_of_any_looks = false;
  const auto is_listed = [&](const Node* node) {
    for (const auto* part : each<const ListedPart>(parts)) {
      if (equal(node, part->part)) return true;
    }
    return false;
  };
  const bool has_other_column = search(key, [&](Node* node) {
    // A list has the arguments of COALESCE, GREATEST and LEAST.
    if (IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc)) return Look::kFound;
    if (node == key || IsA(node, List)) return Look::kBelow;
    if (IsA(node, Const) || is_listed(node)) return Look::kPast;
    List* values = list_of(lists, level, node);
    if (values == NIL) return IsA(node, Var) ? Look::kFound : Look::kBelow;
    if (list_length(parts) >= most) return Look::kFound;
    auto* part = static_cast<ListedPart*>(palloc(sizeof(ListedPart)));
    *part = {node, values};
    parts = lappend(parts, part);
    is_of_any_looks |= is_of_any_look(level, node);
    return Look::kPast;
  });
  // A list has one of values that are equal.
  if (has_other_column || (is_of_any_looks && any_node(key, tells_equals_apart))) return NIL;
  return parts;
}

// The only part of an expression that has a list. No column may stand outside of it.
std::optional<ListedPart> listed_part(ListSearch* lists, const Level* level, Node* key,
                                      ListOfPart list_of) {
  const List* parts = listed_parts(lists, level, key, list_of, 1);
  return parts == NIL ? std::nullopt
                      : std::optional(*static_cast<const ListedPart*>(linitial(parts)));
}

List* values_of_expression(ListSearch* search, const Level* level, Node* key, ListOfPart list_of) {
  const auto listed = listed_part(search, level, key, list_of);
  if (!listed) return NIL;
  const Node* inner = listed->part;
  List* values = listed->values;
  // COALESCE has a key for rows without a value.
  const bool lists_null = has_null(values);
  const Const* none = null_like(inner);
  if (!lists_null) values = lappend(list_copy(values), const_cast<Const*>(none));
  bool gives_null = false;
  List* computed = evaluated_list(level, key, inner, values, &gives_null);
  if (computed == NIL) return NIL;
  gives_null |= lists_null && evaluated(level, key, inner, none) == nullptr;
  return gives_null ? lappend(computed, null_like(key)) : computed;
}

List* values_in_table(ListSearch* search, const Level* level, Node* key) {
  if (search->lists == Lists::kStated || search->tables >= ListSearch::kMostTables) return NIL;
  ++search->tables;
  return values_of_table(level, key);
}

List* values_of_reference(const ListSearch* search, const Level* level, Node* column) {
  return search->lists == Lists::kStated ? NIL : values_of_referenced_table(level, column);
}

// Those of the queries of a UNION ALL together: a constant in one names where its rows are from.
List* values_in_branches(ListSearch* search, const Level* level, Node* column) {
  List* values = NIL;
  bool gives_null = false;
  for (const auto* branch :
       each<const LevelExpression>(definitions_in_branches(level, as<Var>(column)))) {
    List* given = values_of_result(search, branch->level, branch->expression);
    if (given == NIL || list_length(values) > kMaxElements) return NIL;
    for (auto* value : each<Const>(given)) {
      gives_null |= value->constisnull;
      if (!value->constisnull) values = lappend(values, value);
    }
  }
  if (values != NIL) values = different_values(values, column);
  if (list_length(values) > kMaxElements) return NIL;
  return gives_null && values != NIL ? lappend(values, null_like(column)) : values;
}

List* find_values_of_column(ListSearch* search, const Level* level, Node* column) {
  if (List* values = values_in_table(search, level, column)) return values;
  if (List* values = keys_of_domain(level, column)) return values;
  if (origin_of(level, column)) {
    if (List* values = series_of_bounds(search, level, column)) return values;
  }
  if (exprType(column) == BOOLOID) return both_booleans();
  if (List* values = labels_of_enum(column)) return values;
  if (List* values = values_in_terms(level, column)) return values;
  if (List* values = values_of_reference(search, level, column)) return values;
  const auto definition = definition_of(level, as<Var>(column));
  return definition ? values_of(search, definition->level, definition->expression)
                    : values_in_branches(search, level, column);
}

List* values_of_column(ListSearch* search, const Level* level, Node* column) {
  for (const auto* known : each<const KnownList>(search->known)) {
    if (known->level == level && equal(known->column, column)) return known->values;
  }
  if (++search->columns > ListSearch::kMostColumns) return NIL;
  List* values = find_values_of_column(search, level, column);
  auto* known = static_cast<KnownList*>(palloc(sizeof(KnownList)));
  *known = {level, column, values};
  search->known = lappend(search->known, known);
  return values;
}

// Without looking at parts of it.
List* values_of_part(ListSearch* search, const Level* level, Node* key) {
  check_stack_depth();
  if (IsA(key, Var)) return values_of_column(search, level, key);
  if (IsA(key, FuncExpr)) return values_of_function(search, level, as<FuncExpr>(key));
  if (IsA(key, CaseExpr)) return values_of_case(search, level, as<CaseExpr>(key));
  return exprType(key) == BOOLOID && !IsA(key, Const) ? both_booleans() : NIL;
}

// The same, or whole numbers that are computed of several columns, such as a + b in (a + b) / 10.
List* whole_numbers_of_part(ListSearch* search, const Level* level, Node* part) {
  if (List* values = values_of_part(search, level, part)) return values;
  if (IsA(part, Const)) return NIL;
  if (List* values = values_of_expression(search, level, part, values_of_part)) return values;
  return series_of_bounds(search, level, part);
}

// Each part of a key is looked at as a whole.
bool has_few_nodes(Node* key) {
  constexpr int kMostNodes = 200;
  int nodes = 0;
  return !any_node(key, [&](const Node*) { return ++nodes > kMostNodes; });
}

// One of a person's values
List* values_of_aggregate(ListSearch* search, const Level* level, const Aggref* call) {
  const char* name = level->groups_persons ? get_func_name(call->aggfnoid) : nullptr;
  if (name == nullptr || !is_one_of(name, "min max percentile_disc")) return NIL;
  return values_of(search, level, as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr));
}

// Those of all combinations of the lists of its parts. A part without NULL in its list may be NULL
// in rows that are in no group of it alone; COALESCE and concat() have a key for these.
List* values_of_parts(ListSearch* search, const Level* level, Node* key) {
  constexpr int kMostParts = 8;
  const List* listed = listed_parts(search, level, key, values_of_part, kMostParts);
  if (list_length(listed) < 2) return NIL;
  List* parts = NIL;
  List* lists = NIL;
  List* columns = NIL;
  double combinations = 1;
  for (const auto* part : each<const ListedPart>(listed)) {
    // Parts of one column have few of the combinations.
    List* columns_of_part = pull_vars_of_level(part->part, 0);
    if (list_intersection(columns, columns_of_part) != NIL) return NIL;
    columns = list_concat(columns, columns_of_part);
    // The key of rows with another value would be that of the part.
    if (other_value_of(level, part->part) != nullptr) return NIL;
    List* values = list_copy(part->values);
    if (!has_null(values) && may_be_null(level, part->part)) {
      values = lappend(values, null_like(part->part));
    }
    parts = lappend(parts, part->part);
    lists = lappend(lists, values);
    combinations *= list_length(values);
  }
  if (combinations > kMostCombinations || !can_be_evaluated(key, parts)) return NIL;
  List* values = evaluated_combinations(level, key, parts, lists);
  return list_length(values) <= kMaxElements ? values : NIL;
}

// Those of its parts, or of conditions, are all that a computed key has, or fewer than there are
// between its bounds.
List* values_of_computed_key(ListSearch* search, const Level* level, Node* key) {
  if (IsA(key, Aggref)) return values_of_aggregate(search, level, as<Aggref>(key));
  if (List* values = values_of_expression(search, level, key, values_of_part)) return values;
  if (List* values = values_of_time_parts(level, key)) return values;
  if (List* values = values_in_terms(level, key)) return values;
  return has_few_nodes(key) ? values_of_expression(search, level, key, whole_numbers_of_part) : NIL;
}

List* values_of(ListSearch* search, const Level* level, Node* key) {
  const bool is_computed = !IsA(key, Var);
  List* values = is_computed ? values_in_table(search, level, key) : NIL;
  if (values == NIL && !IsA(key, Aggref)) values = values_of_part(search, level, key);
  if (values == NIL && is_computed) values = values_of_computed_key(search, level, key);
  if (values == NIL) values = series_of_bounds(search, level, key);
  return values == NIL && is_computed ? values_of_parts(search, level, key) : values;
}

List* all_values_of(const Level* level, Node* key, Lists lists) {
  ListSearch search{.lists = lists, .use = BoundsFor::kAllKeys};
  return values_of(&search, level, key);
}

}  // namespace

List* public_values_of(const Level* level, Node* key, Lists lists) {
  if (List* values = all_values_of(level, key, lists)) return values;
  ListSearch search{.lists = lists};
  return values_of(&search, level, key);
}

bool lacks_many_rows(const Level* level, Node* key) {
  return all_values_of(level, key, Lists::kAll) == NIL && public_values_of(level, key) != NIL;
}

List* values_between_bounds(const Level* level, Node* column, BoundsFor use, int most) {
  const ListSearch search{.use = use};
  return series_of_bounds(&search, level, column, most);
}

List* public_values_of_column(Oid relation, const char* column) {
  const char* text =
      psprintf("SELECT %s FROM %s", quote_identifier(column),
               quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
                                          get_rel_name(relation)));
  auto* raw = static_cast<RawStmt*>(linitial(raw_parser(text, RAW_PARSE_DEFAULT)));
  Query* query = parse_analyze_fixedparams(raw, text, nullptr, 0, nullptr);
  const Level* level = read_statement(query, NIL)->top;
  const auto* shown = static_cast<const TargetEntry*>(linitial(query->targetList));
  return public_values_of(level, as<Node>(shown->expr), Lists::kStated);
}

List* shown_values_of(const Level* level, Node* key, Lists lists) {
  List* values = NIL;
  const List* listed = public_values_of(level, key, lists);
  for (auto* value : each<Const>(listed)) {
    if (!value->constisnull) values = lappend(values, value);
  }
  if (values != NIL) values = different_values(values, key);
  return has_null(listed) ? lappend(values, null_like(key)) : values;
}

const Const* other_value_of(const Level* level, Node* key) {
  check_stack_depth();
  if (IsA(key, Var)) {
    if (const ColumnDomain* domain = domain_with_keys(level, key)) {
      if (domain->other == 0) return nullptr;
      return static_cast<const Const*>(
          linitial(keys_of_domain(*domain, key, domain->other - 1, domain->other)));
    }
    const auto definition = definition_of(level, as<Var>(key));
    return definition ? other_value_of(definition->level, definition->expression) : nullptr;
  }
  ListSearch search{.lists = Lists::kStated};
  if (IsA(key, Aggref) || values_of_part(&search, level, key) != NIL) return nullptr;
  const auto listed = listed_part(&search, level, key, values_of_part);
  const Const* other = listed ? other_value_of(level, listed->part) : nullptr;
  if (other == nullptr) return nullptr;
  const Const* computed = evaluated(level, key, listed->part, other);
  return computed != nullptr ? computed : null_like(key);
}

}  // namespace dpquantile
