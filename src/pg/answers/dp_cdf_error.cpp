// The error of a CDF, before and after its release.
#include "pg/answers/dp_cdf_error.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/privacy/privacy_parameter.hpp"
#include "pg/answers/cdf_questions.hpp"
#include "pg/answers/cdf_type.hpp"
#include "pg/parameters/cdf_error_cache.hpp"
#include "pg/parameters/options.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

TupleDesc result_row(FunctionCallInfo fcinfo) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the function must return a record")));
  }
  return BlessTupleDesc(row);
}

Datum float8_array(std::span<const double> numbers) {
  auto* values = static_cast<Datum*>(palloc(numbers.size() * sizeof(Datum)));
  for (std::size_t i = 0; i < numbers.size(); ++i) values[i] = Float8GetDatum(numbers[i]);
  return PointerGetDatum(construct_array(values, static_cast<int>(numbers.size()), FLOAT8OID,
                                         sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

Datum int4_array(std::span<const std::uint32_t> numbers) {
  auto* values = static_cast<Datum*>(palloc(numbers.size() * sizeof(Datum)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    values[i] = Int32GetDatum(static_cast<int32>(numbers[i]));
  }
  return PointerGetDatum(construct_array(values, static_cast<int>(numbers.size()), INT4OID,
                                         sizeof(int32), true, TYPALIGN_INT));
}

CdfMethod method_named(const char* name) {
  const FamilyRow& family = row_of(Family::kCdf);
  const MethodRow* method = find_method(family, std::string_view(name));
  if (method == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown method \"%s\"", name),
                    errhint("Valid methods: %s.", method_names(family))));
  }
  return static_cast<CdfMethod>(method->number);
}

CdfMethod default_method(PrivacyMeasure measure) {
  const bool with_rho = measure == PrivacyMeasure::kZcdp;
  return static_cast<CdfMethod>(row_of(Family::kCdf).default_method(with_rho));
}

// The plan that a dp_cdf call with these parameters would have.
CdfPlan expected_plan(const PrivacyParameter& privacy, int64 bins, CdfMethod method) {
  CdfPlan plan{};
  report(guarded([&] {
    check_privacy_parameter(privacy);
    plan = choose_cdf_plan(method, check_bins(static_cast<double>(bins)), privacy);
  }));
  return plan;
}

struct Points {
  CdfPoint* points;
  std::size_t count;
};

Points points_of(FunctionCallInfo fcinfo) {
  const CdfPlan plan = plan_argument(fcinfo, 0);
  const CdfError error = cdf_error_of(plan, PG_GETARG_FLOAT8(1));
  Points all{nullptr, 0};
  MemoryContext context = CurrentMemoryContext;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, std::pmr::memory_resource* memory) {
    const auto points = curve.points(error.everywhere_fraction_rows, memory);
    all.count = points.size();
    all.points = static_cast<CdfPoint*>(
        ContextMemory(context).allocate(all.count * sizeof(CdfPoint), alignof(CdfPoint)));
    std::ranges::copy(points, all.points);
  });
  return all;
}

FractionErrors fraction_errors_of(const CdfPlan& plan, double confidence) {
  FractionErrors errors;
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    errors = session_fraction_errors(plan, confidence, {cancel, &memory});
  });
  return errors;
}

Datum answer_points(FunctionCallInfo fcinfo, ValueType type) {
  const Points all = points_of(fcinfo);
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  MemoryContext of_point =
      AllocSetContextCreate(CurrentMemoryContext, "dpquantile point", ALLOCSET_DEFAULT_SIZES);
  MemoryContext caller = MemoryContextSwitchTo(of_point);
  for (std::size_t i = 0; i < all.count; ++i) {
    CHECK_FOR_INTERRUPTS();
    const CdfPoint& point = all.points[i];
    const Datum x = is_temporal(type) ? time_answer(type, point.x) : Float8GetDatum(point.x);
    Datum values[] = {x, Float8GetDatum(point.probability), Float8GetDatum(point.low),
                      Float8GetDatum(point.high)};
    bool nulls[] = {false, std::isnan(point.probability), false, false};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    MemoryContextReset(of_point);
  }
  MemoryContextSwitchTo(caller);
  MemoryContextDelete(of_point);
  return Datum{0};
}

}  // namespace

