#include "pg/vocabulary/total_functions.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr unsigned kArgument0 = 1U << 0;
constexpr unsigned kArgument1 = 1U << 1;
constexpr unsigned kArgument2 = 1U << 2;
constexpr unsigned kArgument6 = 1U << 6;

// Why a variant answers NULL.
constexpr char kOverflow[] = "an overflow";
constexpr char kDivision[] = "division by zero, or an overflow";
constexpr char kNoValue[] = "a value that the other type does not have";
constexpr char kFloatRange[] = "a result that is infinite, or too small for a float";
constexpr char kFloatDivision[] = "division by zero, or a result out of the range of floats";
constexpr char kDomain[] = "an argument outside of the domain, or a result out of range";
constexpr char kNumericRange[] = "division by zero, a result out of range, or many digits";
constexpr char kNoNumericValue[] = "a value that the other type does not have, or many digits";
constexpr char kNumericDomain[] = "an argument outside of the domain, or many digits";
constexpr char kTimeRange[] = "a date, time or interval out of range, or infinite";
constexpr char kUnit[] = "a unit or zone that does not exist, or a value out of range";
constexpr char kZone[] = "a zone that does not exist, or a value out of range";
constexpr char kLong[] = "a long text, or an argument out of range";
constexpr char kSearch[] = "a long search";
constexpr char kPattern[] = "a pattern that ends in its escape character, or a long search";
constexpr char kNoMd5[] = "a server without MD5, or a long text";
constexpr char kFormat[] = "a wrong format, or a long text";

// Why a function is total as it is.
constexpr char kBits[] = "bits, or one of the arguments";
constexpr char kEachFloat[] = "each float has a result";
constexpr char kDigits[] = "comparison of digits, or a copy";
constexpr char kComparison[] = "comparison, or one of the arguments";
constexpr char kCopy[] = "a length in bytes, or a copy";

using enum TotalKind;

struct Group {
  TotalKind kind;
  unsigned public_arguments;
  const char* reason;
  std::initializer_list<Oid> functions;
};

