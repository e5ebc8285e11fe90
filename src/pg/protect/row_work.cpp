#include "pg/protect/row_work.hpp"

#include <algorithm>

#include "pg/borrowed/early_values.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/long_types.hpp"
#include "pg/protect/size_bounds.hpp"
#include "pg/protect/size_limit.hpp"
#include "pg/server/collation.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/regex_weight.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Nanoseconds, rounded up from what test/bench/row_time.sh measures.
constexpr double kMostTime = 1e6;  // of all expressions for one row
constexpr double kNode = 20;
constexpr double kLookup = 150;  // a comparison that needs the time zone or the order of an enum
constexpr double kDigits = 50;   // a comparison of numerics
constexpr double kArithmetic = 100;  // of integers and floats
constexpr double kVariant = 1500;    // also where the original reports an error
constexpr double kByte = 12;         // of a text that a variant reads or answers
constexpr double kCopiedByte = 0.5;
constexpr double kFormatByte = 100;
constexpr double kWordFormatByte = 2500;  // where the names of months and days need ICU
constexpr double kCaseCall = 10000;       // of a function of words by ICU
constexpr double kCaseByte = 60;          // of one of ICU or of Unicode's tables
constexpr double kPatternStep = 3.5;      // a byte of a text with one of a pattern
constexpr double kSetStep = 14;           // a byte with a character of a set
constexpr double kPartByte = 3;           // of jsonb
constexpr double kWrittenByte = 30;       // of jsonb whose text is answered
constexpr double kKeyStep = 0.4;          // a byte of jsonb with one of the keys
constexpr double kDocumentStep = 0.9;     // a byte of jsonb with one of another
constexpr double kListStep = 24;          // a byte with a character of translate()
constexpr double kTextCast = 1500;
constexpr double kNumericCast = 5000;
constexpr double kNumericSum = 500;
constexpr double kNumeric = 5000;
constexpr double kQuotient = 25000;
constexpr double kRemainder = 60000;
constexpr double kSeries = 200000;
constexpr double kRead = 1500;       // of a value that is compressed or out of line
constexpr double kAlwaysInRow = 32;  // bytes of values that never are
constexpr double kReadByte = 1;      // of it
constexpr double kElementByte = 25;  // of an array that is searched: NULL takes a bit
constexpr double kHashedElement =
    40;  // of a literal list, for the first row that it is searched for
constexpr double kHashedByte = 1.5;
constexpr double kComparedByte = 0.2;
constexpr double kCollatedByte = 30;
constexpr double kReorderedBytes = 0.7;  // of two marks, by a collation that sorts them
constexpr double kCarriedByte = 10;      // of a value that hash tables, sorts and their files keep
constexpr double kCopiedColumn = 100;    // by a window: sorted, written, compared and read
constexpr double kKeyComparisons = 5;    // of a key: it is hashed twice, and compared

constexpr double kRegexByte = 50;
constexpr double kRegexArc = 20;  // for a character, from a state to another
constexpr double kKeptPatterns = 32;

constexpr double kMostSteps = 1048576;  // as in total_texts.cpp

// ---- Times ---------------------------------------------------------------------------------

double text_steps(CallTime time, double text, double other) {
  switch (time) {
    case CallTime::kSearch:
    case CallTime::kCaseBlindSearch:
      return kPatternStep * std::min(text * other, kMostSteps);
    case CallTime::kSetSearch:
      return kSetStep * std::min(text * other, kMostSteps);
    case CallTime::kKeySearch:
      return kKeyStep * std::min(text * other, kMostSteps);
    case CallTime::kDocumentSearch:
      return kDocumentStep * std::min(text * other, kMostSteps);
    case CallTime::kListSearch:
      return kListStep * std::min(text * other, kMostSteps / 16);
    default:
      return 0;
  }
}

