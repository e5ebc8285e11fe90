#include "pg/protect/size_bounds.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "pg/protect/column_traits.hpp"
#include "pg/protect/early_lookups.hpp"
#include "pg/protect/early_values.hpp"
#include "pg/protect/long_types.hpp"
#include "pg/protect/node_functions.hpp"
#include "pg/protect/own_function.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/reuse/secret_hash.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kName = NAMEDATALEN;
// The texts of numbers, dates and the like
constexpr double kShortText = 128;
// Columns with shorter texts need no limit.
constexpr double kNoLimitBelow = 256;
constexpr double kNumericHeader = 16;
constexpr double kMostNumericBytes =
    512;  // more than those of 400 digits before and after the point
constexpr double kMostProductBytes = 1024;  // of two of them
constexpr char kShortValue[] = "short_value";

double limit_of(int number) {
  constexpr double kLeast = 256;
  return std::max(kMostTextBytes / (1U << static_cast<unsigned>(number)), kLeast);
}

// Values of parameters are searched for more often than in.
double early_limit_of(int number) {
  constexpr double kRowsByEarly = 64;
  constexpr double kLeast = 64;
  const bool is_last = number == kSizeLimits - 1;
  return is_last ? kLeast / 2 : std::max(limit_of(number) / kRowsByEarly, kLeast);
}

// A literal integer, or what is more than any.
double literal_of(const Statement* statement, const Node* node) {
  const auto* constant = reinterpret_cast<const Const*>(node);
  if (!is_literal(statement, node) || constant->consttype != INT4OID) return kUnlimited;
  return constant->constisnull ? 0 : std::max(DatumGetInt32(constant->constvalue), 0);
}

// ---- How long values are --------------------------------------------------------------------

SizeBound all(double bytes) {
  SizeBound bound{};
  for (double& most : bound.bytes) most = bytes;
  for (double& most : bound.computed) most = bytes;
  return bound;
}

SizeBound stored(double bytes) {
  SizeBound bound = all(bytes);
  for (double& most : bound.computed) most = 0;
  bound.is_stored = bytes > kNoLimitBelow;
  bound.is_toasted = true;
  return bound;
}

template <class Limit>
SizeBound limited(SizeBound bound, Limit limit) {
  for (int i = 0; i < kSizeLimits; ++i) {
    bound.bytes[i] = std::min(bound.bytes[i], limit(i));
    bound.computed[i] = bound.bytes[i];
  }
  bound.is_stored = false;
  bound.is_toasted = false;
  return bound;
}

bool is_number(Oid type) {
  return getBaseType(type) == NUMERICOID;
}

bool is_array(Oid type) {
  return OidIsValid(get_element_type(getBaseType(type)));
}

SizeBound early_bound(Oid type) {
  if (is_array(type)) return all(kMostTextBytes);
  return limited(all(is_number(type) ? kMostNumericBytes : kUnlimited), early_limit_of);
}

// A value of the query around, which is in memory (outer_values.hpp).
SizeBound outer_bound() {
  SizeBound bound = all(kMostTextBytes);
  bound.is_stored = true;
  return bound;
}

// The longest value in a column of VALUES, which are constants.
double longest_value(const RangeTblEntry* list, AttrNumber column) {
  double longest = 0;
  const ListCell* cell;
  foreach (cell, list->values_lists) {
    const auto* value =
        static_cast<const Const*>(list_nth(static_cast<List*>(lfirst(cell)), column - 1));
    longest = std::max(longest, size_of_constant(value));
  }
  return longest;
}

// The values of a list are few and in memory.
SizeBound bound_of_list(const RangeTblEntry* list, AttrNumber column) {
  const bool is_values = list->rtekind == RTE_VALUES;
  SizeBound bound = stored(is_values ? longest_value(list, column) : kMostTextBytes);
  bound.is_stored = false;
  bound.is_toasted = false;
  return bound;
}

