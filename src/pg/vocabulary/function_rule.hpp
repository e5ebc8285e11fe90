#pragma once

#include "pg/server/postgres.hpp"

// One table says what a query may do with each function of PostgreSQL, and so with the operators
// and casts that call it. A line is a FunctionRule. The sections of the table are
// functions_of_*.hpp and functions_outside.hpp; total_functions.hpp looks a function up. In SQL
// dpquantile.how_total() tells of it; docs/functions.md and tests take from there which functions
// there are.
//
// Inside, for values of protected rows, a query may call those only that have a line for it: of
// functions that are total as they are, {F_BOOLEQ}, or of those with a variant (total_call.hpp).
// Both are there after a review of PostgreSQL's source for every error. Outside, over answers and
// before the first row, it may call others, too (node_functions.hpp).
//
// Functions that fail for many values, or read data, have no line inside: regular expressions but
// for comparisons, to_date, to_number, to_timestamp(text), functions with arguments of any type
// (concat, format), and what computes with arrays, json, ranges, shapes, networks, privileges and
// catalogs. Networks, and some shapes, may be compared, and parts of jsonb may be taken. A function
// that PostgreSQL marks as leakproof needs a line, too: the area of a circle and the length of a
// segment overflow, an array may be no valid oidvector, and the time of sha512() grows with its
// value.
//
// A line in DPQ_SINCE_16() or the like is for this version and later ones. All others are for
// PostgreSQL 15 to 19.
namespace dpquantile {

inline constexpr int kMostTotalArguments = 7;

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
  kPart,             // of jsonb
  kWriting,          // of jsonb as a text
  kKeySearch,        // of the texts of an array in jsonb
  kDocumentSearch,   // of jsonb in jsonb
  kEquality,         // of texts: no collation decides
  kEqualLength,      // the same, and texts of different lengths are not read
  kLength,           // of a text that is not read
  kRegex,            // the second text is a regular expression (regex_weight.hpp)
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
  kWritten,     // the text of a part of the first argument (total_documents.hpp)
  kRepeated,    // as often as the second argument says
  kReplaced,
  kFormatted,
};

// Where a function may be called.
enum class CallPlace {
  kInside,    // and outside
  kFromText,  // inside, as the cast from text to the type of which it is the input function
  kToText,    // inside, as the cast to text from the type of which it is the output function
  kOutside,
  kNever,
};

// Bits of public_arguments
inline constexpr unsigned kArgument0 = 1U << 0;
inline constexpr unsigned kArgument1 = 1U << 1;
inline constexpr unsigned kArgument2 = 1U << 2;
inline constexpr unsigned kArgument6 = 1U << 6;

struct FunctionRule {
  Oid function;

  // What stands in inside, and takes the same arguments, of which none is NULL. Null if the
  // function is total as it is: then it takes no longer than a comparison, and a text that it
  // answers counts as its longest argument or 128 bytes.
  PGFunction variant = nullptr;

  // The types of the result and of the arguments, as PostgreSQL's catalogs have them. Only a
  // function with a variant states them. InvalidOid comes after the last argument.
  Oid result = InvalidOid;
  Oid arguments[kMostTotalArguments] = {};

  // What is longer or slower than others needs these. They are bounds: the defaults are for what
  // takes a microsecond or two.
  CallTime time = CallTime::kOrdinary;
  AnswerSize size = AnswerSize::kUnknown;

  // Bit i stands for argument i, counted from 0. These arguments must be free of columns, as the
  // unit of date_trunc and a time zone must.
  unsigned public_arguments = 0;
  bool is_stable = false;  // in some version of PostgreSQL; otherwise the variant is immutable

  CallPlace place = CallPlace::kInside;
  bool takes_any_type = false;  // also one whose owner has functions (protect/code_of_types.hpp)
  bool is_series = false;       // whose rows protected rows may be joined with

  constexpr FunctionRule with_public(unsigned arguments_of_query) const {
    FunctionRule changed = *this;
    changed.public_arguments = arguments_of_query;
    return changed;
  }
  constexpr FunctionRule stable() const {
    FunctionRule changed = *this;
    changed.is_stable = true;
    return changed;
  }
  constexpr FunctionRule taking(CallTime other) const {
    FunctionRule changed = *this;
    changed.time = other;
    return changed;
  }
  constexpr FunctionRule of_any_type() const {
    FunctionRule changed = *this;
    changed.takes_any_type = true;
    return changed;
  }
  constexpr FunctionRule series() const {
    FunctionRule changed = *this;
    changed.is_series = true;
    return changed;
  }
  constexpr FunctionRule from_text() const { return placed(CallPlace::kFromText); }
  constexpr FunctionRule to_text() const { return placed(CallPlace::kToText); }
  constexpr FunctionRule outside() const { return placed(CallPlace::kOutside); }
  constexpr FunctionRule never() const { return placed(CallPlace::kNever); }

 private:
  constexpr FunctionRule placed(CallPlace other) const {
    FunctionRule changed = *this;
    changed.place = other;
    return changed;
  }
};

}  // namespace dpquantile