// PostgreSQL keeps the compiled forms of 32 patterns in a session: 32 comparisons take all of the
// time, so that none is compiled for a row. A pattern that is no literal has a limit of its own.
double time_of_regex(const JudgedLevel* level, const Node* node, int i) {
  const Node* pattern = argument_of(node, 1);
  const int weight = is_literal(level->statement, pattern) ? weight_of_pattern(as<Const>(pattern))
                                                           : kMostParameterWeight;
  const double bytes = bound_of(level, argument_of(node, 0)).bytes[i];
  return kMostTime / kKeptPatterns + bytes * (kRegexByte + kRegexArc * weight);
}

double time_of_texts(const JudgedLevel* level, CallTime call, Node* node, int i) {
  const double read = sum_of_arguments(level, node).bytes[i];
  const double answered = is_read_whole(exprType(node)) ? bound_of(level, node).bytes[i] : 0;
  if (call == CallTime::kCopy) return kCopiedByte * (read + answered);
  if (call == CallTime::kRegex) return time_of_regex(level, node, i);
  if (call == CallTime::kPart) return kPartByte * read;
  if (call == CallTime::kWriting) return kWrittenByte * read;
  const bool is_case_blind = call == CallTime::kCaseBlindSearch;
  const bool changes_case = call == CallTime::kCase || call == CallTime::kWords;
  const auto is_unicode = [&] { return is_of_unicode(exprInputCollation(node)); };
  const bool finds_parts = call == CallTime::kKeySearch || call == CallTime::kDocumentSearch;
  double time = (finds_parts ? kPartByte : kByte) * (read + answered);
  if (is_case_blind) time += kByte * read;
  if ((is_case_blind || changes_case) && is_unicode()) time += kCaseByte * read;
  if (call == CallTime::kWords && is_unicode()) time += kCaseCall;
  if (call == CallTime::kFormat) time += (is_unicode() ? kWordFormatByte : kFormatByte) * read;
  Node* other = argument_of(node, 1);
  if (other == nullptr || !is_read_whole(exprType(other))) return time;
  const double text = bound_of(level, argument_of(node, 0)).bytes[i];
  return time + text_steps(call, text, bound_of(level, other).bytes[i]);
}

bool has_numeric(const Node* node) {
  if (getBaseType(exprType(node)) == NUMERICOID) return true;
  for (const auto* argument : each<const Node>(arguments_of(node))) {
    if (getBaseType(exprType(argument)) == NUMERICOID) return true;
  }
  return false;
}

// Whether a number has few digits because of its type, or as a literal.
bool is_short_number(const JudgedStatement* statement, const Node* node) {
  constexpr Size kShortNumber = 32;
  constexpr int kFewDigits = 50;
  if (getBaseType(exprType(node)) != NUMERICOID) return true;
  if (is_literal(statement, node)) {
    const auto* constant = as<Const>(node);
    return constant->constisnull || toast_raw_datum_size(constant->constvalue) <= kShortNumber;
  }
  const int32 typmod = exprTypmod(node) - static_cast<int32>(VARHDRSZ);
  return typmod >= 0 && (typmod >> 16 & 0xffff) <= kFewDigits;
}

bool has_short_numbers(const JudgedStatement* statement, const Node* node) {
  for (const auto* argument : each<const Node>(arguments_of(node))) {
    if (!is_short_number(statement, argument)) return false;
  }
  return true;
}

double time_of_numeric(const JudgedStatement* statement, CallTime call, const Node* node) {
  if (call == CallTime::kSeries) return kSeries;
  if (has_short_numbers(statement, node)) return kNumericSum;
  if (call == CallTime::kRemainder) return kRemainder;
  return call == CallTime::kQuotient ? kQuotient : kNumeric;
}

double time_of_variant(const JudgedLevel* level, CallTime call, Node* node, int i) {
  if (call == CallTime::kNumericSum) return kNumericSum;
  if (call == CallTime::kArithmetic) return kArithmetic;
  double time = kVariant;
  if (has_numeric(node)) time += time_of_numeric(level->statement, call, node);
  return time + time_of_texts(level, call, node, i);
}

bool compares_equality(const Node* node) {
  const CallTime time = time_of_function(function_of(node));
  return time == CallTime::kEquality || time == CallTime::kEqualLength;
}

