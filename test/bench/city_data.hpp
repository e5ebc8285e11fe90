#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "user_data.hpp"

// Speeds of buses in the grids of a city, generated from a seed.
namespace dpquantile::bench {

struct CityData {
  std::vector<UserRow> rows;
  std::uint32_t grids;
};

// Draws the rows of buses. Every grid has its own speed offset (sd 4 km/h).
class CityBuilder {
 public:
  CityBuilder(std::uint32_t grids, const SpeedLaw& law, Generator& generator)
      : law_(law), generator_(generator), city_{{}, grids} {
    for (std::uint32_t grid = 0; grid < grids; ++grid)
      speed_of_grid_.push_back(draw_normal(generator, 0, kGridSd));
  }

  void add_bus(const std::set<std::uint32_t>& grids, double median_rows, double log_sd) {
    const std::uint64_t user = generator_();
    Speeds speeds(law_, generator_);
    const double of_bus = speeds.of_bus;
    for (const std::uint32_t grid : grids) {
      speeds.of_bus = of_bus + speed_of_grid_[grid];
      const std::uint64_t m = draw_log_normal_rows(generator_, median_rows, log_sd);
      for (std::uint64_t j = 0; j < m; ++j)
        city_.rows.push_back(to_row(user, grid, speeds.draw(generator_)));
    }
  }
  CityData city() const { return city_; }

 private:
  static constexpr double kGridSd = 4;
  SpeedLaw law_;
  Generator& generator_;
  CityData city_;
  std::vector<double> speed_of_grid_;
};

// The grids of a walk between neighbouring grids on a board of columns x rows, at most `most`.
inline std::set<std::uint32_t> draw_route(std::uint32_t columns, std::uint32_t rows,
                                          std::size_t most, Generator& generator) {
  std::set<std::uint32_t> route;
  std::uint32_t x = static_cast<std::uint32_t>(generator() % columns);
  std::uint32_t y = static_cast<std::uint32_t>(generator() % rows);
  while (true) {
    route.insert(y * columns + x);
    if (route.size() >= most) return route;
    switch (generator() % 4) {
      case 0:
        x = std::min(x + 1, columns - 1);
        break;
      case 1:
        x -= x > 0;
        break;
      case 2:
        y = std::min(y + 1, rows - 1);
        break;
      default:
        y -= y > 0;
    }
  }
}

// A city of 6 x 4 grids. The number of grids of a bus is geometric with mean 3 and at most 11. Its
// numbers of rows are log-normal about its own median, which is log-normal, too.
inline CityData draw_city(std::size_t buses, const SpeedLaw& law, Generator& generator) {
  constexpr std::uint32_t kColumns = 6;
  constexpr std::uint32_t kRows = 4;
  constexpr std::size_t kMostGrids = 11;
  CityBuilder builder(kColumns * kRows, law, generator);
  std::geometric_distribution<std::size_t> more_grids(1.0 / 3);
  for (std::size_t bus = 0; bus < buses; ++bus) {
    const std::size_t most = std::min(1 + more_grids(generator), kMostGrids);
    const double median = static_cast<double>(draw_log_normal_rows(generator, 10, 0.8));
    builder.add_bus(draw_route(kColumns, kRows, most, generator), median, 0.5);
  }
  return builder.city();
}

// 12 grids in a line. Most buses are in 1 to 3 grids, with about 10 rows in each. One bus is in all
// grids, with about 200 rows in each.
inline CityData draw_heavy_hitter_city(std::size_t buses, const SpeedLaw& law,
                                       Generator& generator) {
  constexpr std::uint32_t kGrids = 12;
  CityBuilder builder(kGrids, law, generator);
  std::set<std::uint32_t> everywhere;
  for (std::uint32_t grid = 0; grid < kGrids; ++grid) everywhere.insert(grid);
  builder.add_bus(everywhere, 200, 0.2);
  for (std::size_t bus = 1; bus < buses; ++bus) {
    builder.add_bus(draw_route(kGrids, 1, 1 + generator() % 3, generator), 10, 0.5);
  }
  return builder.city();
}

}  // namespace dpquantile::bench
