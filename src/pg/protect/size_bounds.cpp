#include "pg/protect/size_bounds.hpp"

#include <algorithm>
#include <limits>

#include "pg/borrowed/early_values.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/long_types.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/regex_weight.hpp"
#include "pg/vocabulary/total_documents.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
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

// A literal integer, or what is more than any.
double literal_of(const JudgedStatement* statement, const Node* node) {
  const auto* constant = as<Const>(node);
  if (!is_literal(statement, node) || constant->consttype != INT4OID) return kUnlimited;
  return constant->constisnull ? 0 : std::max(DatumGetInt32(constant->constvalue), 0);
}

// ---- How long values are --------------------------------------------------------------------

SizeBound stored(double bytes) {
  SizeBound bound = at_most(bytes);
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

SizeBound early_bound(Oid type) {
  if (is_array(type)) return at_most(kMostTextBytes);
  return limited(at_most(is_number(type) ? kMostNumericBytes : kUnlimited), early_limit_of);
}

// A value of the query around, which is in memory (outer_values.hpp).
SizeBound outer_bound() {
  SizeBound bound = at_most(kMostTextBytes);
  bound.is_stored = true;
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

// NULL among answers stands for a text that has not come.
double size_in_list(const Const* value) {
  if (!value->constisnull) return size_of_constant(value);
  if (parameters_of_answers() == NIL) return 0;
  const double declared = declared_bytes(getBaseType(value->consttype), value->consttypmod);
  return std::min<double>(declared, kMostAnswerBytes);
}

// The longest of the constants in a column of VALUES.
double longest_value(const RangeTblEntry* list, AttrNumber column) {
  double longest = 0;
  for (auto* row : each<List>(list->values_lists)) {
    longest = std::max(longest, size_in_list(static_cast<Const*>(list_nth(row, column - 1))));
  }
  return longest;
}

// The values of a list are in memory.
SizeBound bound_of_list(const JudgedLevel* level, const Var* column) {
  const RangeTblEntry* list = rt_fetch(column->varno, level->query->rtable);
  if (list->rtekind != RTE_VALUES) list = entry_of(level, column->varno).values;
  SizeBound bound =
      stored(list == nullptr ? kMostTextBytes : longest_value(list, column->varattno));
  bound.is_stored = false;
  bound.is_toasted = false;
  return bound;
}

SizeBound bound_of_column(const JudgedLevel* level, const Var* column) {
  const Node* node = as<Node>(column);
  if (column->varlevelsup > 0) return outer_bound();
  if (Node* merged = merged_column(level->query, column)) return bound_of(level, merged);
  if (const ColumnWork* own = work_of_source(level, column)) return own->size;
  if (is_list(entry_of(level, column->varno))) return bound_of_list(level, column);
  return stored(declared_bytes(getBaseType(exprType(node)), column->vartypmod));
}

SizeBound longest_of(const JudgedLevel* level, const List* nodes) {
  SizeBound longest = at_most(0);
  for (auto* node : each<Node>(nodes)) {
    longest = longer(longest, bound_of(level, node));
  }
  return longest;
}

SizeBound bound_of_case(const JudgedLevel* level, const CaseExpr* node) {
  List* results = node->defresult == nullptr ? NIL : list_make1(node->defresult);
  for (auto* branch : each<CaseWhen>(node->args)) {
    results = lappend(results, branch->result);
  }
  return longest_of(level, results);
}

// A text that is so many times as long as another one.
SizeBound times(const SizeBound& text, double factor) {
  return limited(at_most(kMostTextBytes), [&](int i) {
    return text.bytes[i] == 0 ? 0 : std::min(factor * text.bytes[i], kMostTextBytes);
  });
}

// Each replacement takes at least a byte of the text.
SizeBound bound_of_replaced(const SizeBound& text, const SizeBound& other) {
  return limited(at_most(kMostTextBytes), [&](int i) {
    const double factor = std::max(other.bytes[i], 1.0);
    return text.bytes[i] == 0 ? 0 : std::min(factor * text.bytes[i], kMostTextBytes);
  });
}

SizeBound bound_of_formatted(const SizeBound& format) {
  constexpr double kLongestWord = 32;
  return limited(format, [&](int i) {
    return std::min(kShortText + kLongestWord * format.bytes[i], kMostTextBytes);
  });
}

// The text that a variant answers.
SizeBound bound_of_answer(const JudgedLevel* level, AnswerSize size, Node* node) {
  const double character = pg_database_encoding_max_length();
  const auto literal = [&](int number) {
    return literal_of(level->statement, argument_of(node, number));
  };
  Node* first = argument_of(node, 0);
  const bool reads_text = first != nullptr && is_read_whole(exprType(first));
  const SizeBound text = reads_text ? bound_of(level, first) : at_most(kMostTextBytes);
  switch (size) {
    case AnswerSize::kUnknown:
      return at_most(kMostTextBytes);
    case AnswerSize::kShort:
      return at_most(kShortText);
    case AnswerSize::kAsFirst:
      return text;
    case AnswerSize::kCharacters: {
      const double characters = literal(1);
      return characters > 0 ? limited(text, [=](int) { return characters * character; }) : text;
    }
    case AnswerSize::kSubstring:
      return limited(text, [&](int) { return literal(2) * character; });
    case AnswerSize::kFilled:
      return at_most(std::min(literal(1) * character, kMostTextBytes));
    case AnswerSize::kSum:
      return limited(sum_of_arguments(level, node), [](int) { return kMostTextBytes; });
    case AnswerSize::kOtherCase:
      return times(text, 3);
    case AnswerSize::kTranslated:
      return times(text, character);
    case AnswerSize::kEscaped:
      return times(text, 2);
    case AnswerSize::kWritten:
      return limited(at_most(kMostTextBytes),
                     [&](int i) { return documents::most_written_bytes(text.bytes[i]); });
    case AnswerSize::kRepeated:
      return times(text, literal(1));
    case AnswerSize::kReplaced:
      return bound_of_replaced(text, bound_of(level, argument_of(node, 2)));
    case AnswerSize::kFormatted:
      return bound_of_formatted(bound_of(level, argument_of(node, 1)));
  }
  return at_most(kMostTextBytes);
}

SizeBound bound_of_call(const JudgedLevel* level, Node* node) {
  if (const FunctionRule* variant = variant_of_call(node)) {
    if (is_number(exprType(node))) return at_most(kMostProductBytes);
    const SizeBound answer = bound_of_answer(level, variant->size, node);
    return limited(answer, [](int) { return kMostTextBytes; });
  }
  // text_larger() and the like answer an argument.
  const SizeBound argument = longest_of(level, arguments_of(node));
  return argument.bytes[0] > kShortText ? argument : at_most(kShortText);
}

// A value of a row that a limit lets through: that of the list of a join, which is known, or that
// of the statement.
SizeBound bound_of_limited(const JudgedLevel* level, const Node* call) {
  const auto* limit = as<Const>(argument_of(call, 1));
  if (IsA(limit, Const)) return at_most(DatumGetInt32(limit->constvalue));
  Node* value = argument_of(call, 0);
  return is_number(exprType(value)) ? at_most(kMostNumericBytes)
                                    : limited(bound_of(level, value), limit_of);
}

SizeBound find_bound(const JudgedLevel* level, Node* node) {
  check_stack_depth();
  if (is_size_limit(node)) return bound_of_limited(level, node);
  switch (nodeTag(node)) {
    case T_Const: {
      const auto* constant = as<Const>(node);
      return is_literal(level->statement, node) ? at_most(size_of_constant(constant))
                                                : early_bound(exprType(node));
    }
    case T_Param:
      return early_bound(exprType(node));
    case T_Var:
      return bound_of_column(level, as<Var>(node));
    case T_RelabelType:
      return bound_of(level, as<Node>(as<RelabelType>(node)->arg));
    case T_CollateExpr:
      return bound_of(level, as<Node>(as<CollateExpr>(node)->arg));
    case T_CaseExpr:
      return bound_of_case(level, as<CaseExpr>(node));
    case T_CoalesceExpr:
      return longest_of(level, as<CoalesceExpr>(node)->args);
    case T_MinMaxExpr:
    case T_NullIfExpr:
      return longest_of(level, arguments_of(node));
    case T_FuncExpr:
    case T_OpExpr:
      return bound_of_call(level, node);
    case T_SubscriptingRef:  // an element
      return bound_of(level, as<Node>(as<SubscriptingRef>(node)->refexpr));
    case T_ArrayExpr:
      return at_most(kMostTextBytes);
    case T_CoerceViaIO: {
      const auto* value = as<Node>(as<CoerceViaIO>(node)->arg);
      return at_most(is_number(exprType(value)) ? kMostProductBytes : kShortText);
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

}  // namespace

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

SizeBound at_most(double bytes) {
  SizeBound bound{};
  for (double& most : bound.bytes) most = bytes;
  for (double& most : bound.computed) most = bytes;
  return bound;
}

bool is_literal(const JudgedStatement* statement, const Node* node) {
  return node != nullptr && IsA(node, Const) && !list_member_ptr(statement->known, node);
}

bool is_size_limit(const Node* node) {
  if (!IsA(node, FuncExpr)) return false;
  const Oid function = as<FuncExpr>(node)->funcid;
  if (function < FirstNormalObjectId) return false;
  const char* name = get_func_name(function);
  return name != nullptr && strcmp(name, kShortValue) == 0;
}

int weight_of_pattern(const Const* pattern) {
  if (pattern->constisnull) return 1;
  const text* value = DatumGetTextPP(pattern->constvalue);
  return regex_weight({VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)});
}

double size_of_constant(const Const* constant) {
  if (constant->constisnull) return 0;
  return static_cast<double>(toast_raw_datum_size(constant->constvalue) - VARHDRSZ);
}

SizeBound bound_of(const JudgedLevel* level, Node* node) {
  if (!has_any_length(exprType(node))) return at_most(kName);
  JudgedStatement* statement = level->statement;
  if (statement->bounds == nullptr) statement->bounds = make_bounds();
  if (const void* known = hash_search(statement->bounds, &node, HASH_FIND, nullptr)) {
    return static_cast<const KnownBound*>(known)->bound;
  }
  const SizeBound bound = find_bound(level, node);
  set_bound(statement, node, bound);
  return bound;
}

void set_bound(JudgedStatement* statement, Node* node, const SizeBound& bound) {
  if (statement->bounds == nullptr) statement->bounds = make_bounds();
  bool found;
  void* entry = hash_search(statement->bounds, &node, HASH_ENTER, &found);
  static_cast<KnownBound*>(entry)->bound = bound;
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

SizeBound sum_of_arguments(const JudgedLevel* level, const Node* node) {
  SizeBound sum = at_most(0);
  for (int number = 0; Node* argument = argument_of(node, number); ++number) {
    if (!is_read_whole(exprType(argument))) continue;
    const SizeBound bound = bound_of(level, argument);
    for (int i = 0; i < kSizeLimits; ++i) sum.bytes[i] += bound.bytes[i];
  }
  return sum;
}

}  // namespace dpquantile