// Collations of the operating system take their time. Some of ICU put all marks of a letter into
// their order by insertion.
double time_of_bytes(Oid collation, double bytes) {
  if (!OidIsValid(collation) || collation == C_COLLATION_OID) return kComparedByte * bytes;
  const double reordered = reorders_marks(collation) ? kReorderedBytes * bytes * bytes : 0;
  return kCollatedByte * bytes + reordered;
}

// The collation that decides about the time of a comparison
Oid collation_of_order(const Node* node) {
  return compares_equality(node) ? InvalidOid : exprInputCollation(node);
}

// Without the bytes of texts
double time_of_comparison(const Node* node) {
  const Oid function = function_of(node);
  const bool needs_zone = OidIsValid(function) && func_volatile(function) == PROVOLATILE_STABLE;
  const Node* first = argument_of(node, 0);
  if (needs_zone || (first != nullptr && type_is_enum(exprType(first)))) return kLookup;
  return has_numeric(node) ? kDigits : kNode;
}

// A comparison ends with the shorter text, unless marks are put into order. (How long two stored
// ones take is not bounded.)
double time_of_pair(const Node* node, const SizeBound& left, const SizeBound& right, int i) {
  const Oid collation = collation_of_order(node);
  if (left.is_stored && right.is_stored) {
    const double computed = std::max(left.computed[i], right.computed[i]);
    return time_of_bytes(collation, computed) + kMostTextBytes * kComparedByte;
  }
  const double most = left.is_stored ? right.bytes[i] : left.bytes[i];
  const double compared = right.is_stored ? most : std::min(most, right.bytes[i]);
  const bool is_read = (left.is_toasted || right.is_toasted) && compared >= kAlwaysInRow;
  const double read = is_read ? kRead + compared * kReadByte : 0;
  const bool reads_both = OidIsValid(collation) && reorders_marks(collation);
  return read + (reads_both ? time_of_bytes(collation, left.bytes[i] + right.bytes[i])
                            : time_of_bytes(collation, compared));
}

// The time to compare the arguments: GREATEST compares each with the greatest before it.
double time_of_comparisons(const JudgedLevel* level, const Node* node, int i) {
  const List* arguments = arguments_of(node);
  double time = std::max(list_length(arguments) - 1, 1) * time_of_comparison(node);
  SizeBound before{};
  int values = 0;
  for (auto* argument : each<Node>(arguments)) {
    if (!has_any_length(exprType(argument))) continue;
    const SizeBound bound = bound_of(level, argument);
    if (values++ > 0) time += time_of_pair(node, before, bound, i);
    before = longer(before, bound);
  }
  return values == 1 ? time + time_of_pair(node, before, before, i) : time;
}

// The time to compare a value with the bytes of an array of so many elements.
double time_of_elements(const JudgedLevel* level, const Node* node, const Node* array,
                        double elements, double bytes, int i) {
  if (!has_any_length(get_base_element_type(exprType(array)))) return 0;
  const Oid collation = collation_of_order(node);
  const double time = time_of_bytes(collation, bytes);
  if (!OidIsValid(collation) || !reorders_marks(collation)) return time;
  return time + elements * time_of_bytes(collation, bound_of(level, argument_of(node, 0)).bytes[i]);
}

// An array with so many bytes, of a row or computed of one.
double time_of_array_of_row(const JudgedLevel* level, const Node* node, Node* array, int i) {
  constexpr double kLeastElement = 4;  // of those that take longer to compare
  const double byte = std::max(kElementByte, time_of_comparison(node) / kLeastElement);
  const double bytes = bound_of(level, array).bytes[i];
  return kNode + bytes * byte +
         time_of_elements(level, node, array, bytes / kLeastElement, bytes, i);
}