// How long a value is by the declaration of its column.
double declared_bytes(Oid base, int32 typmod) {
  if (typmod < 0) return kUnlimited;
  const int32 declared = typmod - static_cast<int32>(VARHDRSZ);
  switch (base) {
    case VARCHAROID:
    case BPCHAROID:
      return declared * pg_database_encoding_max_length();
    case NUMERICOID:
      return kNumericHeader + (declared >> 16 & 0xffff);  // half a byte a digit, and some
    case BITOID:
    case VARBITOID:
      return sizeof(int32) + (typmod + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
    default:
      return kUnlimited;
  }
}

SizeBound bound_of_column(const QueryLevel* level, const Var* column) {
  const Node* node = reinterpret_cast<const Node*>(column);
  if (column->varlevelsup > 0) return outer_bound();
  if (Node* merged = merged_column(level, column)) return bound_of(level, merged);
  const QueryLevel* source = entry_of(level, column->varno).source;
  const bool is_computed = source != nullptr && source->works != nullptr && column->varattno > 0;
  if (is_computed && column->varattno <= list_length(source->query->targetList)) {
    return source->works[column->varattno - 1].size;
  }
  if (is_list(entry_of(level, column->varno))) {
    return bound_of_list(rt_fetch(column->varno, level->query->rtable), column->varattno);
  }
  return stored(declared_bytes(getBaseType(exprType(node)), column->vartypmod));
}

SizeBound longest_of(const QueryLevel* level, const List* nodes) {
  SizeBound longest = all(0);
  const ListCell* cell;
  foreach (cell, nodes) {
    longest = longer(longest, bound_of(level, static_cast<Node*>(lfirst(cell))));
  }
  return longest;
}

SizeBound bound_of_case(const QueryLevel* level, const CaseExpr* node) {
  List* results = node->defresult == nullptr ? NIL : list_make1(node->defresult);
  const ListCell* cell;
  foreach (cell, node->args) {
    results = lappend(results, static_cast<CaseWhen*>(lfirst(cell))->result);
  }
  return longest_of(level, results);
}

// The text that a variant answers, by the name of its function.
SizeBound bound_of_answer(const QueryLevel* level, const char* name, Node* node) {
  const double character = pg_database_encoding_max_length();
  Node* first = argument_of(node, 0);
  const bool reads_text = first != nullptr && is_text(exprType(first));
  const SizeBound text = reads_text ? bound_of(level, first) : all(kMostTextBytes);
  if (is_one_of(name, "btrim ltrim rtrim split_part reverse varchar text")) return text;
  if (is_one_of(name, "left right")) {
    const double characters = literal_of(level->statement, argument_of(node, 1));
    return characters > 0 ? limited(text, [=](int) { return characters * character; }) : text;
  }
  if (is_one_of(name, "substr substring")) {
    const double characters = literal_of(level->statement, argument_of(node, 2));
    return limited(text, [=](int) { return characters * character; });
  }
  if (is_one_of(name, "textcat byteacat overlay")) {
    return limited(sum_of(level, arguments_of(node)), [](int) { return kMostTextBytes; });
  }
  if (is_one_of(name, "lpad rpad bpchar")) {
    const double characters = literal_of(level->statement, argument_of(node, 1));
    return all(std::min(characters * character, kMostTextBytes));
  }
  double factor = kMostTextBytes;
  if (is_one_of(name, "lower upper initcap")) factor = 3;  // of a character with others
  if (is_one_of(name, "translate")) factor = character;
  if (is_one_of(name, "like_escape")) factor = 2;
  if (is_one_of(name, "repeat")) factor = literal_of(level->statement, argument_of(node, 1));
  if (is_one_of(name, "md5 chr")) return all(kShortText);
  if (is_one_of(name, "to_char")) {
    constexpr double kLongestWord = 32;
    const SizeBound format = bound_of(level, argument_of(node, 1));
    return limited(format, [&](int i) {
      return std::min(kShortText + kLongestWord * format.bytes[i], kMostTextBytes);
    });
  }
  // Each replacement takes at least a byte of the text.
  const bool replaces = is_one_of(name, "replace");
  const SizeBound other = replaces ? bound_of(level, argument_of(node, 2)) : all(factor);
  return limited(all(kMostTextBytes), [&](int i) {
    const double growth = replaces ? std::max(other.bytes[i], 1.0) : factor;
    return text.bytes[i] == 0 ? 0 : std::min(growth * text.bytes[i], kMostTextBytes);
  });
}

SizeBound bound_of_call(const QueryLevel* level, Node* node) {
  if (const char* name = replaced_by(node)) {
    if (is_number(exprType(node))) return all(kMostProductBytes);
    const SizeBound answer = bound_of_answer(level, name, node);
    return limited(answer, [](int) { return kMostTextBytes; });
  }
  // text_larger() and the like answer an argument.
  const SizeBound argument = longest_of(level, arguments_of(node));
  return argument.bytes[0] > kShortText ? argument : all(kShortText);
}

SizeBound find_bound(const QueryLevel* level, Node* node) {
  check_stack_depth();
  switch (nodeTag(node)) {
    case T_Const: {
      const auto* constant = reinterpret_cast<const Const*>(node);
      return is_literal(level->statement, node) ? all(size_of_constant(constant))
                                                : early_bound(exprType(node));
    }
    case T_Param:
      return early_bound(exprType(node));
    case T_Var:
      return bound_of_column(level, reinterpret_cast<const Var*>(node));
    case T_RelabelType:
      return bound_of(level, reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg));
    case T_CollateExpr:
      return bound_of(level, reinterpret_cast<Node*>(reinterpret_cast<CollateExpr*>(node)->arg));
    case T_CaseExpr:
      return bound_of_case(level, reinterpret_cast<const CaseExpr*>(node));
    case T_CoalesceExpr:
      return longest_of(level, reinterpret_cast<const CoalesceExpr*>(node)->args);
    case T_MinMaxExpr:
    case T_NullIfExpr:
      return longest_of(level, arguments_of(node));
    case T_FuncExpr:
    case T_OpExpr:
      return bound_of_call(level, node);
    case T_SubscriptingRef:  // an element
      return bound_of(level,
                      reinterpret_cast<Node*>(reinterpret_cast<SubscriptingRef*>(node)->refexpr));
    case T_ArrayExpr:
      return all(kMostTextBytes);
    case T_CoerceViaIO: {
      const auto* value = reinterpret_cast<const Node*>(reinterpret_cast<CoerceViaIO*>(node)->arg);
      return all(is_number(exprType(value)) ? kMostProductBytes : kShortText);
    }
    default:
      return stored(kUnlimited);
  }
}

