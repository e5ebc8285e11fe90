#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
}

namespace dpquantile {

// Whether values of the type are equal if and only if their bytes are. PostgreSQL's opclasses say
// so too (BTEQUALIMAGE_PROC), but some versions say it of character(n), whose trailing blanks do
// not count. Privacy rests on the answer, so only types that are known are listed.
bool is_bytewise(Oid type, Oid collation);

// Whether equal values of an expression are written alike, in text and in binary, and others are
// not. The length or scale of its type may be fixed: then character(n) and numeric(p, s) are, too.
// A numeric is without the zeros at its end, which trim_scale() takes away. A float8 or real is no
// -0, and no NaN with bits of its own, where CASE puts 0 and 'NaN' in their place.
bool looks_like_its_equals(const Node* expression);

}  // namespace dpquantile