// Each of these exists in PostgreSQL 15 to 18. The SQL script makes a variant for each function of
// kind kVariant; total_*.cpp have them. Not here, because they fail for many
// values or read data: regular expressions, to_date, to_number, to_timestamp(text), functions with
// arguments of any type (concat, format), arrays, JSON, ranges, geometry, networks, privileges and
// catalogs.
constexpr Group kGroups[] = {
    // Integers
    {kVariant,
     0,
     kOverflow,
     {F_INT2PL, F_INT2MI, F_INT2MUL, F_INT24PL, F_INT24MI, F_INT24MUL, F_INT28PL, F_INT28MI,
      F_INT28MUL, F_INT42PL, F_INT42MI, F_INT42MUL}},
    {kVariant,
     0,
     kOverflow,
     {F_INT4PL, F_INT4MI, F_INT4MUL, F_INT48PL, F_INT48MI, F_INT48MUL, F_INT82PL, F_INT82MI,
      F_INT82MUL, F_INT84PL, F_INT84MI, F_INT84MUL}},
    {kVariant,
     0,
     kOverflow,
     {F_INT8PL, F_INT8MI, F_INT8MUL, F_INT2UM, F_INT4UM, F_INT8UM, F_INT2ABS, F_INT4ABS, F_INT8ABS,
      F_ABS_INT2, F_ABS_INT4, F_ABS_INT8}},
    {kVariant,
     0,
     kDivision,
     {F_INT2DIV, F_INT24DIV, F_INT28DIV, F_INT42DIV, F_INT4DIV, F_INT48DIV, F_INT82DIV, F_INT84DIV,
      F_INT8DIV, F_INT2MOD}},
    {kVariant,
     0,
     kDivision,
     {F_INT4MOD, F_INT8MOD, F_MOD_INT2_INT2, F_MOD_INT4_INT4, F_MOD_INT8_INT8, F_GCD_INT4_INT4,
      F_GCD_INT8_INT8, F_LCM_INT4_INT4, F_LCM_INT8_INT8}},
    {kVariant, 0, kNoValue, {F_INT2_INT4, F_INT2_INT8, F_INT4_INT8, F_OID}},
    {kAsItIs,
     0,
     kBits,
     {F_INT2AND, F_INT2OR, F_INT2XOR, F_INT2NOT, F_INT2SHL, F_INT2SHR, F_INT2UP, F_INT2LARGER,
      F_INT2SMALLER, F_INT4AND, F_INT4OR, F_INT4XOR, F_INT4NOT, F_INT4SHL, F_INT4SHR, F_INT4UP}},
    {kAsItIs,
     0,
     kBits,
     {F_INT4LARGER, F_INT4SMALLER, F_INT8AND, F_INT8OR, F_INT8XOR, F_INT8NOT, F_INT8SHL, F_INT8SHR,
      F_INT8UP, F_INT8LARGER, F_INT8SMALLER, F_OIDLARGER, F_OIDSMALLER, F_TO_HEX_INT4,
      F_TO_HEX_INT8}},
    // Real and double precision
    {kVariant,
     0,
     kFloatRange,
     {F_FLOAT4PL, F_FLOAT4MI, F_FLOAT4MUL, F_FLOAT48PL, F_FLOAT48MI, F_FLOAT48MUL, F_FLOAT84PL,
      F_FLOAT84MI, F_FLOAT84MUL, F_FLOAT8PL, F_FLOAT8MI, F_FLOAT8MUL}},
    {kVariant, 0, kFloatDivision, {F_FLOAT4DIV, F_FLOAT48DIV, F_FLOAT84DIV, F_FLOAT8DIV}},
    {kVariant,
     0,
     kNoValue,
     {F_FLOAT4_FLOAT8, F_INT2_FLOAT4, F_INT4_FLOAT4, F_INT8_FLOAT4, F_INT2_FLOAT8, F_INT4_FLOAT8,
      F_INT8_FLOAT8}},
    {kVariant,
     0,
     kDomain,
     {F_DSQRT, F_SQRT_FLOAT8, F_DCBRT, F_CBRT, F_DEXP, F_EXP_FLOAT8, F_DLOG1, F_LN_FLOAT8, F_DLOG10,
      F_LOG_FLOAT8, F_LOG10_FLOAT8, F_DPOW, F_POW_FLOAT8_FLOAT8}},
    {kVariant,
     0,
     kDomain,
     {F_POWER_FLOAT8_FLOAT8, F_DEGREES, F_RADIANS, F_SIN, F_COS, F_TAN, F_COT, F_ASIN, F_ACOS,
      F_ATAN, F_ATAN2, F_SIND, F_COSD}},
    {kVariant,
     0,
     kDomain,
     {F_TAND, F_COTD, F_ASIND, F_ACOSD, F_ATAND, F_ATAN2D, F_SINH, F_COSH, F_TANH, F_ASINH, F_ACOSH,
      F_ATANH, F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4}},
    {kAsItIs,
     0,
     kEachFloat,
     {F_FLOAT4UM, F_FLOAT8UM, F_FLOAT4UP, F_FLOAT8UP, F_FLOAT4ABS, F_FLOAT8ABS, F_ABS_FLOAT4,
      F_ABS_FLOAT8, F_FLOAT4LARGER, F_FLOAT4SMALLER}},
    {kAsItIs,
     0,
     kEachFloat,
     {F_FLOAT8LARGER, F_FLOAT8SMALLER, F_DROUND, F_ROUND_FLOAT8, F_DTRUNC, F_TRUNC_FLOAT8,
      F_CEIL_FLOAT8, F_CEILING_FLOAT8, F_FLOOR_FLOAT8, F_SIGN_FLOAT8}},
    // Numeric
    {kVariant,
     0,
     kNumericRange,
     {F_NUMERIC_ADD, F_NUMERIC_SUB, F_NUMERIC_MUL, F_NUMERIC_DIV, F_NUMERIC_MOD,
      F_MOD_NUMERIC_NUMERIC, F_DIV, F_NUMERIC_DIV_TRUNC, F_GCD_NUMERIC_NUMERIC}},
    {kVariant,
     0,
     kNumericRange,
     {F_LCM_NUMERIC_NUMERIC, F_ROUND_NUMERIC, F_ROUND_NUMERIC_INT4, F_TRUNC_NUMERIC,
      F_TRUNC_NUMERIC_INT4, F_CEIL_NUMERIC, F_CEILING_NUMERIC, F_FLOOR_NUMERIC}},
    {kVariant,
     0,
     kNoNumericValue,
     {F_NUMERIC_NUMERIC_INT4, F_INT2_NUMERIC, F_INT4_NUMERIC, F_INT8_NUMERIC, F_FLOAT4_NUMERIC,
      F_FLOAT8_NUMERIC}},
    {kVariant,
     0,
     kNumericDomain,
     {F_SQRT_NUMERIC, F_NUMERIC_SQRT, F_EXP_NUMERIC, F_NUMERIC_EXP, F_LN_NUMERIC, F_NUMERIC_LN,
      F_LOG_NUMERIC, F_LOG10_NUMERIC, F_LOG_NUMERIC_NUMERIC, F_NUMERIC_LOG, F_POW_NUMERIC_NUMERIC,
      F_POWER_NUMERIC_NUMERIC, F_NUMERIC_POWER, F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4}},
    {kAsItIs,
     0,
     kDigits,
     {F_NUMERIC_EQ, F_NUMERIC_NE, F_NUMERIC_LT, F_NUMERIC_LE, F_NUMERIC_GT, F_NUMERIC_GE,
      F_NUMERIC_CMP, F_NUMERIC_LARGER, F_NUMERIC_SMALLER}},
    {kAsItIs,
     0,
     kDigits,
     {F_NUMERIC_ABS, F_ABS_NUMERIC, F_NUMERIC_UMINUS, F_NUMERIC_UPLUS, F_SIGN_NUMERIC, F_SCALE,
      F_MIN_SCALE, F_TRIM_SCALE}},
    // Dates and times. Comparisons of two types take a date that is no timestamp for an infinite
    // one.
    {kVariant,
     0,
     kTimeRange,
     {F_DATE_MI, F_DATE_PLI, F_DATE_MII, F_INTEGER_PL_DATE, F_DATE_PL_INTERVAL, F_DATE_MI_INTERVAL,
      F_INTERVAL_PL_DATE, F_DATETIME_PL, F_TIMEDATE_PL, F_DATETIMETZ_PL, F_TIMETZDATE_PL,
      F_TIMESTAMP_MI, F_TIMESTAMP_PL_INTERVAL, F_TIMESTAMP_MI_INTERVAL, F_INTERVAL_PL_TIMESTAMP,
      F_TIMESTAMPTZ_MI}},
    {kVariant,
     0,
     kTimeRange,
     {F_TIMESTAMPTZ_PL_INTERVAL, F_TIMESTAMPTZ_MI_INTERVAL, F_INTERVAL_PL_TIMESTAMPTZ,
      F_AGE_TIMESTAMP, F_AGE_TIMESTAMPTZ, F_AGE_TIMESTAMP_TIMESTAMP, F_AGE_TIMESTAMPTZ_TIMESTAMPTZ,
      F_TIME_PL_INTERVAL, F_TIME_MI_INTERVAL, F_INTERVAL_PL_TIME, F_TIMETZ_PL_INTERVAL,
      F_TIMETZ_MI_INTERVAL, F_INTERVAL_PL_TIMETZ, F_INTERVAL_UM, F_INTERVAL_PL, F_INTERVAL_MI}},
    {kVariant,
     0,
     kTimeRange,
     {F_INTERVAL_MUL, F_MUL_D_INTERVAL, F_INTERVAL_DIV, F_JUSTIFY_DAYS, F_JUSTIFY_HOURS,
      F_JUSTIFY_INTERVAL, F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP,
      F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, F_TIMEZONE_INTERVAL_TIMESTAMP,
      F_TIMEZONE_INTERVAL_TIMESTAMPTZ, F_TIMEZONE_INTERVAL_TIMETZ, F_MAKE_DATE, F_MAKE_TIME,
      F_MAKE_TIMESTAMP, F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8, F_TO_TIMESTAMP_FLOAT8}},
    {kVariant,
     0,
     kNoValue,
     {F_DATE_TIMESTAMP, F_DATE_TIMESTAMPTZ, F_TIMESTAMP_DATE, F_TIMESTAMP_DATE_TIME,
      F_TIMESTAMP_TIMESTAMPTZ, F_TIMESTAMPTZ_DATE, F_TIMESTAMPTZ_DATE_TIME,
      F_TIMESTAMPTZ_DATE_TIMETZ, F_TIMESTAMPTZ_TIMESTAMP, F_TIME_TIMESTAMP}},
    {kVariant,
     0,
     kNoValue,
     {F_TIME_TIMESTAMPTZ, F_TIME_INTERVAL, F_TIMETZ_TIME, F_TIMETZ_TIMESTAMPTZ, F_TIME_TIME_INT4,
      F_TIMETZ_TIMETZ_INT4, F_TIMESTAMP_TIMESTAMP_INT4, F_TIMESTAMPTZ_TIMESTAMPTZ_INT4,
      F_INTERVAL_INTERVAL_INT4}},
    {kVariant,
     kArgument0,
     kUnit,
     {F_DATE_TRUNC_TEXT_TIMESTAMP, F_DATE_TRUNC_TEXT_TIMESTAMPTZ, F_DATE_TRUNC_TEXT_INTERVAL,
      F_EXTRACT_TEXT_DATE, F_EXTRACT_TEXT_TIME, F_EXTRACT_TEXT_TIMETZ, F_EXTRACT_TEXT_TIMESTAMP,
      F_EXTRACT_TEXT_TIMESTAMPTZ, F_EXTRACT_TEXT_INTERVAL, F_DATE_PART_TEXT_DATE,
      F_DATE_PART_TEXT_TIME, F_DATE_PART_TEXT_TIMETZ, F_DATE_PART_TEXT_TIMESTAMP,
      F_DATE_PART_TEXT_TIMESTAMPTZ, F_DATE_PART_TEXT_INTERVAL}},
    {kVariant, kArgument0 | kArgument2, kUnit, {F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT}},
    {kVariant,
     kArgument0,
     kZone,
     {F_TIMEZONE_TEXT_TIMESTAMP, F_TIMEZONE_TEXT_TIMESTAMPTZ, F_TIMEZONE_TEXT_TIMETZ}},
    {kVariant, kArgument6, kZone, {F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8_TEXT}},
    {kAsItIs,
     0,
     kComparison,
     {F_DATE_EQ_TIMESTAMP, F_DATE_NE_TIMESTAMP, F_DATE_LT_TIMESTAMP, F_DATE_LE_TIMESTAMP,
      F_DATE_GT_TIMESTAMP, F_DATE_GE_TIMESTAMP, F_DATE_CMP_TIMESTAMP, F_DATE_EQ_TIMESTAMPTZ,
      F_DATE_NE_TIMESTAMPTZ, F_DATE_LT_TIMESTAMPTZ, F_DATE_LE_TIMESTAMPTZ, F_DATE_GT_TIMESTAMPTZ,
      F_DATE_GE_TIMESTAMPTZ, F_DATE_CMP_TIMESTAMPTZ, F_TIMESTAMP_EQ_DATE, F_TIMESTAMP_NE_DATE}},
    {kAsItIs,
     0,
     kComparison,
     {F_TIMESTAMP_LT_DATE, F_TIMESTAMP_LE_DATE, F_TIMESTAMP_GT_DATE, F_TIMESTAMP_GE_DATE,
      F_TIMESTAMP_CMP_DATE, F_TIMESTAMP_EQ_TIMESTAMPTZ, F_TIMESTAMP_NE_TIMESTAMPTZ,
      F_TIMESTAMP_LT_TIMESTAMPTZ, F_TIMESTAMP_LE_TIMESTAMPTZ, F_TIMESTAMP_GT_TIMESTAMPTZ,
      F_TIMESTAMP_GE_TIMESTAMPTZ, F_TIMESTAMP_CMP_TIMESTAMPTZ, F_TIMESTAMPTZ_EQ_DATE,
      F_TIMESTAMPTZ_NE_DATE, F_TIMESTAMPTZ_LT_DATE, F_TIMESTAMPTZ_LE_DATE}},
    {kAsItIs,
     0,
     kComparison,
     {F_TIMESTAMPTZ_GT_DATE, F_TIMESTAMPTZ_GE_DATE, F_TIMESTAMPTZ_CMP_DATE,
      F_TIMESTAMPTZ_EQ_TIMESTAMP, F_TIMESTAMPTZ_NE_TIMESTAMP, F_TIMESTAMPTZ_LT_TIMESTAMP,
      F_TIMESTAMPTZ_LE_TIMESTAMP, F_TIMESTAMPTZ_GT_TIMESTAMP, F_TIMESTAMPTZ_GE_TIMESTAMP,
      F_TIMESTAMPTZ_CMP_TIMESTAMP, F_DATE_LARGER, F_DATE_SMALLER, F_TIME_LARGER, F_TIME_SMALLER,
      F_TIMETZ_LARGER, F_TIMETZ_SMALLER}},
    {kAsItIs,
     0,
     kComparison,
     {F_TIMESTAMP_LARGER, F_TIMESTAMP_SMALLER, F_TIMESTAMPTZ_LARGER, F_TIMESTAMPTZ_SMALLER,
      F_INTERVAL_LARGER, F_INTERVAL_SMALLER, F_OVERLAPS_TIME_TIME_TIME_TIME,
      F_OVERLAPS_TIMETZ_TIMETZ_TIMETZ_TIMETZ, F_OVERLAPS_TIMESTAMP_TIMESTAMP_TIMESTAMP_TIMESTAMP,
      F_OVERLAPS_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ, F_ISFINITE_DATE,
      F_ISFINITE_TIMESTAMP, F_ISFINITE_TIMESTAMPTZ, F_ISFINITE_INTERVAL, F_TIME_MI_TIME,
      F_TIME_TIMETZ}},
    // Texts
    {kVariant,
     0,
     kLong,
     {F_TEXTCAT, F_BYTEACAT, F_LOWER_TEXT, F_UPPER_TEXT, F_INITCAP, F_LEFT, F_RIGHT,
      F_SUBSTR_TEXT_INT4, F_SUBSTR_TEXT_INT4_INT4, F_SUBSTRING_TEXT_INT4,
      F_SUBSTRING_TEXT_INT4_INT4}},
    {kVariant,
     0,
     kLong,
     {F_OVERLAY_TEXT_TEXT_INT4, F_OVERLAY_TEXT_TEXT_INT4_INT4, DPQ_F_REVERSE, F_REPEAT,
      F_LPAD_TEXT_INT4, F_LPAD_TEXT_INT4_TEXT, F_RPAD_TEXT_INT4, F_RPAD_TEXT_INT4_TEXT,
      F_TEXT_BPCHAR, F_BTRIM_TEXT, F_LTRIM_TEXT, F_RTRIM_TEXT}},
    {kVariant,
     0,
     kLong,
     {F_TEXTLEN, F_LENGTH_TEXT, F_CHAR_LENGTH_TEXT, F_CHARACTER_LENGTH_TEXT, F_LENGTH_BPCHAR,
      F_CHAR_LENGTH_BPCHAR, F_CHARACTER_LENGTH_BPCHAR, F_ASCII, F_CHR, F_VARCHAR_VARCHAR_INT4_BOOL,
      F_BPCHAR_BPCHAR_INT4_BOOL}},
    {kVariant,
     0,
     kSearch,
     {F_STARTS_WITH, F_STRPOS, F_POSITION_TEXT_TEXT, F_REPLACE, F_TRANSLATE, F_SPLIT_PART,
      F_BTRIM_TEXT_TEXT, F_LTRIM_TEXT_TEXT, F_RTRIM_TEXT_TEXT}},
    {kVariant,
     0,
     kPattern,
     {F_TEXTLIKE, F_TEXTNLIKE, F_LIKE_TEXT_TEXT, F_NOTLIKE_TEXT_TEXT, F_BPCHARLIKE, F_BPCHARNLIKE,
      F_NAMELIKE, F_NAMENLIKE, F_LIKE_NAME_TEXT, F_NOTLIKE_NAME_TEXT, F_BYTEALIKE}},
    {kVariant,
     0,
     kPattern,
     {F_BYTEANLIKE, F_LIKE_BYTEA_BYTEA, F_NOTLIKE_BYTEA_BYTEA, F_TEXTICLIKE, F_TEXTICNLIKE,
      F_BPCHARICLIKE, F_BPCHARICNLIKE, F_NAMEICLIKE, F_NAMEICNLIKE, F_LIKE_ESCAPE_TEXT_TEXT,
      F_LIKE_ESCAPE_BYTEA_BYTEA}},
    {kVariant, 0, kNoMd5, {F_MD5_TEXT, F_MD5_BYTEA}},
    {kVariant,
     kArgument1,
     kFormat,
     {F_TO_CHAR_INT4_TEXT, F_TO_CHAR_INT8_TEXT, F_TO_CHAR_FLOAT4_TEXT, F_TO_CHAR_FLOAT8_TEXT,
      F_TO_CHAR_NUMERIC_TEXT, F_TO_CHAR_TIMESTAMP_TEXT, F_TO_CHAR_TIMESTAMPTZ_TEXT,
      F_TO_CHAR_INTERVAL_TEXT}},
    {kAsItIs,
     0,
     kCopy,
     {F_OCTET_LENGTH_TEXT, F_OCTET_LENGTH_BPCHAR, F_OCTET_LENGTH_BYTEA, F_LENGTH_BYTEA, F_TEXT_BOOL,
      F_BPCHAR_NAME, F_NAME_TEXT, F_NAME_BPCHAR, F_NAME_VARCHAR}},
    // Enums, whose values are numbers. The catalog has the order of each value that a table can
    // have.
    {kAsItIs,
     0,
     kComparison,
     {F_ENUM_EQ, F_ENUM_NE, F_ENUM_LT, F_ENUM_LE, F_ENUM_GT, F_ENUM_GE, F_ENUM_CMP, F_ENUM_LARGER,
      F_ENUM_SMALLER}},
};