// A text is asked for by what is around it, on many levels.
struct KnownBound {
  Node* node;
  SizeBound bound;
};

HTAB* make_bounds() {
  HASHCTL control{};
  control.keysize = sizeof(Node*);
  control.entrysize = sizeof(KnownBound);
  control.hcxt = CurrentMemoryContext;
  return hash_create("dpquantile bounds of texts", 64, &control,
                     HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void remember(Statement* statement, Node* node, const SizeBound& bound) {
  bool found;
  void* entry = hash_search(statement->bounds, &node, HASH_ENTER, &found);
  static_cast<KnownBound*>(entry)->bound = bound;
}

// ---- The limit -----------------------------------------------------------------------------

// The limit is an early value, which is known when all expressions have been counted.
void add_limit(Statement* statement) {
  statement->size_limit =
      makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
  statement->early = lappend(statement->early, statement->size_limit);
  statement->identities = append_hash(statement->identities, SecretHash{});
  statement->limit_number = statement->own_parameters + list_length(statement->early);
}

Node* limit_parameter(Statement* statement) {
  if (statement->size_limit == nullptr) add_limit(statement);
  Param* parameter = makeNode(Param);
  parameter->paramkind = PARAM_EXTERN;
  parameter->paramid = statement->limit_number;
  parameter->paramtype = INT4OID;
  parameter->paramtypmod = -1;
  parameter->location = kNowhere;
  return reinterpret_cast<Node*>(parameter);
}

[[noreturn]] void report_internal(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("the time of a private query cannot be bounded: %s", what),
                  errhint("This call was not charged. Ask the administrator whether the library "
                          "and the SQL objects are of one version: dpquantile.check_version().")));
}

// dpquantile.short_value(value, limit): NULL in the place of a longer value.
Node* short_value(Statement* statement, Node* value, Node* limit) {
  const Oid type = exprType(value);
  const Oid types[] = {type_of_short_value(type), INT4OID};
  const Oid function = own_function(kShortValue, buildoidvector(types, 2));
  if (!OidIsValid(function)) report_internal("a function is missing");
  const Oid collation = exprCollation(value);
  FuncExpr* call = makeFuncExpr(function, type, list_make2(value, limit), collation, collation,
                                COERCE_EXPLICIT_CALL);
  call->location = exprLocation(value);
  statement->samples = with_samples(statement->samples, reinterpret_cast<Node*>(call));
  return reinterpret_cast<Node*>(call);
}

// The number of an early value, from 0. A parameter of the query itself has one, too.
int number_of_early(const Statement* statement, const Param* parameter) {
  if (parameter->paramid > statement->own_parameters) {
    return parameter->paramid - statement->own_parameters - 1;
  }
  const ListCell* cell;
  foreach (cell, statement->early) {
    if (equal(lfirst(cell), parameter)) return foreach_current_index(cell);
  }
  report_internal("a parameter has no value before the rows");
}

