#include "pg/plain/shared_statistics.hpp"

#include "pg/plain/error_of_answer.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/standard_aggregate.hpp"
#include "pg/server/trees.hpp"
#include "pg/server/value_type.hpp"

extern "C" {
#include "access/transam.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

struct Statistic {
  const char* standard;
  const char* field;  // of dp_stats
};

// A level with more is refused later.
constexpr int kMostCalls = 1000;

// Each percentile gets the fractions of all. So many at once are better asked as an array.
constexpr int kMostPercentiles = 200;

constexpr Statistic kStatistics[] = {{"count", "count"},       {"sum", "sum"},
                                     {"avg", "avg"},           {"variance", "variance"},
                                     {"var_samp", "variance"}, {"stddev", "stddev"},
                                     {"stddev_samp", "stddev"}};

// Null if the call asks for something else.
const char* field_of(const Aggref* call) {
  if (!is_standard_aggregate(call) || call->aggdistinct != NIL || call->aggorder != NIL) {
    return nullptr;
  }
  if (counts_rows(call)) return "count";
  const char* name = get_func_name(call->aggfnoid);
  for (const Statistic& statistic : kStatistics) {
    if (strcmp(name, statistic.standard) == 0) return statistic.field;
  }
  return nullptr;
}

const Node* value_of(const Aggref* call) {
  return as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
}

struct Statistics {
  const PlainLevel* level;
  List* calls;        // Aggref
  List* percentiles;  // Aggref, at literal fractions
  List* with_errors;  // those of both of which the error is asked
};

Look collect_statistic(Statistics* statistics, Node* node) {
  const Aggref* answer = answer_of_error(node);
  if (answer != nullptr &&
      (field_of(answer) || is_percentile_of_curve(statistics->level, answer))) {
    statistics->with_errors = lappend(statistics->with_errors, const_cast<Aggref*>(answer));
  }
  if (!IsA(node, Aggref)) return Look::kBelow;
  if (field_of(as<Aggref>(node)) != nullptr) {
    statistics->calls = lappend(statistics->calls, node);
    return Look::kPast;
  }
  if (!fraction_of_percentile(as<Aggref>(node))) return Look::kBelow;
  statistics->percentiles = lappend(statistics->percentiles, node);
  return Look::kPast;
}

// An outer join puts NULL in the place of a column that has none.
bool may_be_null(const PlainLevel* level, const Node* value) {
  const auto origin = origin_of(level->select, value);
  return level->has_outer_join || !origin || !is_stated_not_null(*origin);
}

// Whether both are percentiles of one column over the same rows.
bool has_same_values(const Aggref* one, const Aggref* other) {
  return equal(one->aggfilter, other->aggfilter) &&
         equal(value_of_percentile(one), value_of_percentile(other));
}

// Whether both are statistics of one column over the same rows.
bool share(const PlainLevel* level, const Aggref* valued, const Aggref* call) {
  if (!equal(valued->aggfilter, call->aggfilter)) return false;
  if (counts_rows(call)) return !may_be_null(level, value_of(valued));
  return equal(value_of(valued), value_of(call));
}

// A count alone has no bounds to share, and dp_stats has no form for intervals.
bool is_of_numbers(const Aggref* call) {
  if (strcmp(field_of(call), "count") == 0) return false;
  const auto type = find_value_type(exprType(value_of(call)));
  return !type || !is_temporal(*type);
}

// Whether each value that is not NULL counts: NaN does not.
bool has_whole_numbers(const Aggref* call) {
  const auto type = find_value_type(exprType(value_of(call)));
  return type && is_whole(*type) && !is_temporal(*type);
}

// The statistic whose release answers a call, too, or null. All rows are best counted by values of
// which none is NaN.
const Aggref* valued_with(const PlainLevel* level, const SharedStatistics& shared,
                          const Aggref* call) {
  const Aggref* found = nullptr;
  for (const auto* valued : each<const Aggref>(shared.valued)) {
    if (!share(level, valued, call)) continue;
    if (!counts_rows(call) || has_whole_numbers(valued)) return valued;
    if (found == nullptr) found = valued;
  }
  return found;
}

bool has_another(const PlainLevel* level, const List* statistics, const Aggref* valued) {
  for (const auto* call : each<const Aggref>(statistics)) {
    if (strcmp(field_of(call), field_of(valued)) != 0 && share(level, valued, call)) return true;
  }
  return false;
}

// Whether a percentile is one of a curve that is released in any case.
bool has_curve(const PlainLevel* level, const SharedStatistics& shared, const Aggref* call) {
  if (!is_percentile_of_curve(level, call)) return false;
  for (const auto* item : each<const Aggref>(shared.curves)) {
    if (has_same_values(item, call)) return true;
  }
  return false;
}

// For list_sort() of double*.
int compare_fractions(const ListCell* one, const ListCell* other) {
  const double left = *static_cast<const double*>(lfirst(one));
  const double right = *static_cast<const double*>(lfirst(other));
  return left < right ? -1 : static_cast<int>(left > right);
}

// The different fractions of the percentiles of one column over the same rows, in ascending order.
List* fractions_with(const SharedStatistics& shared, const Aggref* call) {
  List* fractions = NIL;
  for (const auto* other : each<const Aggref>(shared.percentiles)) {
    if (!has_same_values(other, call)) continue;
    auto* fraction = static_cast<double*>(palloc(sizeof(double)));
    *fraction = *fraction_of_percentile(other);
    fractions = lappend(fractions, fraction);
  }
  list_sort(fractions, compare_fractions);
  List* different = NIL;
  for (const auto* fraction : each<const double>(fractions)) {
    const bool is_same =
        different != NIL && *static_cast<const double*>(llast(different)) == *fraction;
    if (!is_same) different = lappend(different, const_cast<double*>(fraction));
  }
  return different;
}

// The answer to a percentile from the curve, or from the one draw of all percentiles of its column.
Node* shared_percentile(const PlainLevel* level, const SharedStatistics& shared,
                        const Aggref* call) {
  if (has_curve(level, shared, call)) return percentile_of_curve(level, call);
  if (!fraction_of_percentile(call)) return nullptr;
  const List* fractions = fractions_with(shared, call);
  return list_length(fractions) > 1 ? percentile_of_several(level, call, fractions) : nullptr;
}

}  // namespace

