#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
}

// What a query may do with functions over values of protected rows. A function is total if it
// cannot fail for any row: an error would tell that a row with such a value exists. Some functions
// of PostgreSQL are total as they are. Others have a variant, which answers NULL where they fail
// (pg/vocabulary/total_call.hpp). The query calls it by dpquantile.total(answer, original,
// arguments), whose first argument is '{}' of an array type and says which type it answers, and
// whose second argument is the OID of PostgreSQL's function. Both are constants.
namespace dpquantile {

inline constexpr int kMostTotalArguments = 7;
inline constexpr int kBeforeArguments = 2;  // arguments of dpquantile.total() before the original's

// What the time of a call depends on, beside the bytes of the texts that it reads and answers and
// the digits of numerics (row_work.hpp).
enum class CallTime {
  kOrdinary,
  kArithmetic,  // of integers and floats, without an error
  kNumericSum,
  kQuotient,   // of numerics
  kRemainder,  // of numerics
  kSeries,     // of numerics
  kCopy,       // of texts
  kCase,
  kWords,
  kFormat,
  kSearch,           // of the second text in the first: a byte with a byte
  kCaseBlindSearch,  // the same
  kSetSearch,        // a byte with a character of a set
  kListSearch,       // a byte with a character of translate()
};

// How long a text may be that is answered (size_bounds.hpp).
enum class AnswerSize {
  kUnknown,     // as long as any
  kShort,       // of few bytes, whatever the arguments are
  kAsFirst,     // as the first argument
  kCharacters,  // the same, and as many characters as the second argument says
  kSubstring,   // the same by the third argument
  kFilled,      // as many characters as the second argument says
  kSum,         // of all texts
  kOtherCase,   // as the first argument with other characters
  kTranslated,  // the same
  kEscaped,     // twice the first argument
  kRepeated,    // as often as the second argument says
  kReplaced,
  kFormatted,
};

// A function with a variant, or the input function of a type, whose variant is the cast from text.
struct TotalVariant {
  Oid original;
  PGFunction variant;                  // takes the same arguments, of which none is NULL
  Oid result;                          // a type, as PostgreSQL's catalogs have it
  Oid arguments[kMostTotalArguments];  // types, and InvalidOid after the last

  // What is longer or slower than others needs these. They are bounds: the defaults are for what
  // takes a microsecond or two.
  CallTime time = CallTime::kOrdinary;
  AnswerSize size = AnswerSize::kUnknown;

  // Bit i stands for argument i, counted from 0. These arguments must be free of columns, as the
  // unit of date_trunc and a time zone must.
  unsigned public_arguments = 0;
  bool is_stable = false;  // in some version of PostgreSQL; otherwise immutable
  bool is_text_cast = false;

  constexpr TotalVariant with_public(unsigned arguments_of_query) const {
    TotalVariant changed = *this;
    changed.public_arguments = arguments_of_query;
    return changed;
  }
  constexpr TotalVariant stable() const {
    TotalVariant changed = *this;
    changed.is_stable = true;
    return changed;
  }
  constexpr TotalVariant text_cast() const {
    TotalVariant changed = *this;
    changed.is_text_cast = true;
    return changed;
  }
};

int number_of_arguments(const TotalVariant& variant);

// The variant of a function that a query calls, or null.
const TotalVariant* find_variant(Oid function);

// The same, or the cast from text that stands for the input function of a type.
const TotalVariant* find_variant_or_text_cast(Oid original);

// The cast from text to a type, or null.
const TotalVariant* find_text_cast(Oid type);

// Whether a leakproof function takes the longer, the longer a value is, as sha512(bytea) does. Not
// the comparison of two, which ends with the shorter.
bool is_unbounded(Oid function);

// Whether a function is total as it is, for all values of all its arguments: it is PostgreSQL's
// own, not volatile and leakproof, no exception and not is_unbounded(); or it is on the list of
// such.
bool is_total(Oid function);

// A call of the variant with arguments of its types. Null if the database does not have
// dpquantile.total(); then refuse the query.
FuncExpr* call_of_variant(const TotalVariant& variant, const List* arguments, Oid result_collation,
                          Oid collation);

// The variant that a node calls, or null.
const TotalVariant* variant_of_call(const Node* node);

// Whether the conversion from one type to another by their output and input functions (CoerceViaIO)
// is total: to text, varchar or char, from a number, date, time, bool, uuid, name or enum. Casts
// with a function of their own, such as text(bool), are functions.
bool is_total_text_conversion(Oid from, Oid to);

}  // namespace dpquantile