// ---- What reads values -----------------------------------------------------------------------

const Var* column_in(const QueryLevel* level, const Node* node) {
  while (IsA(node, RelabelType)) {
    node = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(node)->arg);
  }
  const auto* column = reinterpret_cast<const Var*>(node);
  if (!IsA(node, Var) || column->varlevelsup > 0) return nullptr;
  const Node* merged = merged_column(level, column);
  return merged == nullptr ? column : column_in(level, merged);
}

bool is_of_protected(const QueryLevel* level, const Var* column) {
  const FromEntry& entry = entry_of(level, column->varno);
  return entry.relation != nullptr || entry.source != nullptr;
}

bool is_equality(const Node* node) {
  if (!IsA(node, OpExpr)) return false;
  const Oid operation = reinterpret_cast<const OpExpr*>(node)->opno;
  const Oid type = exprType(argument_of(node, 0));
  return op_mergejoinable(operation, type) || op_hashjoinable(operation, type);
}

// A key by which rows are joined stays as it is: of a public table, which is unique, and of the
// users of two protected tables.
bool is_key_of_join(const QueryLevel* level, const Node* node, int number) {
  if (!is_equality(node)) return false;
  const Var* column = column_in(level, argument_of(node, number));
  if (column == nullptr) return false;
  if (!is_of_protected(level, column)) return true;
  const Var* other = column_in(level, argument_of(node, 1 - number));
  return other != nullptr && other->varno != column->varno && is_of_protected(level, other);
}

bool compares_lengths_first(const Node* node) {
  if (IsA(node, ScalarArrayOpExpr) || list_length(arguments_of(node)) != 2) return false;
  const Oid function = function_of(node);
  const char* name = OidIsValid(function) ? get_func_name(function) : nullptr;
  return name != nullptr && is_one_of(name, "texteq textne byteaeq byteane");
}

// Functions that compare lengths first read no value that is longer than the other argument, unless
// rows are joined by its hash; some read the length only. Variants look at the digits of numbers
// themselves.
bool reads_little(const Node* node, int number) {
  if (replaced_by(node) != nullptr) return !is_text(exprType(argument_of(node, number)));
  if (compares_lengths_first(node)) return !reads_columns(argument_of(node, 1 - number));
  const Oid function = function_of(node);
  const char* name = OidIsValid(function) ? get_func_name(function) : nullptr;
  return name != nullptr && list_length(arguments_of(node)) == 1 &&
         is_one_of(name, "octet_length length");
}

// The column of a list that a text is equal to, or null. None of its values is equal to a longer
// text.
Node* equal_column_of_list(const QueryLevel* level, const Node* node, int number) {
  if (!is_equality(node) || !compares_lengths_first(node)) return nullptr;
  Node* other = argument_of(node, 1 - number);
  const Var* column = column_in(level, other);
  return column != nullptr && is_list(entry_of(level, column->varno)) ? other : nullptr;
}

// A text that is compared with a column of a list.
Node* value_as_short_as(QueryLevel* level, Node* value, Node* column) {
  const SizeBound bound = bound_of(level, value);
  if (!bound.is_stored) return value;
  const double longest = bound_of(level, column).bytes[0];
  Node* limit =
      reinterpret_cast<Node*>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
                                        Int32GetDatum(static_cast<int32>(longest)), false, true));
  Node* short_node = short_value(level->statement, value, limit);
  remember(level->statement, short_node, all(longest));
  return short_node;
}

Node* with_limit(QueryLevel* level, Node* value, const SizeBound& bound) {
  Node* limited_node = short_value(level->statement, value, limit_parameter(level->statement));
  remember(level->statement, limited_node,
           is_number(exprType(value)) ? all(kMostNumericBytes) : limited(bound, limit_of));
  return limited_node;
}

// A number in few bytes, such as 1e100000, may be a long text.
Node* value_to_write(QueryLevel* level, Node* value) {
  const bool is_any_number = is_number(exprType(value)) && exprTypmod(value) < 0;
  return is_any_number ? with_limit(level, value, bound_of(level, value))
                       : limited_value(level, value);
}

