#include "user_errors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/user_noise.hpp"
#include "core/user_level/user_variance.hpp"
#include "expected_mean_error.hpp"
#include "line_chart.hpp"
#include "user_limits.hpp"

namespace dpquantile::bench {

namespace {

// What has no expected error is drawn so many times on each dataset.
constexpr int kDrawsPerSet = 8;
// Sets of more rows than this are fewer.
constexpr double kManyRows = 200'000;
constexpr int kLeastSets = 6;

double draw_variance_error(const BusData& data, const UserQuery& query, RandomStream& random) {
  CancelPoll cancel(nullptr);
  double sum = 0;
  for (int i = 0; i < kDrawsPerSet; ++i) {
    const std::uint32_t units =
        user_variance(data.rows(), query, {random, cancel, std::pmr::new_delete_resource()});
    sum += std::abs(FixedPoint::create(0, kHighestSpeed).variance_of(units) - data.variance());
  }
  return sum / kDrawsPerSet;
}

double mean_error(ExpectedMeanErrors& expected, const UserQuery& query) {
  const int draws = query.method == UserMethod::kBounded ? kDrawsPerSet : 1;
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += expected.of(query);
  return sum / draws;
}

bool has_variance(const Method& method) {
  return method.method == UserMethod::kBaseline || method.method == UserMethod::kArray ||
         method.method == UserMethod::kBounded;
}

Errors no_errors() {
  return {std::size(kMethods), Row(std::size(kEpsilons))};
}

// --- Tables --------------------------------------------------------------------------------------

void print_head(const char* what, const BusDataSets& data, int sets) {
  const RowsPerUser& counts = data.counts();
  std::printf("\n%s: %s\n", what, data.name().c_str());
  std::printf("%llu buses, %llu rows, median m_l %llu, most %llu; %d datasets\n",
              static_cast<unsigned long long>(counts.users()),
              static_cast<unsigned long long>(counts.rows()),
              static_cast<unsigned long long>(median_bound(counts)),
              static_cast<unsigned long long>(counts.most()), sets);
  std::printf("%-26s", "epsilon");
  for (const double epsilon : kEpsilons) std::printf(" %7g %9s", epsilon, "");
  std::printf("\n");
}

void print_row(const char* name, const Row& errors) {
  std::printf("%-26s", name);
  for (const SetErrors& error : errors) {
    std::printf(" %7.3f +- %-6.3f", error.mean(), error.average().standard_error());
  }
  std::printf("\n");
  std::fflush(stdout);
}

// 'auto' beside the best of the source.
void print_auto(const Errors& errors) {
  std::printf("%-26s", "best of the source");
  for (std::size_t j = 0; j < std::size(kEpsilons); ++j)
    std::printf(" %-17.17s", kMethods[best_of_source(errors, j)].name);
  std::printf("\n%-26s", "auto / best of the source");
  for (std::size_t j = 0; j < std::size(kEpsilons); ++j) {
    const SetErrors& best = errors[best_of_source(errors, j)][j];
    const SetErrors& of_auto = errors[kAuto][j];
    std::printf(" %7.3f +- %-6.3f", of_auto.ratio_to(best),
                of_auto.standard_error_of_ratio_to(best));
  }
  std::printf("\n");
}

void print_foot(const BusDataSets& data) {
  std::printf("%-26s", "bound E of array");
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

Average SetErrors::average() const {
  Average average;
  for (const double error : errors_) average.add(error);
  return average;
}

double SetErrors::standard_error_of_ratio_to(const SetErrors& other) const {
  const double ratio = ratio_to(other);
  Average excess;
  for (std::size_t i = 0; i < errors_.size(); ++i)
    excess.add(errors_[i] - ratio * other.errors_[i]);
  return excess.standard_error() / other.mean();
}

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

UserQuery with_rho(UserQuery query) {
  query.privacy = zcdp(*user_cost(query.privacy).rho);
  return query;
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

int sets_of(const BusDataSets& data, int trials) {
  const double share = kManyRows / static_cast<double>(data.counts().rows());
  return std::max(kLeastSets, static_cast<int>(trials * std::min(1.0, share) / kDrawsPerSet));
}

MeanErrors measure_means(const BusDataSets& data, int trials, RandomStream& random) {
  const int sets = sets_of(data, trials);
  MeanErrors errors{no_errors(), no_errors()};
  for (int set = 0; set < sets; ++set) {
    const auto buses = data.set(static_cast<std::uint64_t>(set));
    ExpectedMeanErrors expected(*buses, data.counts(), random, data.moments());
    for (std::size_t i = 0; i < std::size(kMethods); ++i) {
      for (std::size_t j = 0; j < std::size(kEpsilons); ++j) {
        const UserQuery query = query_for(kMethods[i], data.counts(), kEpsilons[j]);
        errors.pure[i][j].add(mean_error(expected, query));
        if (of_source(kMethods[i]) || i == kAuto)
          errors.zcdp[i][j].add(expected.of(with_rho(query)));
      }
    }
  }
  print_head("Mean absolute error of the mean in km/h", data, sets);
  for (std::size_t i = 0; i < std::size(kMethods); ++i) print_row(kMethods[i].name, errors.pure[i]);
  print_auto(errors.pure);
  print_foot(data);
  std::printf("the same under rho\n");
  for (std::size_t i = 0; i <= kAuto; ++i) print_row(kMethods[i].name, errors.zcdp[i]);
  print_auto(errors.zcdp);
  print_user_limits(data, random);
  return errors;
}

void measure_variances(const BusDataSets& data, int trials, RandomStream& random) {
  const int sets = sets_of(data, trials);
  Errors errors = no_errors();
  for (int set = 0; set < sets; ++set) {
    const auto buses = data.set(static_cast<std::uint64_t>(set));
    for (std::size_t i = 0; i < std::size(kMethods); ++i) {
      if (!has_variance(kMethods[i])) continue;
      for (std::size_t j = 0; j < std::size(kEpsilons); ++j) {
        const UserQuery query = query_for(kMethods[i], data.counts(), kEpsilons[j]);
        errors[i][j].add(draw_variance_error(*buses, query, random));
      }
    }
  }
  print_head("Mean absolute error of the variance in (km/h)^2", data, sets);
  for (std::size_t i = 0; i < std::size(kMethods); ++i)
    if (has_variance(kMethods[i])) print_row(kMethods[i].name, errors[i]);
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
