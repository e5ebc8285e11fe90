// Plots of a released CDF. They cost no budget.
#include "core/plot/cdf_plot.hpp"

#include "core/plot/svg_writer.hpp"
#include "pg/functions/cdf_type.hpp"
#include "pg/functions/dp_cdf_error.hpp"
#include "pg/parameters/whole_number.hpp"

extern "C" {
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

constexpr std::size_t kMaxTitleBytes = 1000;

// Calls draw(const CdfPlot&) on the CDF in argument 0 with its band. Returns a palloc'd copy of the
// string that draw returns.
template <class Draw>
text* draw_cdf(FunctionCallInfo fcinfo, double confidence, Draw draw) {
  const CdfPlan plan = plan_argument(fcinfo, 0);
  const CdfError* error = cdf_error_of(fcinfo, plan, confidence);
  text* drawn = nullptr;
  MemoryContext context = CurrentMemoryContext;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, std::pmr::memory_resource* memory) {
    const auto points = curve.points(error->everywhere_fraction_rows, memory);
    const CdfDomain& domain = curve.domain();
    const CdfPlot plot{points,       domain.discrete(), domain.lower, domain.upper,
                       curve.rows(), plan.privacy,      confidence};
    const std::string text_drawn = draw(plot);
    drawn = static_cast<text*>(
        ContextMemory(context).allocate(VARHDRSZ + text_drawn.size(), MAXIMUM_ALIGNOF));
    SET_VARSIZE(drawn, VARHDRSZ + text_drawn.size());
    memcpy(VARDATA(drawn), text_drawn.data(), text_drawn.size());
  });
  return drawn;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (cdf, width, height, confidence) returns setof text, one row for each line
DPQ_FUNCTION(dpq_cdf_plot) {
  const int64 width = whole_argument(fcinfo, 1, "width");
  const int64 height = whole_argument(fcinfo, 2, "height");
  report(guarded([&] { check_text_size(width, height); }));
  const bool utf8 = GetDatabaseEncoding() == PG_UTF8;
  text* drawn = draw_cdf(fcinfo, PG_GETARG_FLOAT8(3), [&](const CdfPlot& plot) {
    std::string all;
    for (const std::string& line :
         draw_text(plot, static_cast<int>(width), static_cast<int>(height), utf8))
      all += line + '\n';
    return all;
  });
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const char* line = VARDATA(drawn);
  const char* const end = line + VARSIZE(drawn) - VARHDRSZ;
  while (line < end) {
    const auto* next = static_cast<const char*>(memchr(line, '\n', end - line));
    Datum value = PointerGetDatum(cstring_to_text_with_len(line, static_cast<int>(next - line)));
    bool isnull = false;
    tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
    line = next + 1;
  }
  return Datum{0};
}

// (cdf, width, height, title text, confidence) returns text
DPQ_FUNCTION(dpq_cdf_svg) {
  const int64 width = whole_argument(fcinfo, 1, "width");
  const int64 height = whole_argument(fcinfo, 2, "height");
  report(guarded([&] { check_svg_size(width, height); }));
  const bool utf8 = GetDatabaseEncoding() == PG_UTF8;
  char* title = text_to_cstring(PG_GETARG_TEXT_PP(3));
  if (strlen(title) > kMaxTitleBytes) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("title must have at most %zu bytes, got %zu", kMaxTitleBytes, strlen(title)),
             errhint("A title that is wider than the plot is shortened anyway.")));
  }
  title = pg_server_to_any(title, static_cast<int>(strlen(title)), PG_UTF8);
  pg_verify_mbstr(PG_UTF8, title, static_cast<int>(strlen(title)), false);
  PG_RETURN_TEXT_P(draw_cdf(fcinfo, PG_GETARG_FLOAT8(4), [&](const CdfPlot& plot) {
    const std::string svg =
        draw_svg(plot, static_cast<int>(width), static_cast<int>(height), title);
    return utf8 ? svg : xml_in_ascii(svg);
  }));
}
