#include "pg/plain/calls_with_value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/public_rows.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/plain/value_range.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
}

namespace dpquantile {

namespace {

// The name of an operator, or of a function.
const char* name_of_call(const Node* call) {
  return IsA(call, OpExpr) || IsA(call, ScalarArrayOpExpr)
             ? get_opname(IsA(call, OpExpr) ? as<OpExpr>(call)->opno
                                            : as<ScalarArrayOpExpr>(call)->opno)
             : get_func_name(as<FuncExpr>(call)->funcid);
}

std::optional<Range> range_of(const Level* level, const Node* expression) {
  const auto bounds = bounds_of(level, const_cast<Node*>(expression), BoundsFor::kAllNumbers);
  return bounds ? std::optional<Range>({bounds->lower, bounds->upper}) : std::nullopt;
}

// ---- Texts ---------------------------------------------------------------------------------

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Texts of so many characters, and what is searched in them, are short for all functions
// (pg/vocabulary/total_texts.hpp).
constexpr double kMostCharacters = 1000;
constexpr double kMostInPattern = 100;

bool is_text_type(Oid type) {
  return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

// The longest key of the list that a column has; kUnlimited without a list, or if a key of it
// stands for others.
double longest_key(const ColumnDomain& domain) {
  if (domain.keys == nullptr || domain.other != 0) return kUnlimited;
  Datum* keys = nullptr;
  bool* are_null = nullptr;
  int count = 0;
  deconstruct_array(domain.keys, TEXTOID, -1, false, TYPALIGN_INT, &keys, &are_null, &count);
  double longest = 0;
  for (int i = 0; i < count; ++i) {
    if (are_null[i]) continue;
    longest = std::max(longest, static_cast<double>(toast_raw_datum_size(keys[i]) - VARHDRSZ));
  }
  return longest;
}

double most_characters(const Level* level, const Node* text);

double most_of_column(const Level* level, const Var* column) {
  if (const auto definition = definition_of(level, column)) {
    return most_characters(definition->level, definition->expression);
  }
  const auto origin = origin_of(level, as<Node>(const_cast<Var*>(column)));
  const ColumnDomain* domain = origin ? find_domain(origin->relation, origin->column) : nullptr;
  if (domain != nullptr) return longest_key(*domain);
  // Those of public tables are labels.
  constexpr double kMostOfLabel = 200;
  const Level* own = around(level, column->varlevelsup);
  const bool is_public = own != nullptr && is_readable_table(own, static_cast<int>(column->varno));
  return is_public ? kMostOfLabel : kUnlimited;
}

// How many characters the arguments that are texts have together at most
double most_of_all(const Level* level, const List* arguments) {
  double sum = 0;
  for (const auto* argument : each<const Node>(arguments)) {
    if (is_text_type(getBaseType(exprType(argument)))) sum += most_characters(level, argument);
  }
  return sum;
}

double most_of_call(const Level* level, const Node* call) {
  const char* name = name_of_call(call);
  const double characters = most_of_all(level, arguments_of(call));
  if (is_one_of(name, "|| btrim ltrim rtrim left right reverse concat text varchar")) {
    return characters;
  }
  constexpr double kOfFormat = 30;  // for a letter of a format
  if (is_one_of(name, "to_char")) return kOfFormat * characters;
  constexpr double kLonger = 3;  // in another case
  return is_one_of(name, "lower upper initcap") ? kLonger * characters : kUnlimited;
}

// How many digits a numeric has at most behind the point.
double most_decimals(const Node* numeric) {
  check_stack_depth();
  if (IsA(numeric, Const)) {
    const auto* constant = as<Const>(numeric);
    if (constant->constisnull) return 0;
    const Numeric number = DatumGetNumeric(constant->constvalue);
    if (numeric_is_nan(number) || numeric_is_inf(number)) return kUnlimited;
    return DatumGetInt32(DirectFunctionCall1(numeric_scale, constant->constvalue));
  }
  if (!IsA(numeric, FuncExpr) && !IsA(numeric, OpExpr)) return kUnlimited;
  const char* name = name_of_call(numeric);
  const List* arguments = arguments_of(numeric);
  if (arguments == NIL) return kUnlimited;
  const auto* first = static_cast<const Node*>(linitial(arguments));
  constexpr double kOfPart = 30;
  if (is_one_of(name, "extract")) return kOfPart;
  if (list_length(arguments) == 1) {
    const bool is_whole = is_one_of(name, "floor ceil ceiling round trunc") ||
                          (is_one_of(name, "numeric") && is_whole_type(exprType(first)));
    return is_whole ? 0 : kUnlimited;
  }
  const auto* second = static_cast<const Node*>(lsecond(arguments));
  if (!is_one_of(name, "+ - *")) return kUnlimited;
  return most_decimals(first) + most_decimals(second);
}

// How many characters a value that is no text has as one
double most_of_value(const Level* level, const Node* value) {
  constexpr double kMostOfOthers = 100;
  if (getBaseType(exprType(value)) != NUMERICOID) return kMostOfOthers;
  const auto range = range_of(level, value);
  if (!range) return kUnlimited;
  constexpr double kSignPointAndRounding = 3;
  const double most = std::max({std::abs(range->lower), std::abs(range->upper), 1.0});
  return kSignPointAndRounding + std::floor(std::log10(most)) + 1 + most_decimals(value);
}

// How many characters a text has at most, or bytes if they are more.
double most_characters(const Level* level, const Node* text) {
  check_stack_depth();
  const Oid type = getBaseType(exprType(text));
  const int32 declared = exprTypmod(text) - static_cast<int32>(VARHDRSZ);
  if ((type == VARCHAROID || type == BPCHAROID) && declared >= 1) return declared;
  switch (nodeTag(text)) {
    case T_Const: {
      const auto* constant = as<Const>(text);
      if (constant->constisnull) return 0;
      return static_cast<double>(toast_raw_datum_size(constant->constvalue) - VARHDRSZ);
    }
    case T_Var:
      return most_of_column(level, as<Var>(text));
    case T_RelabelType:
      return most_characters(level, as<Node>(as<RelabelType>(text)->arg));
    case T_CollateExpr:
      return most_characters(level, as<Node>(as<CollateExpr>(text)->arg));
    case T_CoerceViaIO: {
      const auto* from = as<Node>(as<CoerceViaIO>(text)->arg);
      const bool is_total = is_total_text_conversion(getBaseType(exprType(from)), type);
      return is_total ? most_of_value(level, from) : kUnlimited;
    }
    case T_CoalesceExpr:
      return most_of_all(level, as<CoalesceExpr>(text)->args);
    case T_FuncExpr:
    case T_OpExpr:
      return most_of_call(level, text);
    default:
      return kUnlimited;
  }
}

// A pattern that does not end in its escape character, and has few parts
bool is_plain_pattern(const Node* pattern) {
  if (!IsA(pattern, Const) || as<Const>(pattern)->constisnull) return false;
  if (getBaseType(exprType(pattern)) != TEXTOID) return false;
  const char* written = TextDatumGetCString(as<Const>(pattern)->constvalue);
  return static_cast<double>(strlen(written)) <= kMostInPattern && strchr(written, '\\') == nullptr;
}

bool gives_value_of_texts(const Level* level, const Node* call, const char* name) {
  const List* arguments = arguments_of(call);
  const bool has_text =
      is_text_type(getBaseType(exprType(static_cast<Node*>(linitial(arguments)))));
  if (!has_text && !is_one_of(name, "concat")) return false;
  if (most_of_all(level, arguments) > kMostCharacters) return false;
  if (is_one_of(name,
                "|| lower upper initcap left right btrim ltrim rtrim reverse concat text "
                "varchar length char_length character_length starts_with")) {
    return true;
  }
  if (list_length(arguments) != 2) return false;
  const auto* second = static_cast<const Node*>(lsecond(arguments));
  if (is_one_of(name, "strpos position")) return most_characters(level, second) <= kMostInPattern;
  return is_one_of(name, "~~ !~~ ~~* !~~* like notlike") && is_plain_pattern(second);
}

// ---- Numbers and times ---------------------------------------------------------------------

bool is_moment(const Node* argument) {
  const Oid type = getBaseType(exprType(argument));
  return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

// Whether an argument has bounds, or is of a type without any that a row does not change.
bool is_bounded(const Level* level, const Node* argument, TimesOf times) {
  const Oid type = getBaseType(exprType(argument));
  if (type == TIMEOID || range_of(level, argument)) return true;
  if (times == TimesOf::kOrdinary && is_moment(argument)) return true;
  return !type_with_bounds(type) && has_known_value(level, argument);
}

bool fits(const Range& range, Oid type) {
  const auto is_within = [&](double least, double most) {
    return least <= range.lower && range.upper <= most;
  };
  // Doubles below the most of a bigint are 1024 apart.
  if (type == INT8OID) return is_within(-0x1p63, 0x1p63 - 0x1p10);
  if (const MaybeRange all = range_of_whole_type(type)) return is_within(all->lower, all->upper);
  switch (type) {
    case FLOAT4OID:
      return is_within(-std::numeric_limits<float>::max(), std::numeric_limits<float>::max());
    case DATEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID: {
      const double unit = type == DATEOID ? static_cast<double>(USECS_PER_DAY) : 1;
      return is_within(static_cast<double>(MIN_TIMESTAMP) / unit + 1,
                       static_cast<double>(END_TIMESTAMP) / unit - 1);
    }
    // In microseconds. A number of times counts days and months of their own.
    case INTERVALOID:
      return is_within(-0x1p62, 0x1p62);
    default:
      return std::isfinite(range.lower) && std::isfinite(range.upper);
  }
}

bool is_apart(const std::optional<Range>& one, const std::optional<Range>& other) {
  return one && other && (one->upper < other->lower || other->upper < one->lower);
}

// A step of some time, and not of months
bool bins_dates(const Level* level, const FuncExpr* call) {
  FuncExpr* origins = makeNode(FuncExpr);
  *origins = *call;
  origins->args = list_make3(linitial(call->args), lthird(call->args), lthird(call->args));
  return has_known_value(level, as<Node>(origins));
}

// Whether a part or a unit of times is one of this type: a date has no hour.
bool has_part(const Level* level, const FuncExpr* call) {
  const Oid type = getBaseType(exprType(static_cast<Node*>(lsecond(call->args))));
  const auto value_type = find_value_type(type);
  if (!value_type) return false;
  int16 length;
  bool is_by_value;
  get_typlenbyval(type, &length, &is_by_value);
  const Datum zero = value_of_number(*value_type, 0);
  FuncExpr* of_one_time = makeNode(FuncExpr);
  *of_one_time = *call;
  of_one_time->args = list_copy(call->args);
  lsecond(of_one_time->args) = makeConst(type, -1, InvalidOid, length, zero, false, is_by_value);
  return has_known_value(level, as<Node>(of_one_time));
}

bool is_within(const std::optional<Range>& range, double least, double most) {
  return range && least <= range->lower && range->upper <= most;
}

// Whether the arguments of a call are in its domain, of which their bounds do not tell alone.
bool are_in_domain(const Level* level, const Node* call, const char* name) {
  const auto argument = [&](int number) {
    return range_of(level, static_cast<const Node*>(list_nth(arguments_of(call), number)));
  };
  if (is_one_of(name, "% mod")) return is_apart(argument(1), Range{0, 0});
  if (is_one_of(name, "sqrt ^ power pow")) return argument(0) && argument(0)->lower >= 0;
  if (is_one_of(name, "width_bucket")) {
    return is_apart(argument(1), argument(2)) && argument(3) && argument(3)->lower >= 1;
  }
  return true;
}

// A format of a number may be wrong.
bool is_of_time(const Node* call) {
  const auto type = find_value_type(exprType(static_cast<Node*>(linitial(arguments_of(call)))));
  return type && is_temporal(*type);
}

// Those whose results have no bounds, or need none
bool gives_value_in_domain(const Level* level, const Node* call, const char* name) {
  const auto argument = [&](int number) {
    return range_of(level, static_cast<const Node*>(list_nth(arguments_of(call), number)));
  };
  if (is_one_of(name, "to_char")) return is_of_time(call);
  if (is_one_of(name, "date_bin")) return bins_dates(level, as<FuncExpr>(call));
  if (is_one_of(name, "extract date_part date_trunc")) return has_part(level, as<FuncExpr>(call));
  constexpr double kYears = 9999;
  constexpr double kMonths = 12;
  constexpr double kDays = 28;
  return is_one_of(name, "make_date") && is_within(argument(0), 1, kYears) &&
         is_within(argument(1), 1, kMonths) && is_within(argument(2), 1, kDays);
}

constexpr char kOfBounded[] =
    "+ - * / % ^ mod div power pow abs floor ceil ceiling round trunc sign sqrt cbrt ln log log10 "
    "width_bucket timezone age date timestamp timestamptz time to_timestamp";

bool is_cast_of_number(const Node* call, const char* name) {
  return list_length(arguments_of(call)) == 1 &&
         is_one_of(name, "int2 int4 int8 float4 float8 numeric");
}

// Whether a product, quotient or power may be much nearer to 0 than what it is computed of.
bool may_get_tiny(const Level* level, const Node* call) {
  if (!IsA(call, OpExpr) && !IsA(call, FuncExpr)) return false;
  const char* name = name_of_call(call);
  if (!is_one_of(name, "* / ^ power pow") || is_whole_type(exprType(call))) return false;
  constexpr double kFactor = 1e6;
  constexpr Range kTiny = {-1 / kFactor, 1 / kFactor};
  const auto first = range_of(level, static_cast<const Node*>(linitial(arguments_of(call))));
  const auto last = range_of(level, static_cast<const Node*>(llast(arguments_of(call))));
  if (is_one_of(name, "*")) return !is_apart(first, kTiny) && !is_apart(last, kTiny);
  return is_one_of(name, "/") ? !is_within(last, -kFactor, kFactor) : !is_within(last, 0, 1);
}

bool has_few_decimals(const Node* number) {
  constexpr int32 kScale = 0x7ff;  // of a numeric's type modifier
  constexpr int32 kMostDecimals = 30;
  const int32 declared = exprTypmod(number) - static_cast<int32>(VARHDRSZ);
  return declared >= 0 && (declared & kScale) <= kMostDecimals;
}

// Whether a result that is not 0 may be 0 as a float, which PostgreSQL reports as an error.
bool may_underflow(const Level* level, const Node* call, const char* name, const Range& result) {
  const Oid type = getBaseType(exprType(call));
  const double least = type == FLOAT4OID   ? std::numeric_limits<float>::min()
                       : type == FLOAT8OID ? std::numeric_limits<double>::min()
                                           : 0;
  if (least == 0 || is_apart(result, Range{-least, least})) return false;
  if (!is_cast_of_number(call, name)) return may_get_tiny(level, call);
  const auto* number = static_cast<const Node*>(linitial(arguments_of(call)));
  if (has_few_decimals(number)) return false;
  return type == FLOAT4OID ||
         any_node(number, [=](const Node* part) { return may_get_tiny(level, part); });
}

// Whether the call gives a value because its arguments, numbers and times, are within bounds
bool gives_value_of_bounded(const Level* level, const Node* call, const char* name, TimesOf times) {
  for (const auto* argument : each<const Node>(arguments_of(call))) {
    if (!is_bounded(level, argument, times)) return false;
  }
  if (gives_value_in_domain(level, call, name)) return true;
  if (times == TimesOf::kOrdinary && is_moment(static_cast<Node*>(llast(arguments_of(call)))) &&
      is_one_of(name, "timezone date timestamp timestamptz time")) {
    return true;
  }
  if (!is_one_of(name, kOfBounded) && !is_cast_of_number(call, name)) return false;
  const auto range = range_of(level, call);
  return range && fits(*range, getBaseType(exprType(call))) && are_in_domain(level, call, name) &&
         !may_underflow(level, call, name, *range);
}

// ---- Calls ---------------------------------------------------------------------------------

// A whole number divided by another than 0 and -1, whatever it is
bool divides_whole(const Level* level, const Node* call, const char* name) {
  if (!is_one_of(name, "/ % mod") || !is_whole_type(getBaseType(exprType(call)))) return false;
  const auto divisor = range_of(level, static_cast<const Node*>(lsecond(arguments_of(call))));
  return is_apart(divisor, Range{-1, 0});
}

// What is computed before the first row
bool tells_the_time(Oid function) {
  return function == F_NOW || function == F_TRANSACTION_TIMESTAMP ||
         function == F_STATEMENT_TIMESTAMP || function == F_CLOCK_TIMESTAMP;
}

bool gives_value_of_function(const Level* level, const Node* call, TimesOf times) {
  const Oid function = function_of(call);
  const char* name = name_of_call(call);
  // Of a uuid that has none, and of NaN and infinity
  if (is_one_of(name, "uuid_extract_timestamp uuid_extract_version scale min_scale")) return false;
  if (is_total(function) || tells_the_time(function)) return true;
  if (find_variant(function) == nullptr && function != F_CONCAT) return false;
  return gives_value_of_texts(level, call, name) || divides_whole(level, call, name) ||
         gives_value_of_bounded(level, call, name, times);
}

}  // namespace

bool is_short_text(const Level* level, const Node* text) {
  return is_text_type(getBaseType(exprType(text))) &&
         most_characters(level, text) <= kMostCharacters;
}

bool gives_value_for_values(const Level* level, const Node* call, TimesOf times) {
  if (!IsA(call, CoerceViaIO)) return gives_value_of_function(level, call, times);
  const auto* cast = as<CoerceViaIO>(call);
  return is_total_text_conversion(getBaseType(exprType(as<Node>(cast->arg))),
                                  getBaseType(cast->resulttype));
}

}  // namespace dpquantile
