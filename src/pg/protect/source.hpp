#pragma once

#include "pg/protect/row_work.hpp"
#include "pg/server/nodes.hpp"

// A source: SELECT over protected rows without aggregates, which chooses rows and computes columns,
// in a derived table, a CTE or a view. What it does with one row must not depend on another one, or
// one row more would change many: so it has no DISTINCT, LIMIT and set-returning functions, no
// window functions but within the rows of a person (person_windows.hpp), and its joins do not
// multiply rows. At the top of a query it would show rows. Its rows stay those of their persons
// (Lemma 34b of docs/privacy/relations.md).
namespace dpquantile {

// Checks and rewrites a source whose entries are known. A source is empty if a condition is
// constant false, or LIMIT is 0: no row is read.
void check_source(JudgedLevel* level);

// Checks and rewrites what a source and a release block share: joins and the conditions of FROM and
// WHERE. Finds the relations. Returns false if the joins are refused: then it is not known whose
// the rows are.
bool check_rows(JudgedLevel* level);

// Rewrites the expressions of a level of public rows that are read beside protected ones.
void rewrite_public(JudgedLevel* level);

// Puts what `rewrite` makes of each column of the level's query into its place, and notes how many
// nodes it has, how long it takes to compute, and how long its values are.
template <class Rewrite>
void for_each_column(JudgedLevel* level, Rewrite rewrite) {
  List* columns = level->query->targetList;
  const auto count = static_cast<Size>(list_length(columns));
  level->works = static_cast<ColumnWork*>(palloc0((count + 1) * sizeof(ColumnWork)));
  int number = 0;
  for (auto* column : each<TargetEntry>(columns)) {
    const int nodes_before = level->statement->node_count;
    const RowWork work_before = level->statement->work;
    column->expr = as<Expr>(rewrite(as<Node>(column->expr)));
    level->works[number++] =
        work_of_column(level, as<Node>(column->expr), nodes_before, work_before);
  }
}

// Refuses what neither a source nor a release block may have.
void check_clauses(JudgedLevel* level);

}  // namespace dpquantile