// Leakproof functions of PostgreSQL that fail for some values all the same.
constexpr Oid kExceptions[] = {
    // The area of a circle or the length of a segment overflows.
    F_CIRCLE_EQ,
    F_CIRCLE_NE,
    F_CIRCLE_LT,
    F_CIRCLE_LE,
    F_CIRCLE_GT,
    F_CIRCLE_GE,
    F_LSEG_LT,
    F_LSEG_LE,
    F_LSEG_GT,
    F_LSEG_GE,
    // They report an error for an array that is no valid oidvector.
    F_OIDVECTOREQ,
    F_OIDVECTORNE,
    F_OIDVECTORLT,
    F_OIDVECTORLE,
    F_OIDVECTORGT,
    F_OIDVECTORGE,
    F_BTOIDVECTORCMP,
};

constexpr size_t count_functions() {
  size_t count = 0;
  for (const Group& group : kGroups) count += group.functions.size();
  return count;
}

constexpr bool is_before(const TotalFunction& left, const TotalFunction& right) {
  return left.function < right.function;
}

constexpr auto sorted_functions() {
  std::array<TotalFunction, count_functions()> sorted{};
  size_t count = 0;
  for (const Group& group : kGroups) {
    for (const Oid function : group.functions) {
      sorted[count++] = {function, group.kind, group.public_arguments};
    }
  }
  std::sort(sorted.begin(), sorted.end(), is_before);
  return sorted;
}