// PostgreSQL makes a hash table of a literal. The array of a parameter may have as many elements
// and bytes as are allowed.
double time_of_array(const JudgedLevel* level, const Node* node, int i) {
  Node* array = argument_of(node, 1);
  if (!IsA(array, Const) && !IsA(array, Param) && !IsA(array, ArrayExpr)) {
    return time_of_array_of_row(level, node, array, i);
  }
  double elements = kMaxElements;
  double bytes = kMostTextBytes;
  double hashing = 0;
  if (is_literal(level->statement, array)) {
    const auto* constant = as<Const>(array);
    if (constant->constisnull) return kNode;
    const ArrayType* value = DatumGetArrayTypeP(constant->constvalue);
    elements = ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
    bytes = size_of_constant(constant);
    hashing = kHashedElement * elements + kHashedByte * bytes;
  }
  return kNode + hashing + elements * time_of_comparison(node) +
         time_of_elements(level, node, array, elements, bytes, i);
}

double time_of_element(const JudgedLevel* level, const SubscriptingRef* node, int i) {
  auto* array = as<Node>(node->refexpr);
  return kNode + bound_of(level, array).bytes[i] * kElementByte;
}

double time_of_limit(const JudgedLevel* level, Node* node, int i) {
  const double bytes = bound_of(level, node).bytes[i];
  return kNode + (bytes < kAlwaysInRow ? 0 : kRead + kReadByte * bytes);
}

double time_of_text_cast(const CoerceViaIO* node) {
  const Oid type = getBaseType(exprType(as<Node>(node->arg)));
  return type == NUMERICOID ? kNumericCast : kTextCast;
}

// `variant` is what the node calls, or null.
double time_of(const JudgedLevel* level, const FunctionRule* variant, Node* node, int i) {
  if (variant != nullptr) return time_of_variant(level, variant->time, node, i);
  if (is_size_limit(node)) return time_of_limit(level, node, i);
  switch (nodeTag(node)) {
    case T_CoerceViaIO:
      return time_of_text_cast(as<CoerceViaIO>(node));
    case T_ScalarArrayOpExpr:
      return time_of_array(level, node, i);
    case T_SubscriptingRef:
      return time_of_element(level, as<SubscriptingRef>(node), i);
    case T_FuncExpr:
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
    case T_MinMaxExpr:
      return time_of_comparisons(level, node, i);
    default:
      return kNode;
  }
}

void add_column(const JudgedLevel* level, const Var* column, RowWork* work) {
  if (const ColumnWork* own = work_of_source(level, column)) {
    for (int i = 0; i < kSizeLimits; ++i) work->time[i] += own->work.time[i];
  }
}

struct AddedWork {
  const JudgedLevel* level;
  RowWork* work;
};

void add_node(const AddedWork& added, Node* node) {
  if (IsA(node, List) || IsA(node, CaseWhen)) return;
  if (IsA(node, Var)) add_column(added.level, as<Var>(node), added.work);
  const FunctionRule* variant = variant_of_call(node);
  for (int i = 0; i < kSizeLimits; ++i) {
    added.work->time[i] += time_of(added.level, variant, node, i);
  }
}

// The limits that have been put around its arguments
void add_limits(const AddedWork& added, Node* node) {
  const auto add = [&](Node* argument) {
    if (argument != nullptr && is_size_limit(argument)) add_node(added, argument);
  };
  for (auto* argument : each<Node>(arguments_of(node))) add(argument);
  if (IsA(node, SubscriptingRef)) {
    add(as<Node>(as<SubscriptingRef>(node)->refexpr));
  }
  if (IsA(node, CoerceViaIO)) {
    add(as<Node>(as<CoerceViaIO>(node)->arg));
  }
}

constexpr char kShorterHint[] =
    "Use fewer functions of texts, shorter patterns and shorter texts in between; double precision "
    "instead of numeric.";
constexpr char kWindowsHint[] = "Use fewer different windows, or fewer columns beside them.";
constexpr char kJoinHint[] =
    "Use fewer functions in conditions of joins. Compare a list in FROM in one condition, or else "
    "with columns as they are, or make it shorter.";

