#include "user_errors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/user_noise.hpp"
#include "core/user_level/user_variance.hpp"
#include "line_chart.hpp"
#include "user_limits.hpp"

namespace dpquantile::bench {

namespace {

// The number of draws per trial. A draw takes time in proportion to the rows.
constexpr double kRowsPerTrial = 50'000;
constexpr double kLeastDrawsPerTrial = 0.25;
constexpr double kMostDrawsPerTrial = 4;

int draws_on(const BusDataSets& data, int trials) {
  const double per_trial = std::clamp(kRowsPerTrial / static_cast<double>(data.counts().rows()),
                                      kLeastDrawsPerTrial, kMostDrawsPerTrial);
  const auto sets = static_cast<double>(data.sets().size());
  return std::max(2, static_cast<int>(trials * per_trial / sets));
}

double draw_mean_error(const BusData& data, const UserQuery& query, RandomStream& random) {
  CancelPoll cancel(nullptr);
  const std::uint32_t units =
      user_mean(data.rows(), query, {random, cancel, std::pmr::new_delete_resource()});
  return std::abs(FixedPoint::create(0, kHighestSpeed).value_of(units) - data.mean());
}

double draw_variance_error(const BusData& data, const UserQuery& query, RandomStream& random) {
  CancelPoll cancel(nullptr);
  const std::uint32_t units =
      user_variance(data.rows(), query, {random, cancel, std::pmr::new_delete_resource()});
  return std::abs(FixedPoint::create(0, kHighestSpeed).variance_of(units) - data.variance());
}

// Returns the errors at kEpsilons, or at the rhos that accountant 'zcdp' charges for them.
template <class Draw>
Row measure(const BusDataSets& data, const Method& method, int draws, RandomStream& random,
            Draw draw, bool with_rho = false) {
  Row errors;
  for (const double epsilon : kEpsilons) {
    UserQuery query = query_for(method, data.counts(), epsilon);
    if (with_rho) query.privacy = zcdp(*user_cost(query.privacy).rho);
    Average average;
    for (const auto& set : data.sets()) {
      for (int i = 0; i < draws; ++i) average.add(draw(*set, query, random));
    }
    errors.push_back(average);
  }
  return errors;
}

// --- Tables --------------------------------------------------------------------------------------

void print_head(const char* what, const BusDataSets& data, int draws) {
  const RowsPerUser& counts = data.counts();
  std::printf("\n%s: %s\n", what, data.name().c_str());
  std::printf("%llu buses, %llu rows, median m_l %llu, most %llu; datasets %zu, draws on each %d\n",
              static_cast<unsigned long long>(counts.users()),
              static_cast<unsigned long long>(counts.rows()),
              static_cast<unsigned long long>(median_bound(counts)),
              static_cast<unsigned long long>(counts.most()), data.sets().size(), draws);
  std::printf("%-26s", "epsilon");
  for (const double epsilon : kEpsilons) std::printf(" %7g %9s", epsilon, "");
  std::printf("\n");
}

void print_row(const char* name, const Row& errors) {
  std::printf("%-26s", name);
  for (const Average& error : errors) {
    std::printf(" %7.3f +- %-6.3f", error.mean(), error.standard_error());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_foot(const BusDataSets& data, const Errors& errors) {
  std::printf("%-26s", "best of the source");
  for (std::size_t j = 0; j < std::size(kEpsilons); ++j)
    std::printf(" %-17.17s", kMethods[best_of_source(errors, j)].name);
  std::printf("\n%-26s", "bound E of array");
  for (const double epsilon : kEpsilons) {
    std::printf(" %7.3f %9s", array_bound(kMethods[kArray], data, epsilon), "");
  }
  std::printf("\n%-26s", "m_UB of array");
  for (const double epsilon : kEpsilons) {
    const auto bound = contributions_of(kMethods[kArray], data, epsilon);
    std::printf(" %7llu %9s", static_cast<unsigned long long>(bound), "");
  }
  std::printf("\nm_UB of levy and the quantiles %llu; with 'median' %llu\n",
              static_cast<unsigned long long>(array_concentration_bound(data.counts())),
              static_cast<unsigned long long>(median_bound(data.counts())));
}

// The chart omits the median variants of 'levy' and the quantiles.
bool is_plotted(const Method& method) {
  return method.rule == ContributionRule::kOptimal || method.method == UserMethod::kArray ||
         method.method == UserMethod::kBounded;
}

}  // namespace

std::size_t best_of_source(const Errors& errors, std::size_t epsilon,
                           std::optional<UserMethod> method) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!of_source(kMethods[i]) || (method && kMethods[i].method != *method)) continue;
    if (!best || errors[i][epsilon].mean() < errors[*best][epsilon].mean()) best = i;
  }
  return *best;
}

