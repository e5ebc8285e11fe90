#pragma once

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "support/dataset.hpp"
#include "support/quantile_density.hpp"

// The exact joint law of several quantiles on a small value grid: the recursion of
// ApproximateQuantiles, with a numerical integral over every cut. This reference for tests is
// independent of the mechanism.
namespace dpquantile::test {

// A cell for each quantile.
using Cells = std::vector<std::uint32_t>;
using Law = std::map<Cells, Real>;

class QuantilesLaw {
 public:
  QuantilesLaw(const Dataset& data, Real epsilon_per_level)
      : rank_(data), cells_(data.cells), epsilon_(epsilon_per_level) {}

  // The law of ascending, distinct quantiles of a stretch. Quantile `low` is at `begin`, quantile
  // `high` at `end`.
  struct Stretch {
    Real begin;
    Real end;
    Real low;
    Real high;
  };
  Law of(std::span<const double> quantiles, const Stretch& stretch) const {
    if (quantiles.empty()) return {{Cells{}, 1}};
    const QuantileDensity density = middle_density(quantiles, stretch);
    return quantiles.size() == 1 ? of_one(density) : of_several(quantiles, stretch, density);
  }

 private:
  static constexpr unsigned kNodes = 20;
  using Gauss = boost::math::quadrature::gauss<Real, kNodes>;

  static std::size_t middle_of(std::span<const double> quantiles) {
    return (quantiles.size() + 1) / 2 - 1;  // the ceil(m/2)-th
  }
  static Real relative_middle(std::span<const double> quantiles, const Stretch& stretch) {
    return (quantiles[middle_of(quantiles)] - stretch.low) / (stretch.high - stretch.low);
  }
  QuantileDensity middle_density(std::span<const double> quantiles, const Stretch& stretch) const {
    return {rank_, stretch.begin, stretch.end, relative_middle(quantiles, stretch), epsilon_};
  }

  Law of_one(const QuantileDensity& density) const {
    Law law;
    for (std::uint32_t cell = 0; cell < cells_; ++cell) {
      const Real start = static_cast<Real>(cell);
      const Real probability = density.probability(start, start + 1);
      if (probability > 0) law[{cell}] = probability;
    }
    return law;
  }

  Law of_several(std::span<const double> quantiles, const Stretch& stretch,
                 const QuantileDensity& density) const {
    Law law;
    const std::vector<Real> ends = smooth_stretches(quantiles, stretch, density);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      const Real middle = (ends[i] + ends[i + 1]) / 2;
      const Real half = (ends[i + 1] - ends[i]) / 2;
      for (std::size_t j = 0; j < Gauss::abscissa().size(); ++j) {
        const Real offset = half * Gauss::abscissa()[j];
        const Real weight = half * Gauss::weights()[j];
        for (const Real cut : {middle - offset, middle + offset}) {
          add_cut(law, weight * density.density(cut), cut, quantiles, stretch);
        }
      }
    }
    return law;
  }

  void add_cut(Law& law, Real probability, Real cut, std::span<const double> quantiles,
               const Stretch& stretch) const {
    const std::size_t middle = middle_of(quantiles);
    const Law left =
        of(quantiles.first(middle), {stretch.begin, cut, stretch.low, quantiles[middle]});
    const Law right =
        of(quantiles.subspan(middle + 1), {cut, stretch.end, quantiles[middle], stretch.high});
    for (const auto& [below, left_probability] : left) {
      Cells cells = below;
      cells.push_back(static_cast<std::uint32_t>(cut));
      for (const auto& [above, right_probability] : right) {
        cells.resize(middle + 1);
        cells.insert(cells.end(), above.begin(), above.end());
        law[cells] += probability * left_probability * right_probability;
      }
    }
  }

  // The ends of stretches on which the integrand over the cut is smooth. It bends where the density
  // bends, at cells' ends, and where a target of the next level passes the rank of a cell's end.
  std::vector<Real> smooth_stretches(std::span<const double> quantiles, const Stretch& stretch,
                                     const QuantileDensity& density) const {
    const std::size_t middle = middle_of(quantiles);
    const Real q = quantiles[middle];
    std::vector<Real> ends = density.stretch_ends();
    const Real first = rank_.at(stretch.begin);
    const Real last = rank_.at(stretch.end);
    for (std::uint64_t boundary = 0; boundary <= cells_; ++boundary) {
      const Real position = static_cast<Real>(boundary);
      add_inside(ends, position, stretch);
      const Real rank = rank_.at(position);
      if (middle > 0) {
        const Real left = relative_middle(quantiles.first(middle), {0, 0, stretch.low, q});
        if (left > 0) add_rank(ends, first + (rank - first) / left, stretch);
      }
      if (middle + 1 < quantiles.size()) {
        const Real right = relative_middle(quantiles.subspan(middle + 1), {0, 0, q, stretch.high});
        if (right < 1) add_rank(ends, (rank - right * last) / (1 - right), stretch);
      }
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }
  void add_rank(std::vector<Real>& ends, Real rank, const Stretch& stretch) const {
    if (rank < rank_.at(stretch.begin) || rank > rank_.at(stretch.end)) return;
    add_inside(ends, rank_.first_reaching(rank), stretch);
  }
  static void add_inside(std::vector<Real>& ends, Real position, const Stretch& stretch) {
    if (stretch.begin < position && position < stretch.end) ends.push_back(position);
  }

  RealRank rank_;
  std::uint64_t cells_;
  Real epsilon_;
};

// The number of levels of a binary recursion over m quantiles.
inline int levels(std::size_t m) {
  int levels = 0;
  for (; m > 0; m /= 2) ++levels;
  return levels;
}

// The law of ascending, distinct quantiles that together spend epsilon.
inline Law quantiles_law(const Dataset& data, std::span<const double> quantiles, Real epsilon) {
  const Real per_level = epsilon / static_cast<Real>(levels(quantiles.size()));
  return QuantilesLaw(data, per_level).of(quantiles, {0, static_cast<Real>(data.cells), 0, 1});
}

}  // namespace dpquantile::test
