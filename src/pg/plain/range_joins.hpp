#pragma once

#include "pg/query/level.hpp"

// Joins of protected rows with the ranges of a series, as dashboards have them to fill gaps:
//
//   FROM generate_series('2025-01-01'::timestamp, '2025-12-01', '1 month') s (m)
//   LEFT JOIN visits v ON v.at >= s.m AND v.at < s.m + interval '1 month'
//
// The series adds the length of a range, so that each ends where the next one begins. A row is in
// one range at most, and in which one follows from it:
//
//   LEFT JOIN visits v ON date_trunc('month', v.at) = s.m
//
// By the comparisons a row may match several rows for all that the rules know (pg/protect), and
// they refuse the join; that by = they judge as any other. So it is with v.day = s.m::date, and
// with an = of a date and a moment, which PostgreSQL does not hash: v.day::timestamp = s.m is the
// same.
namespace dpquantile {

// Puts the = in the place of such comparisons of ON and WHERE. Returns whether there were some.
bool join_ranges_by_equality(const Level* level);

}  // namespace dpquantile
