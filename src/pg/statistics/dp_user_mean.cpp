// dp_user_mean and dp_user_variance.
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_variance.hpp"
#include "pg/aggregate/user_aggregate.hpp"
#include "pg/release/group_release.hpp"

namespace dpquantile {

namespace {

// `draw` is user_mean or user_variance.
template <class Draw>
std::uint32_t draw_answer(const ChargedGroup& group, Draw draw) {
  const UserQuery query = user_query_of(group.parameters);
  std::uint32_t answer = 0;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    const UserRows rows(group.user_rows(), Contribution::kUser, context);
    answer = draw(rows, query, context);
  });
  return answer;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, user anynonarray, value, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_user_mean_transition) {
  return add_user_row(fcinfo, Family::kUserMean);
}

// (state) returns the values' type
DPQ_FUNCTION(dpq_user_mean_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  const std::uint32_t units = draw_answer(group, user_mean);
  return value_of_number(type, fixed_point_of(group.parameters).value_of(units));
}

// (state, user anynonarray, value, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_user_variance_transition) {
  return add_user_row(fcinfo, Family::kUserVariance);
}

// (state) returns the values' type
DPQ_FUNCTION(dpq_user_variance_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  const std::uint32_t units = draw_answer(group, user_variance);
  return value_of_number(type, fixed_point_of(group.parameters).variance_of(units));
}
