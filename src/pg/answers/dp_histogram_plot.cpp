// Plots of a released histogram. They cost no budget.
#include "core/plot/histogram_plot.hpp"

#include <optional>
#include <span>

#include "core/noisy_histogram/bin_bounds.hpp"
#include "pg/answers/histogram_arrays.hpp"
#include "pg/answers/plot_answer.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// The arguments of a call. The arrays are palloc'd.
struct HistogramArguments {
  std::span<const std::int64_t> counts;
  std::span<const double> bounds;
  AxisScale scale;
  bool has_error;
  int64 error;

  HistogramPlot plot() const {
    return {counts, bounds, scale,
            has_error ? std::optional(static_cast<std::uint64_t>(error)) : std::nullopt};
  }
};

ValueType type_of_bounds(Oid element) {
  if (getBaseType(element) == FLOAT4OID) return ValueType::kFloat8;
  const auto type = find_value_type(element);
  if (type) return *type;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("bounds must be numbers, dates or times, got %s", format_type_be(element)),
                  errhint("Give the bounds of dp_histogram.")));
}

// The bound as a value of its ValueType. A timestamptz becomes the timestamp of the session's zone.
Datum plain_bound(Oid element, Datum bound) {
  switch (getBaseType(element)) {
    case FLOAT4OID:
      return Float8GetDatum(DatumGetFloat4(bound));
    case TIMESTAMPTZOID:
      return DirectFunctionCall1(timestamptz_timestamp, bound);
    default:
      return bound;
  }
}

std::span<const double> read_bounds(ArrayType* array, ValueType type) {
  const ArrayElements elements = elements_of(array, "bounds");
  auto* bounds = static_cast<double*>(palloc((elements.count + 1) * sizeof(double)));
  for (int i = 0; i < elements.count; ++i) {
    const Datum bound = plain_bound(ARR_ELEMTYPE(array), elements.values[i]);
    bounds[i] = number_of_value(type, bound);
  }
  return {bounds, static_cast<std::size_t>(elements.count)};
}

// A released count is at least 0.
std::span<const std::int64_t> read_counts(ArrayType* array) {
  const ArrayElements elements = elements_of(array, "counts");
  auto* counts = static_cast<std::int64_t*>(palloc((elements.count + 1) * sizeof(std::int64_t)));
  for (int i = 0; i < elements.count; ++i) {
    counts[i] = DatumGetInt64(elements.values[i]);
    if (counts[i] >= 0) continue;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("a count must be at least 0, got %lld", static_cast<long long>(counts[i])),
             errhint("Give the counts that dp_histogram answered.")));
  }
  return {counts, static_cast<std::size_t>(elements.count)};
}

// The arguments bounds, counts and, at this number, error.
HistogramArguments histogram_arguments(FunctionCallInfo fcinfo, int error_number) {
  ArrayType* bounds = PG_GETARG_ARRAYTYPE_P(0);
  const ValueType type = type_of_bounds(ARR_ELEMTYPE(bounds));
  const bool has_error = !PG_ARGISNULL(error_number);
  const HistogramArguments histogram{read_counts(PG_GETARG_ARRAYTYPE_P(1)),
                                     read_bounds(bounds, type), axis_scale_of(type), has_error,
                                     has_error ? PG_GETARG_INT64(error_number) : 0};
  report(guarded([&] { check_bin_bounds(histogram.bounds); }));
  require_one_count_a_bin(histogram.bounds.size(), histogram.counts.size());
  if (histogram.error < 0) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("error must be at least 0, got %lld", static_cast<long long>(histogram.error)),
             errhint("Give for example dp_histogram_error(epsilon).")));
  }
  return histogram;
}

bool is_any_null(FunctionCallInfo fcinfo, int first_arguments) {
  for (int i = 0; i < first_arguments; ++i) {
    if (PG_ARGISNULL(i)) return true;
  }
  return false;
}

// Returns a palloc'd copy of the string that draw(const HistogramPlot&) returns.
template <class Draw>
text* draw_histogram(const HistogramArguments& histogram, Draw draw) {
  text* drawn = nullptr;
  MemoryContext context = CurrentMemoryContext;
  report(guarded([&] {
    ContextMemory memory(context);
    drawn = make_text(draw(histogram.plot()), memory);
  }));
  return drawn;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (bounds, counts, width, height, error) returns setof text, one row for each line; error may be
// NULL
DPQ_FUNCTION(dpq_histogram_plot) {
  constexpr int kError = 4;
  if (is_any_null(fcinfo, kError)) {
    return return_lines(fcinfo, cstring_to_text(""));
  }
  const PlotSize size = text_size_arguments(fcinfo, 2);
  const HistogramArguments histogram = histogram_arguments(fcinfo, kError);
  text* drawn = draw_histogram(histogram, [&](const HistogramPlot& plot) {
    return joined(draw_histogram_text(plot, size.width, size.height, size.utf8));
  });
  return return_lines(fcinfo, drawn);
}

// (bounds, counts, width, height, title, error) returns text; error may be NULL
DPQ_FUNCTION(dpq_histogram_svg) {
  constexpr int kError = 5;
  if (is_any_null(fcinfo, kError)) PG_RETURN_NULL();
  const PlotSize size = svg_size_arguments(fcinfo, 2);
  const char* title = title_argument(fcinfo, 4);
  const HistogramArguments histogram = histogram_arguments(fcinfo, kError);
  PG_RETURN_TEXT_P(draw_histogram(histogram, [&](const HistogramPlot& plot) {
    return in_encoding(draw_histogram_svg(plot, size.width, size.height, title), size);
  }));
}
