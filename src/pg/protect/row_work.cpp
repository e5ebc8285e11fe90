#include "pg/protect/row_work.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "pg/protect/column_traits.hpp"
#include "pg/protect/early_values.hpp"
#include "pg/protect/node_functions.hpp"
#include "pg/protect/own_function.hpp"
#include "pg/reuse/secret_hash.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/transam.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
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
constexpr double kPatternStep = 3.5;  // a byte of a text with one of a pattern
constexpr double kSetStep = 14;       // a byte with a character of a set
constexpr double kListStep = 24;      // a byte with a character of translate()
constexpr double kTextCast = 1500;
constexpr double kNumericSum = 500;
constexpr double kNumeric = 5000;
constexpr double kQuotient = 25000;
constexpr double kRemainder = 60000;
constexpr double kSeries = 200000;
constexpr double kComparedByte = 0.2;
constexpr double kCollatedByte = 30;
constexpr double kKeyComparisons = 10;  // of a key, when rows are sorted by it

// What total_texts.hpp allows
constexpr double kMostTextBytes = 65536;
constexpr double kMostSteps = 1048576;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kName = NAMEDATALEN;
// The texts of numbers, dates and the like
constexpr double kShortText = 128;
// Columns with shorter texts need no limit.
constexpr double kNoLimitBelow = 256;

constexpr char kTotal[] = "total_";

double limit_of(int number) {
  constexpr double kLeast = 256;
  return std::max(kMostTextBytes / (1U << static_cast<unsigned>(number)), kLeast);
}

// Values of parameters are searched for more often than in.
double early_limit_of(int number) {
  constexpr double kRowsByEarly = 64;
  constexpr double kLeast = 64;
  const bool is_last = number == kTextLimits - 1;
  return is_last ? kLeast / 2 : std::max(limit_of(number) / kRowsByEarly, kLeast);
}

// ---- Types and names -----------------------------------------------------------------------

bool is_text(Oid type) {
  const Oid base = getBaseType(type);
  return base == TEXTOID || base == VARCHAROID || base == BPCHAROID || base == BYTEAOID;
}

Oid type_of(const Node* node) {
  return exprType(node);
}

