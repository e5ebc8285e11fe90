#pragma once

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

// A bound as the catalog has it: the input function of the type reads it in any session.
const char* bound_text(ValueType type, double number);

// Makes them the bounds of the column. ereports unless the relation is protected.
void set_bounds(Oid relation, Column* column, const char* lower, const char* upper,
                const char* granularity);

}  // namespace dpquantile
