#include "user_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "expected_mean_error.hpp"
#include "support/chain_limit.hpp"
#include "user_errors.hpp"

namespace dpquantile::bench {

namespace {

constexpr std::size_t kMostSets = 9;

double mean_speed(const RowMoments& moments) {
  return kHighestSpeed * static_cast<double>(moments.sum) / static_cast<double>(moments.count) /
         FixedPoint::kOne;
}

// The data sets of a chain: the buses with the most rows move from a low speed to a high one.
class MovingBuses {
 public:
  MovingBuses(const BusData& data, double epsilon) : data_(data) {
    const UserRows& rows = data.rows();
    CancelPoll cancel(nullptr);
    std::vector<double> means;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      buses_.push_back(i);
      means.push_back(mean_speed(rows.kept(i, rows.count(i), cancel)));
    }
    std::ranges::sort(means);
    low_ = means[means.size() * 5 / 100];
    high_ = means[means.size() * 95 / 100];
    std::ranges::stable_sort(
        buses_, [&](std::size_t a, std::size_t b) { return rows.count(a) > rows.count(b); });
    std::vector<double> shares;
    for (const std::size_t bus : buses_) {
      shares.push_back(static_cast<double>(rows.count(bus)) /
                       static_cast<double>(data.ungrouped().size()));
    }
    limit_ = test::moved_users_limit(shares, high_ - low_, epsilon);
  }

  double limit() const { return limit_.error; }
  std::size_t most_moved() const { return limit_.order.size(); }

  // The data set in which so many of the buses have moved.
  std::unique_ptr<BusData> data(std::size_t moved) const {
    std::map<std::uint64_t, double> speeds;
    for (std::size_t i = 0; i < most_moved(); ++i) {
      speeds[data_.rows().user(buses_[limit_.order[i]])] = i < moved ? high_ : low_;
    }
    std::vector<UserRow> rows = data_.ungrouped();
    for (UserRow& row : rows) {
      const auto found = speeds.find(row.user);
      if (found != speeds.end()) row = to_row(row.user, row.grid, found->second);
    }
    return std::make_unique<BusData>(std::move(rows));
  }

 private:
  const BusData& data_;
  std::vector<std::size_t> buses_;  // by descending numbers of rows
  double low_;
  double high_;
  test::MovedUsersLimit limit_;
};

// For each method its error divided by the limit.
std::vector<double> ratios(const BusDataSets& data, const MovingBuses& buses, double epsilon,
                           RandomStream& random) {
  std::vector<double> sums(std::size(kMethods));
  // Every number of moved buses, 0 .. most_moved(), is equally likely.
  const std::size_t numbers = buses.most_moved() + 1;
  const std::size_t sets = std::min(numbers, kMostSets);
  for (std::size_t set = 0; set < sets; ++set) {
    const std::size_t chance = numbers == sets ? 0 : random.uniform_below(numbers);
    const auto moved = buses.data((set * numbers + chance) / sets);
    ExpectedMeanErrors expected(*moved, data.counts(), random);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (kMethods[i].method == UserMethod::kBounded) continue;
      const UserQuery query = query_for(kMethods[i], data.counts(), epsilon);
      sums[i] += expected.of(query);
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(sets) * buses.limit();
  return sums;
}

}  // namespace

void print_user_limits(const BusDataSets& data, RandomStream& random) {
  std::vector<std::vector<double>> by_epsilon;
  std::printf("%-26s", "limit, some buses moved");
  const auto first = data.set(0);
  for (const double epsilon : kEpsilons) {
    const MovingBuses buses(*first, epsilon);
    by_epsilon.push_back(ratios(data, buses, epsilon, random));
    std::printf(" %7.3f (%3zu)   ", buses.limit(), buses.most_moved());
  }
  std::printf("\n");
  for (std::size_t i = 0; i < std::size(kMethods); ++i) {
    if (kMethods[i].method == UserMethod::kBounded) continue;
    std::printf("%-26s", kMethods[i].name);
    for (const auto& row : by_epsilon) std::printf(" %7.2f %9s", row[i], "times");
    std::printf("\n");
  }
}

}  // namespace dpquantile::bench