UserQuery query_for(const Method& method, const RowsPerUser& counts, double epsilon) {
  if (method.method != UserMethod::kBounded) return {method.method, method.rule, 0, pure(epsilon)};
  const std::uint64_t bound = method.rule == ContributionRule::kMedian
                                  ? median_bound(counts)
                                  : least_mean_error_bound(counts, epsilon);
  return {method.method, ContributionRule::kFixed, bound, pure(epsilon)};
}

std::uint64_t contributions_of(const Method& method, const BusDataSets& data, double epsilon) {
  return mean_contribution_bound(query_for(method, data.counts(), epsilon), data.counts());
}

double array_bound(const Method& method, const BusDataSets& data, double epsilon) {
  const RowsPerUser& counts = data.counts();
  const std::uint64_t bound = contributions_of(method, data, epsilon);
  const std::uint64_t kept = counts.kept(bound);
  const double noise = mean_sensitivity_fraction(kept, std::min(bound, counts.most())) / epsilon;
  return kHighestSpeed * (mean_left_out_error(counts.rows(), kept) + noise);
}

Errors measure_means(const BusDataSets& data, int trials, RandomStream& random) {
  const int draws = draws_on(data, trials);
  print_head("Mean absolute error of the mean in km/h", data, draws);
  Errors errors;
  for (const Method& method : kMethods) {
    errors.push_back(measure(data, method, draws, random, draw_mean_error));
    print_row(method.name, errors.back());
  }
  for (const std::size_t i : {kArrayMedian, kAuto}) {
    const std::string name = std::string(kMethods[i].name) + ", rho";
    print_row(name.c_str(), measure(data, kMethods[i], draws, random, draw_mean_error, true));
  }
  print_foot(data, errors);
  print_user_limits(data, std::max(2, draws / 4), random);
  return errors;
}

void measure_variances(const BusDataSets& data, int trials, RandomStream& random) {
  const int draws = draws_on(data, trials);
  print_head("Mean absolute error of the variance in (km/h)^2", data, draws);
  for (const Method& method : kMethods) {
    const bool applies = method.method == UserMethod::kBaseline ||
                         method.method == UserMethod::kArray ||
                         method.method == UserMethod::kBounded;
    if (applies) print_row(method.name, measure(data, method, draws, random, draw_variance_error));
  }
}

void plot_means(const Errors& errors, const std::string& title, const std::string& path) {
  LineChart chart{title, "", "ε", "mean absolute error of the mean in km/h", {}};
  for (std::size_t i = 0; i < std::size(kMethods); ++i) {
    if (!is_plotted(kMethods[i])) continue;
    ChartSeries series{kMethods[i].name, {}, kMethods[i].method == UserMethod::kBounded};
    for (std::size_t j = 0; j < std::size(kEpsilons); ++j)
      series.points.push_back({kEpsilons[j], errors[i][j].mean()});
    chart.series.push_back(series);
  }
  write_line_chart(chart, path);
}

}  // namespace dpquantile::bench