constexpr auto kSorted = sorted_functions();

constexpr bool is_same(const TotalFunction& left, const TotalFunction& right) {
  return left.function == right.function;
}

static_assert(std::adjacent_find(kSorted.begin(), kSorted.end(), is_same) == kSorted.end(),
              "a function is listed twice");

bool has_total_output(Oid type) {
  switch (type) {
    case BOOLOID:
    case NAMEOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case OIDOID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case DATEOID:
    case TIMEOID:
    case TIMETZOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case INTERVALOID:
    case UUIDOID:
      return true;
    default:
      return get_typtype(type) == TYPTYPE_ENUM;
  }
}

// A comparison or a choice has two arguments.
bool reads_long_value(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return false;
  const oidvector& types = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->proargtypes;
  bool reads = false;
  for (int i = 0; types.dim1 != 2 && i < types.dim1; ++i) {
    reads = reads || get_typlen(types.values[i]) < 0;
  }
  ReleaseSysCache(row);
  return reads;
}

}  // namespace

const TotalFunction* find_total_function(Oid function) {
  const TotalFunction key{function, kAsItIs, 0};
  const auto* found = std::lower_bound(kSorted.begin(), kSorted.end(), key, is_before);
  return found != kSorted.end() && found->function == function ? found : nullptr;
}

