#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/contributions/contribution_bound.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_rows.hpp"

// Speeds of buses, generated from a seed, for the benchmarks of the user-level mechanisms.
namespace dpquantile::bench {

using Generator = std::mt19937_64;

inline constexpr double kHighestSpeed = 65;  // km/h; the lowest is 0

// Speeds are normal about the mean of their bus, which is normal about `mean`, clipped to the
// bounds. Without offsets all rows are independent.
struct SpeedLaw {
  double mean;
  double sd;
  double offset_sd;
};

inline double draw_normal(Generator& generator, double mean, double sd) {
  return mean + sd * std::normal_distribution<double>()(generator);
}

// The moments of speeds after they are clipped to the bounds: the variance of a bus about its own
// mean, averaged over buses, and that of the means.
struct SpeedMoments {
  double variance_within;
  double variance_between;
};

// By sums over 241 points of each of the two normal laws.
inline SpeedMoments moments_of(const SpeedLaw& law) {
  constexpr double kStep = 0.05;
  const auto average = [](auto figure) {
    double sum = 0;
    double weights = 0;
    for (int i = -120; i <= 120; ++i) {
      const double z = kStep * i;
      weights += std::exp(-z * z / 2);
      sum += std::exp(-z * z / 2) * figure(z);
    }
    return sum / weights;
  };
  const auto power_of_bus = [&](double z_of_bus, int power) {
    return average([&](double z) {
      const double speed = law.mean + law.offset_sd * z_of_bus + law.sd * z;
      return std::pow(std::clamp(speed, 0.0, kHighestSpeed), power);
    });
  };
  const double mean = average([&](double z) { return power_of_bus(z, 1); });
  const double squares = average([&](double z) { return power_of_bus(z, 2); });
  const double squares_of_means =
      average([&](double z) { return std::pow(power_of_bus(z, 1), 2); });
  return {squares - squares_of_means, std::max(0.0, squares_of_means - mean * mean)};
}

// The speeds that one bus reports.
struct Speeds {
  SpeedLaw law;
  double of_bus;

  Speeds(const SpeedLaw& speed_law, Generator& generator)
      : law(speed_law), of_bus(draw_normal(generator, speed_law.mean, speed_law.offset_sd)) {}
  double draw(Generator& generator) const {
    return std::clamp(draw_normal(generator, of_bus, law.sd), 0.0, kHighestSpeed);
  }
};

using RowCounts = std::vector<std::uint64_t>;  // m_l

inline std::uint64_t draw_log_normal_rows(Generator& generator, double median, double log_sd) {
  const double rows = median * std::exp(draw_normal(generator, 0, log_sd));
  return static_cast<std::uint64_t>(std::max(1.0, std::round(rows)));
}

inline RowCounts log_normal_rows(std::size_t buses, double median, double log_sd,
                                 Generator& generator) {
  RowCounts rows(buses);
  for (std::uint64_t& m : rows) m = draw_log_normal_rows(generator, median, log_sd);
  return rows;
}

// P[m >= x] = (x / least)^-shape. The last bus has `heavy_share` of all rows.
inline RowCounts heavy_tailed_rows(std::size_t buses, double least, double shape,
                                   double heavy_share, Generator& generator) {
  RowCounts rows;
  double sum = 0;
  std::uniform_real_distribution<double> uniform;
  while (rows.size() + 1 < buses) {
    rows.push_back(
        static_cast<std::uint64_t>(least * std::pow(1 - uniform(generator), -1 / shape)));
    sum += static_cast<double>(rows.back());
  }
  rows.push_back(static_cast<std::uint64_t>(sum * heavy_share / (1 - heavy_share)));
  return rows;
}

// Every bus has `factor` times as many rows.
inline RowCounts sample_scaled(RowCounts rows, std::uint64_t factor) {
  for (std::uint64_t& m : rows) m *= factor;
  return rows;
}

// There are `factor` buses for each bus.
inline RowCounts user_scaled(const RowCounts& rows, std::size_t factor) {
  RowCounts scaled;
  for (const std::uint64_t m : rows) scaled.insert(scaled.end(), factor, m);
  return scaled;
}

inline UserRow to_row(std::uint64_t user, std::uint32_t grid, double speed) {
  return {user, grid, FixedPoint::create(0, kHighestSpeed).units_of(speed)};
}

inline std::vector<UserRow> draw_rows(const RowCounts& rows_per_bus, const SpeedLaw& law,
                                      Generator& generator) {
  std::vector<UserRow> rows;
  for (const std::uint64_t m : rows_per_bus) {
    const std::uint64_t user = generator();
    const Speeds speeds(law, generator);
    for (std::uint64_t j = 0; j < m; ++j) rows.push_back(to_row(user, 0, speeds.draw(generator)));
  }
  return rows;
}

// A dataset with its true mean and variance.
class BusData {
 public:
  explicit BusData(std::vector<UserRow> rows)
      : storage_(std::move(rows)),
        cancel_(nullptr),
        grouped_(storage_, Contribution::kUser, {cancel_, std::pmr::new_delete_resource()}) {
    RowMoments moments;
    for (const UserRow& row : storage_) moments.add(row.value);
    const double count = static_cast<double>(moments.count);
    const double fraction = static_cast<double>(moments.sum) / count / FixedPoint::kOne;
    const double squares = static_cast<double>(moments.squares) / count / FixedPoint::kOne;
    mean_ = kHighestSpeed * fraction;
    variance_ = kHighestSpeed * kHighestSpeed * (squares / FixedPoint::kOne - fraction * fraction);
  }
  BusData(const BusData&) = delete;
  BusData& operator=(const BusData&) = delete;

  const UserRows& rows() const { return grouped_; }
  const std::vector<UserRow>& ungrouped() const { return storage_; }
  double mean() const { return mean_; }
  double variance() const { return variance_; }

 private:
  std::vector<UserRow> storage_;
  CancelPoll cancel_;
  UserRows grouped_;
  double mean_;
  double variance_;
};

// Datasets with the same numbers of rows, made one at a time: they need not all be in memory. In a
// single one chance would decide what is dropped of a few buses with their own offsets.
class BusDataSets {
 public:
  BusDataSets(std::string name, RowCounts rows_per_bus, const SpeedLaw& law, std::uint64_t seed)
      : name_(std::move(name)),
        rows_per_bus_(std::move(rows_per_bus)),
        law_(law),
        seed_(seed),
        counts_(histogram(rows_per_bus_), std::pmr::new_delete_resource()) {}

  const std::string& name() const { return name_; }
  const RowsPerUser& counts() const { return counts_; }
  SpeedMoments moments() const { return moments_of(law_); }
  // The same each time it is called.
  std::unique_ptr<BusData> set(std::uint64_t number) const {
    std::seed_seq seeds{seed_, number};
    Generator generator(seeds);
    return std::make_unique<BusData>(draw_rows(rows_per_bus_, law_, generator));
  }

 private:
  static std::vector<UsersWithRows> histogram(const RowCounts& rows_per_bus) {
    std::vector<UsersWithRows> histogram;
    for (const std::uint64_t m : rows_per_bus) histogram.push_back({m, 1});
    return histogram;
  }

  std::string name_;
  RowCounts rows_per_bus_;
  SpeedLaw law_;
  std::uint64_t seed_;
  RowsPerUser counts_;
};

}  // namespace dpquantile::bench