// Whether one of the names, which are separated by blanks, is this.
bool is_one_of(const char* name, const char* names) {
  const Size length = strlen(name);
  for (const char* at = names; (at = strstr(at, name)) != nullptr; ++at) {
    const bool begins = at == names || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}

// The name of the function that a variant replaces, or null.
const char* replaced_by(const Node* node) {
  if (!IsA(node, FuncExpr)) return nullptr;
  const Oid function = reinterpret_cast<const FuncExpr*>(node)->funcid;
  if (function < FirstNormalObjectId) return nullptr;
  const char* name = get_func_name(function);
  const bool is_variant = name != nullptr && strncmp(name, kTotal, sizeof kTotal - 1) == 0;
  return is_variant ? name + sizeof kTotal - 1 : nullptr;
}

Node* argument_of(const Node* node, int number) {
  const List* arguments = arguments_of(node);
  return number < list_length(arguments) ? static_cast<Node*>(list_nth(arguments, number))
                                         : nullptr;
}

// Whether a node is a constant of the query, and not the value of a parameter.
bool is_literal(const Statement* statement, const Node* node) {
  return node != nullptr && IsA(node, Const) && !list_member_ptr(statement->known, node);
}

// A literal integer, or what is more than any.
double literal_of(const Statement* statement, const Node* node) {
  const auto* constant = reinterpret_cast<const Const*>(node);
  if (!is_literal(statement, node) || constant->consttype != INT4OID) return kUnlimited;
  return constant->constisnull ? 0 : std::max(DatumGetInt32(constant->constvalue), 0);
}

// ---- How long texts are --------------------------------------------------------------------

TextBound bound_of(const QueryLevel* level, Node* node);

TextBound all(double bytes) {
  TextBound bound{};
  for (double& most : bound.bytes) most = bytes;
  for (double& most : bound.computed) most = bytes;
  return bound;
}

TextBound stored(double bytes) {
  TextBound bound = all(bytes);
  for (double& most : bound.computed) most = 0;
  bound.is_stored = bytes > kNoLimitBelow;
  return bound;
}

template <class Limit>
TextBound limited(TextBound bound, Limit limit) {
  for (int i = 0; i < kTextLimits; ++i) {
    bound.bytes[i] = std::min(bound.bytes[i], limit(i));
    bound.computed[i] = bound.bytes[i];
  }
  bound.is_stored = false;
  return bound;
}

TextBound early_bound() {
  return limited(all(kUnlimited), early_limit_of);
}

double size_of_constant(const Const* constant) {
  if (constant->constisnull) return 0;
  return static_cast<double>(toast_raw_datum_size(constant->constvalue) - VARHDRSZ);
}

TextBound bound_of_column(const QueryLevel* level, const Var* column) {
  const Node* node = reinterpret_cast<const Node*>(column);
  if (column->varlevelsup > 0) return stored(kUnlimited);
  if (Node* merged = merged_column(level, column)) return bound_of(level, merged);
  const QueryLevel* source = entry_of(level, column->varno).source;
  const bool is_computed = source != nullptr && source->works != nullptr && column->varattno > 0;
  if (is_computed && column->varattno <= list_length(source->query->targetList)) {
    return source->works[column->varattno - 1].text;
  }
  const Oid base = getBaseType(type_of(node));
  const bool is_declared = (base == VARCHAROID || base == BPCHAROID) && column->vartypmod > 0;
  if (!is_declared) return stored(kUnlimited);
  return stored((column->vartypmod - VARHDRSZ) * pg_database_encoding_max_length());
}

TextBound longer(TextBound longest, const TextBound& bound) {
  for (int i = 0; i < kTextLimits; ++i) {
    longest.bytes[i] = std::max(longest.bytes[i], bound.bytes[i]);
    longest.computed[i] = std::max(longest.computed[i], bound.computed[i]);
  }
  longest.is_stored = longest.is_stored || bound.is_stored;
  return longest;
}

TextBound longest_of(const QueryLevel* level, const List* nodes) {
  TextBound longest = all(0);
  const ListCell* cell;
  foreach (cell, nodes) {
    longest = longer(longest, bound_of(level, static_cast<Node*>(lfirst(cell))));
  }
  return longest;
}

TextBound bound_of_case(const QueryLevel* level, const CaseExpr* node) {
  List* results = node->defresult == nullptr ? NIL : list_make1(node->defresult);
  const ListCell* cell;
  foreach (cell, node->args) {
    results = lappend(results, static_cast<CaseWhen*>(lfirst(cell))->result);
  }
  return longest_of(level, results);
}

TextBound sum_of(const QueryLevel* level, const List* nodes) {
  TextBound sum = all(0);
  const ListCell* cell;
  foreach (cell, nodes) {
    auto* node = static_cast<Node*>(lfirst(cell));
    if (!is_text(type_of(node))) continue;
    const TextBound bound = bound_of(level, node);
    for (int i = 0; i < kTextLimits; ++i) sum.bytes[i] += bound.bytes[i];
  }
  return sum;
}

// The text that a variant answers, by the name of its function.
TextBound bound_of_answer(const QueryLevel* level, const char* name, Node* node) {
  const double character = pg_database_encoding_max_length();
  Node* first = argument_of(node, 0);
  const bool reads_text = first != nullptr && is_text(type_of(first));
  const TextBound text = reads_text ? bound_of(level, first) : all(kMostTextBytes);
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
    const TextBound format = bound_of(level, argument_of(node, 1));
    return limited(format, [&](int i) {
      return std::min(kShortText + kLongestWord * format.bytes[i], kMostTextBytes);
    });
  }
  // Each replacement takes at least a byte of the text.
  const bool replaces = is_one_of(name, "replace");
  const TextBound other = replaces ? bound_of(level, argument_of(node, 2)) : all(factor);
  return limited(all(kMostTextBytes), [&](int i) {
    const double growth = replaces ? std::max(other.bytes[i], 1.0) : factor;
    return text.bytes[i] == 0 ? 0 : std::min(growth * text.bytes[i], kMostTextBytes);
  });
}

