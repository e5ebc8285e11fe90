#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench_figures.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"
#include "core/user_level/user_query.hpp"
#include "user_data.hpp"

// Tables of the errors of the user-level mechanisms.
namespace dpquantile::bench {

inline constexpr double kEpsilons[] = {0.1, 0.2, 0.5, 1, 2};

// 'bounded' protects the numbers of rows, so an analyst must guess its max_contributions. Here it
// gets what an analyst does not know: the median m_l, or the m_UB of 'array'.
struct Method {
  const char* name;
  UserMethod method;
  ContributionRule rule;
};

inline constexpr Method kMethods[] = {
    {"baseline", UserMethod::kBaseline, ContributionRule::kOptimal},
    {"array", UserMethod::kArray, ContributionRule::kOptimal},
    {"array, median", UserMethod::kArray, ContributionRule::kMedian},
    {"levy", UserMethod::kLevy, ContributionRule::kOptimal},
    {"levy, median", UserMethod::kLevy, ContributionRule::kMedian},
    {"quantile", UserMethod::kQuantile, ContributionRule::kOptimal},
    {"quantile, median", UserMethod::kQuantile, ContributionRule::kMedian},
    {"quantile-adaptive", UserMethod::kQuantileAdaptive, ContributionRule::kOptimal},
    {"quantile-adaptive, median", UserMethod::kQuantileAdaptive, ContributionRule::kMedian},
    {"auto", UserMethod::kAuto, ContributionRule::kOptimal},
    {"bounded, median", UserMethod::kBounded, ContributionRule::kMedian},
    {"bounded, optimal", UserMethod::kBounded, ContributionRule::kOptimal}};
inline constexpr std::size_t kBaseline = 0;
inline constexpr std::size_t kArray = 1;
inline constexpr std::size_t kArrayMedian = 2;
inline constexpr std::size_t kAuto = 9;
static_assert(kMethods[kAuto].method == UserMethod::kAuto);

// The expected errors on several datasets, the same ones for all methods.
class SetErrors {
 public:
  void add(double error) { errors_.push_back(error); }
  double mean() const { return average().mean(); }
  Average average() const;
  // The mean divided by that of another method, and the standard error of this ratio.
  double ratio_to(const SetErrors& other) const { return mean() / other.mean(); }
  double standard_error_of_ratio_to(const SetErrors& other) const;

 private:
  std::vector<double> errors_;
};

// A Row is by epsilon, Errors are by method and epsilon.
using Row = std::vector<SetErrors>;
using Errors = std::vector<Row>;

// Under each epsilon, and under the rho that accountant 'zcdp' charges for it.
struct MeanErrors {
  Errors pure;
  Errors zcdp;
};

// The source does not compare 'bounded', and 'auto' is one of its methods.
inline bool of_source(const Method& method) {
  return method.method != UserMethod::kBounded && method.method != UserMethod::kAuto;
}

// The source's method with the least error at the epsilon of this index, out of the variants of
// `method` if one is given.
std::size_t best_of_source(const Errors& errors, std::size_t epsilon,
                           std::optional<UserMethod> method = {});

UserQuery query_for(const Method& method, const RowsPerUser& counts, double epsilon);
// The same guarantee of zCDP as the query's epsilon is charged for.
UserQuery with_rho(UserQuery query);

// m_UB, and the source's bound E in km/h on the error of 'array' with it.
std::uint64_t contributions_of(const Method& method, const BusDataSets& data, double epsilon);
double array_bound(const Method& method, const BusDataSets& data, double epsilon);

// The number of datasets for so many trials.
int sets_of(const BusDataSets& data, int trials);

// Computes mean absolute errors and prints them as tables. Standard errors are those of the
// average over datasets.
MeanErrors measure_means(const BusDataSets& data, int trials, RandomStream& random);
void measure_variances(const BusDataSets& data, int trials, RandomStream& random);

// Writes a chart of the errors of a mean.
void plot_means(const Errors& errors, const std::string& title, const std::string& path);

}  // namespace dpquantile::bench