bool is_unbounded(Oid function) {
  return function < FirstUnpinnedObjectId && find_total_function(function) == nullptr &&
         get_func_leakproof(function) && reads_long_value(function);
}

bool is_total(Oid function) {
  if (function >= FirstUnpinnedObjectId) return false;
  const TotalFunction* entry = find_total_function(function);
  if (entry != nullptr) return entry->kind == kAsItIs;
  const auto* exception = std::find(std::begin(kExceptions), std::end(kExceptions), function);
  return exception == std::end(kExceptions) && get_func_leakproof(function) &&
         func_volatile(function) != PROVOLATILE_VOLATILE && !is_unbounded(function);
}

Oid total_variant(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const auto* original = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
  const char* name = psprintf("total_%s", NameStr(original->proname));
  const Oid variant = own_function(name, &original->proargtypes);
  const Oid result = original->prorettype;
  ReleaseSysCache(row);
  return OidIsValid(variant) && get_func_rettype(variant) == result ? variant : InvalidOid;
}

bool is_total_text_conversion(Oid from, Oid to) {
  const bool is_text = to == TEXTOID || to == VARCHAROID || to == BPCHAROID;
  return is_text && has_total_output(from);
}

Oid total_text_cast(Oid type) {
  const Oid text = TEXTOID;
  const HeapTuple row = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const auto* entry = reinterpret_cast<Form_pg_type>(GETSTRUCT(row));
  const char* name = psprintf("total_%s", NameStr(entry->typname));
  ReleaseSysCache(row);
  const Oid cast = own_function(name, buildoidvector(&text, 1));
  return OidIsValid(cast) && get_func_rettype(cast) == type ? cast : InvalidOid;
}

}  // namespace dpquantile
