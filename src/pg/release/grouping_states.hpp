#pragma once

#include "pg/release/release_columns.hpp"

// The paths below a release node. They group the rows of a query level and give the states of its
// private aggregates.
namespace dpquantile {

// How an aggregate passes its state to the release node.
enum class StatePassing {
  kPointer,  // as a pointer, of type internal: directly to the node, in the same process
  kValue,    // as a value of the state's type
};

// The same columns with states for answers.
PathTarget* states_of(const PathTarget* columns, StatePassing passing);

// A copy of a grouping path with these columns, states instead of answers, and no HAVING. Null if
// the path is of an unknown kind, for example of a foreign server, which would make the answers
// itself.
Path* with_states(const GroupingLevel& level, const PathTarget* columns, const Path* path,
                  StatePassing passing);

}  // namespace dpquantile
