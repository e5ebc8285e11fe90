#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  // The sum of all arrays, each clipped to an interval between two ends of cells
  double clipped_sum(std::uint32_t begin, std::uint32_t end) const;
  // The mean of all their rows, not clipped.
  double mean() const { return sums_below_.back() / rows(); }
  double rows() const { return rows_below_.back(); }
  // The rows of the fullest array
  double fullest() const { return fullest_; }

 private:
  std::vector<FilledArray> arrays_;
  std::vector<std::uint64_t> means_below_;
  std::vector<double> rows_below_;  // of the arrays whose means lie below
  std::vector<double> sums_below_;
  double fullest_ = 0;
};

// In FixedPoint units; the standard deviation is 0 if it is known.
struct TrueMean {
  double expected;
  double sd;
};

// The errors on one dataset, which must outlive this object.
//
// With the moments of the law that the dataset comes from, the true mean is not that of the
// dataset. It is normal about the mean of the kept rows, as the law says: rows that are left out
// move it by a random number that has hardly to do with the arrays of the others. The errors of few
// datasets then have the average of many. `bounded` is always drawn and has the dataset's own mean.
class ExpectedMeanErrors {
 public:
  ExpectedMeanErrors(const BusData& data, const RowsPerUser& counts, RandomStream& random,
                     std::optional<SpeedMoments> law = {})
      : data_(data), counts_(counts), random_(random), law_(law) {}

  // In km/h. For 'bounded' it is the error of one draw.
  double of(const UserQuery& asked);

 private:
  double of_draw(const UserQuery& query) const;
  double of_kept(const UserQuery& query, std::uint64_t bound) const;
  double of_levy(const UserQuery& query, std::uint64_t bound);
  double of_quantile(const UserQuery& query, std::uint64_t bound);
  const ClippedArrays& arrays(std::uint64_t bound);
  // The true mean, if `kept` is that of the rows kept with this bound.
  TrueMean true_mean(double kept, std::uint64_t bound) const;

  const BusData& data_;
  const RowsPerUser& counts_;
  RandomStream& random_;
  std::optional<SpeedMoments> law_;
  std::map<std::uint64_t, ClippedArrays> arrays_;
};

}  // namespace dpquantile::bench
