// Curves: docs/privacy.md, Theorem 6. A factorization of the prefix sums has noise of many small
// units: replays.cpp looks at it.
#include "core/cdf/cdf.hpp"
#include "exhaustive/checks.hpp"
#include "exhaustive/histogram_of.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::exhaustive {

namespace {

void compare(Report& report, CdfMethod method, std::uint32_t bins,
             const PrivacyParameter& privacy) {
  const CdfPlan plan = choose_cdf_plan(method, bins, privacy);
  const PreparedCdf cdf(plan);
  const std::string name = text("cdf method %d, %u bins, %s %g", static_cast<int>(method), bins,
                                parameter_name(privacy.measure), privacy.value);
  const Following following{.least_chance = report.by_effort(1e-7, 1e-9)};
  const auto data = all_counts(bins, bins > 2 ? 1 : report.by_effort(1, 3));
  const ReleaseCosts costs = costs_of_cdf(plan);
  compare_counts(report, name, data, costs, following, [&](const Counts& counts) {
    const test::TestContext context;
    const auto measured = noisy_measurements(counts, cdf, context);
    Answer answer;
    for (const double number : measured) answer.push_back(static_cast<std::int64_t>(number));
    return answer;
  });
  compare_counts(report, name + ", curve", data, costs, following, [&](const Counts& counts) {
    const test::TestContext context;
    const auto curve = release_cdf(counts, cdf, context);
    return Answer(curve.begin(), curve.end());
  });
}

void trees(Report& report) {
  for (const CdfMethod method : {CdfMethod::kTree, CdfMethod::kBinary, CdfMethod::kHistogram}) {
    for (const std::uint32_t bins : {1U, 2U, 3U, 4U}) {
      const double levels = method == CdfMethod::kBinary ? (bins > 2 ? 3 : bins) : 1;
      compare(report, method, bins, pure(3 * levels));
      if (bins < 4) compare(report, method, bins, zcdp(2 * levels));
    }
  }
}

}  // namespace

std::vector<Check> cdf_checks() {
  return {{"curves", trees}};
}

}  // namespace dpquantile::exhaustive
