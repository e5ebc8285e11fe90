#pragma once

// The plan of a query that is asked in stages: one node, which asks the stages one after the other,
// and then the rest, when its first row is wanted. Each is planned, judged, charged and released as
// a statement that somebody asks, for the user who reads the rows.
namespace dpquantile {

// Installs the planner hook, which comes before that of pg/plain. It plans all parts for a trial,
// so that what is refused is refused before anything is charged.
void install_staged_queries();

}  // namespace dpquantile
