#pragma once

#include "pg/protect/judged_level.hpp"

// A source: SELECT over protected rows without aggregates, which chooses rows and computes columns,
// in a derived table, a CTE or a view. What it does with one row must not depend on another one, or
// one row more would change many: so it has no window functions, DISTINCT, LIMIT and set-returning
// functions, and its joins do not multiply rows. At the top of a query it would show rows. Its rows
// stay those of their persons (Lemma 34b of docs/privacy/relations.md).
namespace dpquantile {

// Checks and rewrites a source whose entries are known. A source is empty if a condition is
// constant false, or LIMIT is 0: no row is read.
void check_source(JudgedLevel* level);

// Checks and rewrites what a source and a release block share: joins and the conditions of FROM and
// WHERE. Finds the relations. Returns false if the joins are refused: then it is not known whose
// the rows are.
bool check_rows(JudgedLevel* level);

// Refuses what neither a source nor a release block may have.
void check_clauses(JudgedLevel* level);

}  // namespace dpquantile
