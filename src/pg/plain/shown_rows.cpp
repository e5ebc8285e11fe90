#include "pg/plain/shown_rows.hpp"

#include <algorithm>
#include <climits>
#include <limits>

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/server/trees.hpp"

namespace dpquantile {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// A WITH query is looked at as often as it is named, which may double at each level, so there is an
// end: more levels than this have no known number of rows.
constexpr int kMostLevels = 10000;

struct Search {
  ParamListInfo parameters;
  int levels;  // that were looked at
};

double most_rows(const Level* level, Search* search);

bool has_full_join(const Query* query) {
  return any_node(query->jointree, [](const Node* node) {
    return IsA(node, JoinExpr) && as<JoinExpr>(node)->jointype == JOIN_FULL;
  });
}

double most_rows_of_entry(const Entry& entry, Search* search) {
  if (entry.below != nullptr) return most_rows(entry.below, search);
  if (entry.table->rtekind == RTE_RESULT) return 1;
  return entry.table->rtekind == RTE_VALUES ? list_length(entry.table->values_lists) : kUnknown;
}

// What is joined may have as many rows as its parts have together, but hardly ever has.
double most_rows_of_from(const Level* level, Search* search) {
  double product = 1;
  int sources = 0;
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    if (!entry.is_in_from || entry.table->rtekind == RTE_JOIN) continue;
    product *= Max(most_rows_of_entry(entry, search), 1);
    ++sources;
  }
  const bool is_many = product > kMaxElements || has_full_join(level->query);
  return sources > 1 && is_many ? kUnknown : product;
}

double most_rows_without_limit(const Level* level, Search* search) {
  const Query* query = level->query;
  if (query->commandType != CMD_SELECT || query->hasTargetSRFs) return kUnknown;
  if (query->setOperations != nullptr) {
    double sum = 0;
    for (const auto* branch : each<const Level>(branches_of(level))) {
      sum += branch == nullptr ? kUnknown : most_rows(branch, search);
    }
    return sum;
  }
  if (query->groupingSets != NIL) return kUnknown;
  if (level->listed_groups > 0) return level->listed_groups;
  if (query->groupClause == NIL && (query->hasAggs || query->havingQual != nullptr)) return 1;
  return level->borrowed_rows != NIL ? kUnknown : most_rows_of_from(level, search);
}

double most_rows(const Level* level, Search* search) {
  if (++search->levels > kMostLevels) return kUnknown;
  const double rows = most_rows_without_limit(level, search);
  const Query* query = level->query;
  if (query->limitCount == nullptr || query->limitOption == LIMIT_OPTION_WITH_TIES) return rows;
  const auto* limit = as<Const>(folded(query->limitCount, search->parameters));
  if (!IsA(limit, Const)) return kUnknown;
  if (limit->constisnull) return rows;
  return Min(rows, static_cast<double>(DatumGetInt64(limit->constvalue)));
}

}  // namespace

std::optional<int> most_shown_rows(const Statement* statement, ParamListInfo parameters) {
  Search search = {parameters, 0};
  const double rows = most_rows(statement->top, &search);
  if (rows == kUnknown) return std::nullopt;
  return static_cast<int>(std::clamp<double>(rows, 0, INT_MAX));
}

}  // namespace dpquantile
