// dp_iqr: the interquartile range.
#include "core/iqr/iqr.hpp"

#include <optional>

#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "pg/aggregate/aggregate.hpp"
#include "pg/release/group_release.hpp"
#include "pg/server/boundary.hpp"

namespace dpquantile {

namespace {

// Empty if the test of propose-test-release fails.
std::optional<double> draw_answer(const ChargedGroup& group) {
  const AggregateParameters& parameters = *group.parameters;
  std::optional<double> answer;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    switch (static_cast<IqrMethod>(parameters.method)) {
      case IqrMethod::kProposeTestRelease:
        answer =
            interquartile_range(group.values(), parameters.guarantee, parameters.delta, context);
        break;
      case IqrMethod::kQuantiles:
        answer = static_cast<const IqrByQuantiles&>(*group.mechanism)
                     .release(group.histogram(context), context);
        break;
    }
  });
  return answer;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value, epsilon, delta [, options])
DPQ_FUNCTION(dpq_iqr_transition) {
  return add_row(fcinfo, Family::kIqr);
}

// (state) returns the type of a difference of two values
DPQ_FUNCTION(dpq_iqr_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  const std::optional<double> answer = draw_answer(group);
  if (!answer) PG_RETURN_NULL();
  return value_of_difference(group.parameters->value_type, *answer, type);
}

// (epsilon, delta) returns bigint
DPQ_FUNCTION(dpq_iqr_min_rows) {
  const float8 epsilon = stated_amount(PG_GETARG_FLOAT8(0));
  const float8 delta = stated_amount(PG_GETARG_FLOAT8(1));
  uint64 rows = 0;
  report(guarded([&] { rows = iqr_min_records(epsilon, delta); }));
  PG_RETURN_INT64(static_cast<int64>(rows));
}

// (epsilon, delta, rows) returns float8
DPQ_FUNCTION(dpq_iqr_expected_error) {
  const float8 epsilon = stated_amount(PG_GETARG_FLOAT8(0));
  const float8 delta = stated_amount(PG_GETARG_FLOAT8(1));
  const float8 rows = PG_GETARG_FLOAT8(2);
  std::optional<float8> error;
  report(guarded([&] { error = iqr_expected_error(epsilon, delta, rows); }));
  if (!error) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*error);
}