SharedStatistics find_shared_statistics(const PlainLevel* level) {
  const Query* query = level->select->query;
  Statistics statistics = {level, NIL, NIL, NIL};
  const auto collect = [&](Node* node) { return collect_statistic(&statistics, node); };
  (void)search(query->targetList, collect);
  (void)search(query->havingQual, collect);
  SharedStatistics shared{};
  if (list_length(statistics.calls) + list_length(statistics.with_errors) > kMostCalls) {
    return shared;
  }
  if (list_length(statistics.percentiles) <= kMostPercentiles) {
    shared.percentiles = statistics.percentiles;
  }
  for (auto* call : each<Aggref>(statistics.with_errors)) {
    if (field_of(call) == nullptr) shared.curves = lappend(shared.curves, call);
  }
  for (auto* call : each<Aggref>(statistics.calls)) {
    if (!is_of_numbers(call)) continue;
    if (list_member_ptr(statistics.with_errors, call) ||
        has_another(level, statistics.calls, call)) {
      shared.valued = lappend(shared.valued, call);
    }
  }
  return shared;
}

Node* shared_statistic(const PlainLevel* level, const SharedStatistics& shared,
                       const Aggref* call) {
  const char* field = field_of(call);
  if (field == nullptr) return shared_percentile(level, shared, call);
  const Aggref* valued = valued_with(level, shared, call);
  return valued == nullptr ? nullptr : field_of_statistics(level, call, valued, field);
}

Node* error_of_statistic(const PlainLevel* level, const SharedStatistics& shared,
                         const Aggref* call) {
  const char* field = field_of(call);
  const Aggref* valued = field == nullptr ? nullptr : valued_with(level, shared, call);
  if (valued != nullptr) return error_in_statistics(level, call, valued, field);
  return has_curve(level, shared, call) ? error_of_percentile(level, call)
                                        : error_of_count(level, call);
}

}  // namespace dpquantile
