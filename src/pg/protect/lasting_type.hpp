#pragma once

#include "pg/protect/judged_level.hpp"

namespace dpquantile {

// Whether a type stays while the query runs. PostgreSQL's own types do, and those of columns of the
// tables that the query level reads. Of another type its owner may drop the values of an enum or
// the type itself, and what is computed for a row then fails.
bool is_lasting_type(const JudgedLevel* level, Oid type);

}  // namespace dpquantile
