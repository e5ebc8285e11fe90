#include "fuzz/curve_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory_resource>

#include "core/base/error.hpp"
#include "core/cdf/cdf_json.hpp"
#include "core/plot/cdf_plot.hpp"
#include "fuzz/target.hpp"

namespace dpquantile::fuzz {

namespace {

std::pmr::memory_resource* heap() {
  return std::pmr::new_delete_resource();
}

void check_points(const CdfCurve& curve, double band) {
  const auto points = curve.points(band, heap());
  const std::size_t bins = curve.domain().bins;
  require(points.size() == (curve.domain().discrete() ? bins : bins + 1),
          "a point for each edge or value");
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (curve.rows() == 0) {
      require(std::isnan(points[i].probability) && points[i].low == 0 && points[i].high == 1,
              "without rows nothing is known");
      continue;
    }
    require(0 <= points[i].low && points[i].low <= points[i].probability &&
                points[i].probability <= points[i].high && points[i].high <= 1,
            "the band holds the curve");
    require(i == 0 || (points[i - 1].probability <= points[i].probability &&
                       points[i - 1].low <= points[i].low && points[i - 1].high <= points[i].high),
            "curve and band ascend");
  }
  if (points.size() > 2000) return;
  const CdfPlot plot{points,
                     curve.domain().discrete(),
                     curve.domain().lower,
                     curve.domain().upper,
                     curve.rows(),
                     curve.plan().privacy,
                     0.95};
  const auto lines = draw_text(plot, 60, 12, true);
  require(!lines.empty() && lines.size() <= 12, "a plot fits its lines");
  require(draw_svg(plot, 300, 200, "a < b & \"c\"").ends_with("</svg>") ||
              draw_svg(plot, 300, 200, "").find("</svg>") != std::string::npos,
          "an SVG is complete");
}

}  // namespace

void check_curve(const CdfCurve& curve) {
  const auto counts = curve.cumulative();
  require(counts.size() == curve.domain().bins, "a count for each bin");
  require(std::ranges::is_sorted(counts) && counts.front() >= 0, "counts ascend from 0");
  const double lower = curve.domain().lower;
  const double upper = curve.domain().upper;
  const double infinity = std::numeric_limits<double>::infinity();
  double before = 0;
  for (const double x : {-infinity, lower, lower / 2 + upper / 2, upper, infinity}) {
    const auto fraction = curve.probability(x);
    require(fraction.has_value() == (curve.rows() > 0), "a fraction if there are rows");
    if (!fraction) continue;
    require(before <= *fraction && *fraction <= 1, "fractions ascend up to 1");
    before = *fraction;
    const double rows = curve.count(-infinity, x);
    require(0 <= rows && rows <= static_cast<double>(curve.rows()), "a count is at most all rows");
  }
  double last = -infinity;
  for (const double q : {0.0, 1e-300, 0.25, 0.5, 0.999999, 1.0}) {
    const auto value = curve.quantile(q);
    require(value.has_value() == (curve.rows() > 0), "a quantile if there are rows");
    if (!value) continue;
    require(lower <= *value && *value <= upper && last <= *value,
            "quantiles ascend within the bounds");
    last = *value;
  }
  check_points(curve, 0);
  check_points(curve, 1e17);
  require(cdf_to_json(curve, nullptr, heap()).ends_with("}"), "JSON is complete");
}

}  // namespace dpquantile::fuzz
