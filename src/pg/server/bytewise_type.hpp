#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// Whether values of the type are equal if and only if their bytes are. PostgreSQL's opclasses say
// so too (BTEQUALIMAGE_PROC), but some versions say it of character(n), whose trailing blanks do
// not count. Privacy rests on the answer, so only types that are known are listed.
bool is_bytewise(Oid type, Oid collation);

// The same for values of one column or expression, whose length or scale the type modifier fixes:
// then character(n) and numeric(p, s) are bytewise, too.
bool is_bytewise(Oid type, int32 modifier, Oid collation);

}  // namespace dpquantile
