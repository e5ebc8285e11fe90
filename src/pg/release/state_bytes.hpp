#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace dpquantile {

// About the most bytes of the states of these columns for so many rows in so many groups, for the
// planner. Neither GroupedRows nor PostgreSQL's hash table puts a group on disk that it has begun,
// however large it grows. By the literals of the calls: the states of few cells are small.
// Hashes count as none, because nobody knows how many of them differ.
double bytes_of_states(const PathTarget* columns, double rows, double groups);

}  // namespace dpquantile