void limit_arguments(QueryLevel* level, Node* node) {
  ListCell* cell;
  foreach (cell, arguments_of(node)) {
    auto* argument = static_cast<Node*>(lfirst(cell));
    const int number = foreach_current_index(cell);
    if (reads_little(node, number) || is_key_of_join(level, node, number)) continue;
    Node* column = equal_column_of_list(level, node, number);
    lfirst(cell) = column == nullptr ? limited_value(level, argument)
                                     : value_as_short_as(level, argument, column);
  }
}

}  // namespace

bool is_literal(const Statement* statement, const Node* node) {
  return node != nullptr && IsA(node, Const) && !list_member_ptr(statement->known, node);
}

double size_of_constant(const Const* constant) {
  if (constant->constisnull) return 0;
  return static_cast<double>(toast_raw_datum_size(constant->constvalue) - VARHDRSZ);
}

SizeBound bound_of(const QueryLevel* level, Node* node) {
  if (!has_any_length(exprType(node))) return all(kName);
  Statement* statement = level->statement;
  if (statement->bounds == nullptr) statement->bounds = make_bounds();
  if (const void* known = hash_search(statement->bounds, &node, HASH_FIND, nullptr)) {
    return static_cast<const KnownBound*>(known)->bound;
  }
  const SizeBound bound = find_bound(level, node);
  remember(statement, node, bound);
  return bound;
}

SizeBound longer(SizeBound longest, const SizeBound& bound) {
  for (int i = 0; i < kSizeLimits; ++i) {
    longest.bytes[i] = std::max(longest.bytes[i], bound.bytes[i]);
    longest.computed[i] = std::max(longest.computed[i], bound.computed[i]);
  }
  longest.is_stored = longest.is_stored || bound.is_stored;
  longest.is_toasted = longest.is_toasted || bound.is_toasted;
  return longest;
}

SizeBound sum_of(const QueryLevel* level, const List* nodes) {
  SizeBound sum = all(0);
  const ListCell* cell;
  foreach (cell, nodes) {
    auto* node = static_cast<Node*>(lfirst(cell));
    if (!is_text(exprType(node))) continue;
    const SizeBound bound = bound_of(level, node);
    for (int i = 0; i < kSizeLimits; ++i) sum.bytes[i] += bound.bytes[i];
  }
  return sum;
}

// Whether a value is known yet must not decide about the limit: by the costs of plans, PostgreSQL
// decides whether it is.
void require_short_value(Statement* statement, Node* early) {
  const Oid type = exprType(early);
  if (get_typlen(type) != -1 || is_array(type) || is_literal(statement, early)) return;
  if (IsA(early, Param)) {
    const int number = number_of_early(statement, reinterpret_cast<const Param*>(early));
    statement->short_values = list_append_unique_int(statement->short_values, number);
    return;
  }
  const auto* known = reinterpret_cast<const Const*>(early);
  if (known->constisnull) return;
  check_short_number(known->constvalue, type);
  statement->longest_known =
      Max(statement->longest_known, static_cast<Size>(size_of_constant(known)));
}

Node* limited_value(QueryLevel* level, Node* value) {
  if (!has_any_length(exprType(value))) return value;
  const SizeBound bound = bound_of(level, value);
  return bound.is_stored ? with_limit(level, value, bound) : value;
}

bool is_size_limit(const Node* node) {
  if (!IsA(node, FuncExpr)) return false;
  const Oid function = reinterpret_cast<const FuncExpr*>(node)->funcid;
  if (function < FirstNormalObjectId) return false;
  const char* name = get_func_name(function);
  return name != nullptr && strcmp(name, kShortValue) == 0;
}

void limit_values(QueryLevel* level, Node* node) {
  if (IsA(node, SubscriptingRef)) {
    auto* element = reinterpret_cast<SubscriptingRef*>(node);
    element->refexpr =
        reinterpret_cast<Expr*>(limited_value(level, reinterpret_cast<Node*>(element->refexpr)));
  } else if (IsA(node, CoerceViaIO)) {
    auto* cast = reinterpret_cast<CoerceViaIO*>(node);
    cast->arg = reinterpret_cast<Expr*>(value_to_write(level, reinterpret_cast<Node*>(cast->arg)));
  } else {
    limit_arguments(level, node);
  }
}

void set_size_limit(Statement* statement, int number) {
  statement->most_early_bytes = static_cast<int>(early_limit_of(number));
  if (statement->size_limit != nullptr) {
    statement->size_limit->constvalue = Int32GetDatum(static_cast<int32>(limit_of(number)));
  }
  check_short_value(statement->longest_known, statement->most_early_bytes);
}

}  // namespace dpquantile
