#pragma once

#include "pg/server/postgres.hpp"

// Types whose values may be long: texts, bytes, arrays, numbers of any number of digits. What is
// computed with a long value takes longer, so one row with a long text would show in the time of
// the query. Values of these types are limited (size_limit.hpp), others need no limit.
namespace dpquantile {

// Whether values of the type are texts of any kind, or bytes.
bool is_text(Oid type);

// The same, jsonb, and arrays of texts: variants may read each byte of them.
bool is_read_whole(Oid type);

bool is_number(Oid type);  // numeric, whose values may have any number of digits
bool is_array(Oid type);

// The type for which dpquantile.short_value() is declared that takes values of a type, or
// InvalidOid if they need none.
Oid type_of_short_value(Oid type);

// Whether values of the type may be of any length, and functions over rows read them.
bool has_any_length(Oid type);

}  // namespace dpquantile
