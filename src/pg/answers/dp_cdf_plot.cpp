// Plots of a released CDF. They cost no budget.
#include "core/plot/cdf_plot.hpp"

#include "pg/answers/cdf_type.hpp"
#include "pg/answers/dp_cdf_error.hpp"
#include "pg/answers/plot_answer.hpp"

namespace dpquantile {

namespace {

// In a timestamptz there is no time zone, and the plot is the same in every session.
AxisScale scale_of(ValueType type) {
  return type == ValueType::kTimestamptz ? AxisScale::kUtcTimestamp : axis_scale_of(type);
}

// Calls draw(const CdfPlot&) on the CDF in argument 0 with its band. Returns a palloc'd copy of the
// string that draw returns.
template <class Draw>
text* draw_cdf(FunctionCallInfo fcinfo, double confidence, Draw draw) {
  const AxisScale scale = scale_of(value_type_of_cdf(fcinfo, 0));
  const CdfPlan plan = plan_argument(fcinfo, 0);
  const CdfError error = cdf_error_of(plan, confidence);
  text* drawn = nullptr;
  MemoryContext context = CurrentMemoryContext;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, std::pmr::memory_resource* memory) {
    const auto points = curve.points(error.everywhere_fraction_rows, memory);
    const CdfDomain& domain = curve.domain();
    const CdfPlot plot{points,       domain.discrete(), domain.lower, domain.upper,
                       curve.rows(), plan.privacy,      confidence,   scale};
    ContextMemory result_memory(context);
    drawn = make_text(draw(plot), result_memory);
  });
  return drawn;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (cdf, width, height, confidence) returns setof text, one row for each line
DPQ_FUNCTION(dpq_cdf_plot) {
  const PlotSize size = text_size_arguments(fcinfo, 1);
  text* drawn = draw_cdf(fcinfo, PG_GETARG_FLOAT8(3), [&](const CdfPlot& plot) {
    return joined(draw_text(plot, size.width, size.height, size.utf8));
  });
  return return_lines(fcinfo, drawn);
}

// (cdf, width, height, title text, confidence) returns text
DPQ_FUNCTION(dpq_cdf_svg) {
  const PlotSize size = svg_size_arguments(fcinfo, 1);
  const char* title = title_argument(fcinfo, 3);
  PG_RETURN_TEXT_P(draw_cdf(fcinfo, PG_GETARG_FLOAT8(4), [&](const CdfPlot& plot) {
    return in_encoding(draw_svg(plot, size.width, size.height, title), size);
  }));
}