void require_little_work(const JudgedStatement* statement, const Node* node, const char* hint) {
  if (statement->work.time[kSizeLimits - 1] <= kMostTime || count_reasons(statement->refused) > 0)
    return;
  refuse_with_code(statement->refused, ERRCODE_STATEMENT_TOO_COMPLEX, exprLocation(node),
                   "the expressions of the query may take longer than a millisecond for one row",
                   hint);
}

}  // namespace

Node* with_bounded_work(JudgedLevel* level, Node* node) {
  if (IsA(node, List) || IsA(node, CaseWhen)) return node;
  JudgedStatement* statement = level->statement;
  limit_values(level, node);
  const AddedWork added = {level, &statement->work};
  add_limits(added, node);
  add_node(added, node);
  require_little_work(statement, node, kShorterHint);
  return node;
}

Node* with_bounded_reading(JudgedLevel* level, Node* value) {
  Node* limited = limited_value(level, value);
  if (limited == value) return value;
  RowWork* work = &level->statement->work;
  add_node({level, work}, limited);
  const bool is_array = OidIsValid(get_base_element_type(exprType(value)));
  for (int i = 0; is_array && i < kSizeLimits; ++i) {
    work->time[i] += kElementByte * bound_of(level, limited).bytes[i];
  }
  require_little_work(level->statement, limited, kShorterHint);
  // The column of the answer has the declared length, too.
  return as<Node>(makeRelabelType(as<Expr>(limited), exprType(value), exprTypmod(value),
                                  exprCollation(value), COERCE_IMPLICIT_CAST));
}

namespace {

void add_again(const JudgedLevel* level, Node* expression, double times) {
  RowWork work{};
  visit_nodes(expression, [&](Node* node) { add_node({level, &work}, node); });
  RowWork* all = &level->statement->work;
  for (int i = 0; i < kSizeLimits; ++i) all->time[i] += times * work.time[i];
}

}  // namespace

void count_again(const JudgedLevel* level, Node* expression, double times) {
  add_again(level, expression, times);
  require_little_work(level->statement, expression, kJoinHint);
}

Node* with_counted_copy(JudgedLevel* level, Node* value) {
  if (!has_any_length(exprType(value))) return value;
  const SizeBound bound = bound_of(level, value);
  JudgedStatement* statement = level->statement;
  for (int i = 0; i < kSizeLimits; ++i) {
    statement->work.time[i] += kCarriedByte * bound.computed[i];
  }
  require_little_work(statement, value, kShorterHint);
  return value;
}

void count_fetched(JudgedLevel* level, double bytes) {
  JudgedStatement* statement = level->statement;
  for (double& time : statement->work.time) time += kRead + (kReadByte + kCarriedByte) * bytes;
  require_little_work(statement, nullptr, kShorterHint);
}

void count_copies(JudgedLevel* level, int times, int columns) {
  JudgedStatement* statement = level->statement;
  for (double& time : statement->work.time) time += kCopiedColumn * times * columns;
  require_little_work(statement, nullptr, kWindowsHint);
}

void count_key(JudgedLevel* level, Node* key) {
  add_again(level, key, 1);
  JudgedStatement* statement = level->statement;
  if (has_any_length(exprType(with_counted_copy(level, key)))) {
    const SizeBound bound = bound_of(level, key);
    for (int i = 0; i < kSizeLimits; ++i) {
      statement->work.time[i] +=
          kKeyComparisons * time_of_bytes(exprCollation(key), bound.computed[i]);
    }
  }
  require_little_work(statement, key, kShorterHint);
}

ColumnWork work_of_column(const JudgedLevel* source, Node* expression, int nodes_before,
                          const RowWork& work_before) {
  const JudgedStatement* statement = source->statement;
  ColumnWork column{statement->node_count - nodes_before, bound_of(source, expression), {}};
  for (int i = 0; i < kSizeLimits; ++i) {
    column.work.time[i] = statement->work.time[i] - work_before.time[i];
  }
  return column;
}

void choose_size_limit(JudgedStatement* statement) {
  int number = 0;
  while (number < kSizeLimits - 1 && statement->work.time[number] > kMostTime) ++number;
  set_size_limit(statement, number);
}

}  // namespace dpquantile
