#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/contributions/contribution_bound.hpp"
#include "core/privacy/random.hpp"
#include "core/user_level/clipping_interval.hpp"
#include "core/user_level/user_query.hpp"
#include "core/user_level/window_interval.hpp"
#include "user_data.hpp"

// The mean absolute error of user_mean() on given data, without draws: the noise is integrated in
// closed form, and a private interval is summed over by its exact law.
namespace dpquantile::bench {

// Arrays, and figures by which clipping them to an interval takes no time.
class ClippedArrays {
 public:
  explicit ClippedArrays(std::vector<FilledArray> arrays);

  const std::vector<FilledArray>& arrays() const { return arrays_; }
  // How many array means lie below each end of a cell of the windows.
  const std::vector<std::uint64_t>& means_below() const { return means_below_; }
  // The sum of all arrays, each clipped to an interval between two ends of cells; all their rows,
  // and those of the fullest.
  double clipped_sum(std::uint32_t begin, std::uint32_t end) const;
  double rows() const { return rows_below_.back(); }
  double fullest() const { return fullest_; }

 private:
  std::vector<FilledArray> arrays_;
  std::vector<std::uint64_t> means_below_;
  std::vector<double> rows_below_;  // of the arrays whose means lie below
  std::vector<double> sums_below_;
  double fullest_ = 0;
};

// The errors on one dataset, which must outlive this object.
class ExpectedMeanErrors {
 public:
  ExpectedMeanErrors(const BusData& data, const RowsPerUser& counts, RandomStream& random)
      : data_(data), counts_(counts), random_(random) {}

  // In km/h. For 'bounded' it is the error of one draw.
  double of(const UserQuery& asked);

 private:
  double of_draw(const UserQuery& query) const;
  double of_kept(const UserQuery& query, std::uint64_t bound) const;
  double of_levy(const UserQuery& query, std::uint64_t bound);
  double of_quantile(const UserQuery& query, std::uint64_t bound);
  const ClippedArrays& arrays(std::uint64_t bound);

  const BusData& data_;
  const RowsPerUser& counts_;
  RandomStream& random_;
  std::map<std::uint64_t, ClippedArrays> arrays_;
};

}  // namespace dpquantile::bench
