#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// dp_error_of(answer): the 95 % error of a standard aggregate, from the same release. An answer
// without its error cannot be judged, and SQL's own aggregates have no place for one. It costs
// nothing more, because it follows from the parameters and from the noisy answer.
namespace dpquantile {

// The standard aggregate whose error a node asks for, or null if it is something else.
const Aggref* answer_of_error(const Node* node);

// Whether a node is a call of dp_error_of, whatever its argument is.
bool is_error_of_answer(const Node* node);

}  // namespace dpquantile
