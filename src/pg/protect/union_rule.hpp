#pragma once

#include "pg/protect/judged_level.hpp"

// UNION ALL of protected rows below a private aggregate. If all its queries show rows of persons of
// one unit, and one column is the person of the row in each of them, then it shows rows of these
// persons again: of each so many as its queries together (Lemma 34k of docs/privacy/relations.md).
// UNION, INTERSECT and EXCEPT are person groups over one (pg/plain/set_operations.hpp).
namespace dpquantile {

// Checks a UNION ALL whose queries are known.
void check_union(JudgedLevel* level);

// Refuses rows of persons that are combined in any other way.
[[noreturn]] void refuse_combined_rows(const JudgedLevel* level);

}  // namespace dpquantile
