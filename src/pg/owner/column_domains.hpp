#pragma once

#include "pg/borrowed/early_values.hpp"
#include "pg/server/postgres.hpp"
#include "pg/server/value_type.hpp"

extern "C" {
#include "fmgr.h"
}

// What is publicly known of a column of a protected table: stated by its owner, or learned.
namespace dpquantile {

struct Column {
  NameData name;
  Oid type;
  int32 modifier;
  Oid collation;
};

// The column of the relation that is the second argument. ereports if there is none.
Column find_column(FunctionCallInfo fcinfo, Oid relation);

// The type whose numbers the values of the column have. ereports if it cannot have bounds.
ValueType value_type_of(const Column& column);

// Whether the type tells all values: queries group by such a column without a list.
bool has_known_keys(const Column& column);

// A bound as the catalog has it: the input function of the type reads it in any session.
const char* bound_text(ValueType type, double number);

// The most steps between two bounds: the cells of the finest value grid.
inline constexpr double kMostSteps = 4294967296.0;

// The step of the values that the argument states, in the unit of the numbers of the type. ereports
// if it is none.
double granularity_argument(FunctionCallInfo fcinfo, int argument, ValueType type);

// As the catalog has it.
const char* granularity_text(ValueType type, double step);

// Values of the column, or NULL.
struct Keys {
  Datum* values;
  bool* nulls;
  int count;
};

// ereports if the column cannot have a list of keys.
void check_column_of_keys(const Column& column);

// What a list of different values must be instead ("1 to 100000 values, got 0"), or null if a query
// may be compared with it: kMostListed keys, and more than kMaxElements only if few have one hash
// and they have at most kMostListedBytes.
const char* problem_of_list(const Keys& keys, const Column& column);

// The different values that the texts stand for, in the order of the column's type, NULL last.
// Which of several texts of one value counts depends on the texts alone. A null pointer is NULL.
Keys keys_of_texts(char* const* texts, int count, const Column& column);

// As text[]: the input function of the type reads them in any session.
Datum texts_of(const Keys& keys, Oid type);

// Makes them the list of the column. Requires that problem_of_list() is null. ereports unless the
// relation is protected.
void set_keys(Oid relation, Column* column, const Keys& keys);

// Settings under which the output function of each type writes what its input function reads in any
// session, until end() or an error.
class PortableTexts {
 public:
  PortableTexts();
  void end() const;

 private:
  int level_;
};

// Makes them the bounds of the column. ereports unless the relation is protected.
void set_bounds(Oid relation, Column* column, const char* lower, const char* upper,
                const char* granularity);

}  // namespace dpquantile