TextBound bound_of_call(const QueryLevel* level, Node* node) {
  if (const char* name = replaced_by(node)) {
    const TextBound answer = bound_of_answer(level, name, node);
    return limited(answer, [](int) { return kMostTextBytes; });
  }
  // text_larger() and the like answer an argument.
  const TextBound argument = longest_of(level, arguments_of(node));
  return argument.bytes[0] > kShortText ? argument : all(kShortText);
}

TextBound find_bound(const QueryLevel* level, Node* node) {
  check_stack_depth();
  switch (nodeTag(node)) {
    case T_Const: {
      const auto* constant = reinterpret_cast<const Const*>(node);
      return is_literal(level->statement, node) ? all(size_of_constant(constant)) : early_bound();
    }
    case T_Param:
      return early_bound();
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
    case T_CoerceViaIO: {
      const auto* value = reinterpret_cast<const Node*>(reinterpret_cast<CoerceViaIO*>(node)->arg);
      // A numeric may have any number of digits.
      return getBaseType(type_of(value)) == NUMERICOID ? stored(kUnlimited) : all(kShortText);
    }
    default:
      return stored(kUnlimited);
  }
}

// A text is asked for by what is around it, on many levels.
struct KnownBound {
  Node* node;
  TextBound bound;
};

HTAB* make_bounds() {
  HASHCTL control{};
  control.keysize = sizeof(Node*);
  control.entrysize = sizeof(KnownBound);
  control.hcxt = CurrentMemoryContext;
  return hash_create("dpquantile bounds of texts", 64, &control,
                     HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void remember(Statement* statement, Node* node, const TextBound& bound) {
  bool found;
  void* entry = hash_search(statement->bounds, &node, HASH_ENTER, &found);
  static_cast<KnownBound*>(entry)->bound = bound;
}

// How long the text of a node may be. A node of another type counts as a name.
TextBound bound_of(const QueryLevel* level, Node* node) {
  if (!is_text(type_of(node))) return all(kName);
  Statement* statement = level->statement;
  if (statement->bounds == nullptr) statement->bounds = make_bounds();
  if (const void* known = hash_search(statement->bounds, &node, HASH_FIND, nullptr)) {
    return static_cast<const KnownBound*>(known)->bound;
  }
  const TextBound bound = find_bound(level, node);
  remember(statement, node, bound);
  return bound;
}

// ---- The limit -----------------------------------------------------------------------------

// The limit is an early value, which is known when all expressions have been counted.
void add_limit(Statement* statement) {
  statement->text_limit =
      makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
  statement->early = lappend(statement->early, statement->text_limit);
  statement->identities = append_hash(statement->identities, SecretHash{});
  statement->limit_number = statement->own_parameters + list_length(statement->early);
}

Node* limit_parameter(Statement* statement) {
  if (statement->text_limit == nullptr) add_limit(statement);
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

// dpquantile.short_text(text, limit): NULL in the place of a longer text.
Node* short_text(Statement* statement, Node* text) {
  const Oid type = type_of(text);
  const Oid types[] = {type, INT4OID};
  const Oid function = own_function("short_text", buildoidvector(types, 2));
  if (!OidIsValid(function)) report_internal("a function is missing");
  const Oid collation = exprCollation(text);
  FuncExpr* call = makeFuncExpr(function, type, list_make2(text, limit_parameter(statement)),
                                collation, collation, COERCE_EXPLICIT_CALL);
  call->location = exprLocation(text);
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

// For expression_tree_walker(). `statement` is a Statement*. The values of parameters in a text
// that is read must be short. Whether such a value is known yet must not decide about the limit:
// by the costs of plans, PostgreSQL decides whether it is.
bool require_short_values(Node* node, void* context) {
  if (node == nullptr || replaced_by(node) != nullptr) return false;
  auto* statement = static_cast<Statement*>(context);
  if (IsA(node, Const) && list_member_ptr(statement->known, node) && is_text(type_of(node))) {
    const auto size = static_cast<Size>(size_of_constant(reinterpret_cast<const Const*>(node)));
    statement->longest_known = Max(statement->longest_known, size);
  }
  if (IsA(node, Param) && is_text(type_of(node))) {
    const int number = number_of_early(statement, reinterpret_cast<const Param*>(node));
    statement->short_values = list_append_unique_int(statement->short_values, number);
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(require_short_values), context);
}

// Limits the texts of rows that a variant reads.
void limit_texts(QueryLevel* level, FuncExpr* call) {
  ListCell* cell;
  foreach (cell, call->args) {
    auto* argument = static_cast<Node*>(lfirst(cell));
    if (!is_text(type_of(argument))) continue;
    const TextBound bound = bound_of(level, argument);
    if (!bound.is_stored) {
      (void)require_short_values(argument, level->statement);
      continue;
    }
    Node* limited_argument = short_text(level->statement, argument);
    lfirst(cell) = limited_argument;
    remember(level->statement, limited_argument, limited(bound, limit_of));
  }
}

// ---- Times ---------------------------------------------------------------------------------

double text_steps(const char* name, double text, double other) {
  if (is_one_of(name,
                "textlike textnlike like notlike bpcharlike bpcharnlike namelike namenlike "
                "bytealike byteanlike texticlike texticnlike bpchariclike bpcharicnlike "
                "nameiclike nameicnlike strpos position replace split_part")) {
    return kPatternStep * std::min(text * other, kMostSteps);
  }
  if (is_one_of(name, "btrim ltrim rtrim")) return kSetStep * std::min(text * other, kMostSteps);
  if (is_one_of(name, "translate")) return kListStep * std::min(text * other, kMostSteps / 16);
  return 0;
}

double time_of_texts(const QueryLevel* level, const char* name, Node* node, int i) {
  const double read = sum_of(level, arguments_of(node)).bytes[i];
  const double answered = is_text(type_of(node)) ? bound_of(level, node).bytes[i] : 0;
  if (is_one_of(name, "textcat byteacat")) return kCopiedByte * (read + answered);
  double time = kByte * (read + answered);
  if (strstr(name, "ic") != nullptr && strstr(name, "like") != nullptr) time += kByte * read;
  if (strcmp(name, "to_char") == 0) time += kFormatByte * read;
  Node* other = argument_of(node, 1);
  if (other == nullptr || !is_text(type_of(other))) return time;
  const double text = bound_of(level, argument_of(node, 0)).bytes[i];
  return time + text_steps(name, text, bound_of(level, other).bytes[i]);
}

bool has_numeric(const Node* node) {
  if (getBaseType(type_of(node)) == NUMERICOID) return true;
  const ListCell* cell;
  foreach (cell, arguments_of(node)) {
    if (getBaseType(type_of(static_cast<Node*>(lfirst(cell)))) == NUMERICOID) return true;
  }
  return false;
}

// Whether a number has few digits because of its type, or as a literal.
bool is_short_number(const Statement* statement, const Node* node) {
  constexpr Size kShortNumber = 32;
  constexpr int kFewDigits = 50;
  if (getBaseType(type_of(node)) != NUMERICOID) return true;
  if (is_literal(statement, node)) {
    const auto* constant = reinterpret_cast<const Const*>(node);
    return constant->constisnull || toast_raw_datum_size(constant->constvalue) <= kShortNumber;
  }
  const int32 typmod = exprTypmod(node) - static_cast<int32>(VARHDRSZ);
  return typmod >= 0 && (typmod >> 16 & 0xffff) <= kFewDigits;
}

bool has_short_numbers(const Statement* statement, const Node* node) {
  const ListCell* cell;
  foreach (cell, arguments_of(node)) {
    if (!is_short_number(statement, static_cast<Node*>(lfirst(cell)))) return false;
  }
  return true;
}

double time_of_numeric(const Statement* statement, const char* name, const Node* node) {
  if (is_one_of(name,
                "exp numeric_exp ln numeric_ln log log10 numeric_log pow power "
                "numeric_power gcd lcm")) {
    return kSeries;
  }
  if (has_short_numbers(statement, node)) return kNumericSum;
  if (is_one_of(name, "mod numeric_mod div numeric_div_trunc")) return kRemainder;
  return strcmp(name, "numeric_div") == 0 ? kQuotient : kNumeric;
}

// Operators of integers and floats. Their variants report no error.
bool is_arithmetic(const char* name, const Node* node) {
  const Size kind = strspn(name, "abcdefghijklmnopqrstuvwxyz");
  const bool is_of_numbers = strncmp(name, "int", kind) == 0 || strncmp(name, "float", kind) == 0;
  return is_of_numbers && isdigit(name[kind]) != 0 && list_length(arguments_of(node)) == 2;
}

double time_of_variant(const QueryLevel* level, const char* name, Node* node, int i) {
  if (is_one_of(name, "numeric_add numeric_sub")) return kNumericSum;
  if (is_arithmetic(name, node)) return kArithmetic;
  double time = kVariant;
  if (has_numeric(node)) time += time_of_numeric(level->statement, name, node);
  return time + time_of_texts(level, name, node, i);
}

Oid function_of(const Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
      return reinterpret_cast<const FuncExpr*>(node)->funcid;
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      return reinterpret_cast<const OpExpr*>(node)->opfuncid;
    case T_ScalarArrayOpExpr:
      return reinterpret_cast<const ScalarArrayOpExpr*>(node)->opfuncid;
    default:
      return InvalidOid;
  }
}

bool compares_equality(const Node* node) {
  const Oid function = function_of(node);
  const char* name = OidIsValid(function) ? get_func_name(function) : nullptr;
  return name != nullptr && is_one_of(name, "texteq textne bpchareq bpcharne byteaeq byteane");
}

// Collations of the operating system take their time.
double time_of_byte(Oid collation) {
  const bool by_bytes = !OidIsValid(collation) || collation == C_COLLATION_OID;
  return by_bytes ? kComparedByte : kCollatedByte;
}

double time_of_byte(const Node* node) {
  return compares_equality(node) ? kComparedByte : time_of_byte(exprInputCollation(node));
}

// Without the bytes of texts
double time_of_comparison(const Node* node) {
  const Oid function = function_of(node);
  const bool needs_zone = OidIsValid(function) && func_volatile(function) == PROVOLATILE_STABLE;
  const Node* first = argument_of(node, 0);
  if (needs_zone || (first != nullptr && type_is_enum(type_of(first)))) return kLookup;
  return has_numeric(node) ? kDigits : kNode;
}

// A comparison ends with the shorter text. (How long two stored ones take is not bounded.)
double time_of_pair(const Node* node, const TextBound& left, const TextBound& right, int i) {
  if (left.is_stored && right.is_stored) {
    const double computed = std::max(left.computed[i], right.computed[i]);
    return computed * time_of_byte(node) + kMostTextBytes * kComparedByte;
  }
  const double most = left.is_stored ? right.bytes[i] : left.bytes[i];
  return (right.is_stored ? most : std::min(most, right.bytes[i])) * time_of_byte(node);
}

// The time to compare the arguments: GREATEST compares each with the greatest before it.
double time_of_comparisons(const QueryLevel* level, const Node* node, int i) {
  const List* arguments = arguments_of(node);
  double time = std::max(list_length(arguments) - 1, 1) * time_of_comparison(node);
  TextBound before{};
  int texts = 0;
  const ListCell* cell;
  foreach (cell, arguments) {
    auto* argument = static_cast<Node*>(lfirst(cell));
    if (!is_text(type_of(argument))) continue;
    const TextBound bound = bound_of(level, argument);
    if (texts++ > 0) time += time_of_pair(node, before, bound, i);
    before = longer(before, bound);
  }
  return texts == 1 ? time + time_of_pair(node, before, before, i) : time;
}

// The array of a parameter may have as many elements and bytes as are allowed.
double time_of_array(const Statement* statement, const Node* node) {
  const Node* array = argument_of(node, 1);
  const bool has_texts = is_text(get_base_element_type(type_of(array)));
  double elements = kMaxElements;
  double bytes = kMostTextBytes;
  if (is_literal(statement, array)) {
    const auto* constant = reinterpret_cast<const Const*>(array);
    if (constant->constisnull) return kNode;
    const ArrayType* value = DatumGetArrayTypeP(constant->constvalue);
    elements = ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
    bytes = size_of_constant(constant);
  }
  return kNode + elements * time_of_comparison(node) + (has_texts ? bytes * time_of_byte(node) : 0);
}

// `name` is that of the function that a variant replaces, or null.
double time_of(const QueryLevel* level, const char* name, Node* node, int i) {
  if (name != nullptr) return time_of_variant(level, name, node, i);
  switch (nodeTag(node)) {
    case T_CoerceViaIO:
      return kTextCast;
    case T_ScalarArrayOpExpr:
      return time_of_array(level->statement, node);
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

// Whether texts are compared that a collation orders. Their bytes take longer.
bool orders_texts(const Node* node) {
  const bool compares = IsA(node, OpExpr) || IsA(node, FuncExpr) || IsA(node, MinMaxExpr);
  return compares && OidIsValid(exprInputCollation(node)) && time_of_byte(node) == kCollatedByte;
}

void add_column(const QueryLevel* level, const Var* column, RowWork* work) {
  if (column->varlevelsup > 0 || column->varattno < 1) return;
  if (const Node* merged = merged_column(level, column)) {
    if (IsA(merged, Var)) add_column(level, reinterpret_cast<const Var*>(merged), work);
    return;
  }
  const QueryLevel* source = entry_of(level, column->varno).source;
  if (source == nullptr || source->works == nullptr) return;
  if (column->varattno > list_length(source->query->targetList)) return;
  const RowWork& own = source->works[column->varattno - 1].work;
  for (int i = 0; i < kTextLimits; ++i) work->time[i] += own.time[i];
}

void require_little_work(const Statement* statement, const Node* node) {
  if (statement->work.time[kTextLimits - 1] <= kMostTime) return;
  refuse_with_code(statement->refused, ERRCODE_STATEMENT_TOO_COMPLEX, exprLocation(node),
                   "its expressions may take longer than a millisecond for one row",
                   "Use fewer functions of texts, shorter patterns and shorter texts in between; "
                   "double precision in the place of numeric.");
}

}  // namespace

Node* with_bounded_work(QueryLevel* level, Node* node) {
  if (IsA(node, List) || IsA(node, CaseWhen)) return node;
  Statement* statement = level->statement;
  const char* name = replaced_by(node);
  if (name != nullptr) limit_texts(level, reinterpret_cast<FuncExpr*>(node));
  if (orders_texts(node)) (void)require_short_values(node, statement);
  if (IsA(node, Var)) add_column(level, reinterpret_cast<Var*>(node), &statement->work);
  for (int i = 0; i < kTextLimits; ++i) statement->work.time[i] += time_of(level, name, node, i);
  require_little_work(statement, node);
  return node;
}

void count_key(QueryLevel* level, Node* key) {
  if (!is_text(type_of(key)) || !reads_columns(key)) return;
  Statement* statement = level->statement;
  const double byte = time_of_byte(exprCollation(key));
  if (byte == kCollatedByte) (void)require_short_values(key, statement);
  const TextBound bound = bound_of(level, key);
  for (int i = 0; i < kTextLimits; ++i) {
    statement->work.time[i] += kKeyComparisons * byte * bound.computed[i];
  }
  require_little_work(statement, key);
}

ColumnWork work_of_column(const QueryLevel* source, Node* expression, const RowWork& before) {
  ColumnWork column{bound_of(source, expression), {}};
  for (int i = 0; i < kTextLimits; ++i) {
    column.work.time[i] = source->statement->work.time[i] - before.time[i];
  }
  return column;
}

void choose_text_limit(Statement* statement) {
  int number = 0;
  while (number < kTextLimits - 1 && statement->work.time[number] > kMostTime) ++number;
  statement->most_early_bytes = static_cast<int>(early_limit_of(number));
  if (statement->text_limit != nullptr) {
    statement->text_limit->constvalue = Int32GetDatum(static_cast<int32>(limit_of(number)));
  }
  check_short_value(statement->longest_known, statement->most_early_bytes);
}

}  // namespace dpquantile