CdfError cdf_error_of(const CdfPlan& plan, double confidence) {
  CdfError error{};
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    error = session_cdf_error(plan, confidence, {cancel, &memory});
  });
  return error;
}

}  // namespace dpquantile

using namespace dpquantile;

// (cdf, confidence, simultaneous boolean) returns (rows float8, fraction float8)
DPQ_FUNCTION(dpq_cdf_error) {
  CdfPlan plan{};
  int64 rows = 0;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) {
    plan = curve.plan();
    rows = curve.rows();
  });
  const CdfError error = cdf_error_of(plan, PG_GETARG_FLOAT8(1));
  const bool simultaneous = PG_GETARG_BOOL(2);
  const double share = simultaneous ? error.everywhere_fraction_rows : error.point_fraction_rows;
  Datum values[] = {
      Float8GetDatum(simultaneous ? error.everywhere : error.point),
      rows == 0 ? Datum{0} : Float8GetDatum(std::min(1.0, share / static_cast<double>(rows)))};
  bool nulls[] = {false, rows == 0};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_row(fcinfo), values, nulls)));
}

// (cdf, quantile, confidence) returns float8, NULL without rows
DPQ_FUNCTION(dpq_cdf_quantile_error) {
  require_numbers(fcinfo);
  CdfPlan plan{};
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { plan = curve.plan(); });
  const float8 quantile = PG_GETARG_FLOAT8(1);
  const FractionErrors errors = fraction_errors_of(plan, PG_GETARG_FLOAT8(2));
  std::optional<double> answer;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) {
    answer = curve.quantile_error(quantile, errors.at(std::clamp(quantile, 0.0, 1.0)));
  });
  if (!answer) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*answer);
}

// (epsilon, bins, confidence, method, rho) returns (pointwise, simultaneous, branching,
// level_epsilon, level_rho), the last three NULL for a method without a tree; NULL if bins,
// confidence, or both epsilon and rho are NULL
DPQ_FUNCTION(dpq_cdf_expected_error) {
  const bool has_rho = !PG_ARGISNULL(4);
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) PG_RETURN_NULL();
  if (PG_ARGISNULL(0) && !has_rho) PG_RETURN_NULL();
  if (!PG_ARGISNULL(0) && has_rho) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("expected epsilon or rho, got both"),
             errhint("Write NULL for epsilon if you give rho.")));
  }
  const float8 amount = stated_amount(PG_GETARG_FLOAT8(has_rho ? 4 : 0));
  const PrivacyParameter privacy = has_rho ? zcdp(amount) : pure(amount);
  const CdfMethod method = PG_ARGISNULL(3) ? default_method(privacy.measure)
                                           : method_named(text_to_cstring(PG_GETARG_TEXT_PP(3)));
  const CdfPlan plan = expected_plan(privacy, PG_GETARG_INT64(1), method);
  const CdfError error = cdf_error_of(plan, PG_GETARG_FLOAT8(2));
  const Datum level_budget = float8_array(plan.level_budget());
  Datum values[] = {Float8GetDatum(error.point), Float8GetDatum(error.everywhere),
                    int4_array(plan.branching()), level_budget, level_budget};
  const bool no_tree = plan.levels == 0;
  bool nulls[] = {false, false, no_tree, has_rho || no_tree, !has_rho || no_tree};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_row(fcinfo), values, nulls)));
}

// (cdf, confidence) returns table (x, probability, low, high)
DPQ_FUNCTION(dpq_cdf_points) {
  require_numbers(fcinfo);
  return answer_points(fcinfo, ValueType::kFloat8);
}

// (cdf, confidence) returns table (x text, probability, low, high)
DPQ_FUNCTION(dpq_cdf_time_points) {
  return answer_points(fcinfo, require_times(fcinfo));
}
