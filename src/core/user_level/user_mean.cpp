#include "core/user_level/user_mean.hpp"

#include <algorithm>

#include "core/contributions/best_fit.hpp"
#include "core/contributions/contribution_bound.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/bounded_sums.hpp"

namespace dpquantile {

namespace {

constexpr ClippingInterval kWholeRange{0, FixedPoint::kOne};
constexpr double kFixedTail = 0.1;

// The tail at which clipping one more array costs as much as the noise saves: with T arrays clipped
// on a side, shrinking the interval by d moves the mean by at most T d / K and the noise of scale
// (b - a) / (K epsilon) by d / (K epsilon), so T = 1 / epsilon (Amin et al. 2019).
double adaptive_tail(std::size_t arrays, double epsilon_for_mean) {
  return std::min(0.5, 1 / (epsilon_for_mean * static_cast<double>(arrays)));
}

// 'levy' and the 'quantile' methods, on data with rows.
class ClippedArrays {
 public:
  ClippedArrays(const UserRows& rows, const UserQuery& query, std::uint64_t bound,
                const MechanismContext& context)
      : arrays_(fill_arrays(rows, bound, context)),
        bound_(bound),
        query_(query),
        context_(context) {}

  std::uint32_t mean() {
    if (query_.method == UserMethod::kLevy) return levy();
    const bool adaptive = query_.method == UserMethod::kQuantileAdaptive;
    const double tail = adaptive ? adaptive_tail(arrays_.size(), epsilon_of_part()) : kFixedTail;
    return clipped(draw_quantile_interval(arrays_, tail, epsilon_of_part(), context_),
                   kPartsWithInterval);
  }

 private:
  std::uint32_t levy() {
    const std::uint32_t half_width = levy_half_width(arrays_.size(), bound_);
    if (levy_interval_is_public(half_width, arrays_.size(), query_.epsilon)) {
      return clipped(kWholeRange, 1);
    }
    return clipped(draw_levy_interval(arrays_, half_width, epsilon_of_part(), context_),
                   kPartsWithInterval);
  }

  double epsilon_of_part() const { return query_.epsilon / kPartsWithInterval; }

  // Spends epsilon / parts on the mean.
  std::uint32_t clipped(ClippingInterval interval, std::uint64_t parts) {
    return laplace_mechanism_within(FixedPoint::kOne, clipped_mean(arrays_, interval),
                                    rational_epsilon(query_.epsilon), parts, context_.random);
  }

  std::pmr::vector<FilledArray> arrays_;
  std::uint64_t bound_;
  const UserQuery& query_;
  MechanismContext context_;
};

}  // namespace

std::uint32_t user_mean(const UserRows& rows, const UserQuery& query,
                        const MechanismContext& context) {
  check_user_query(query);
  if (query.method == UserMethod::kBounded) {
    return bounded_mean(rows, query.max_contributions, query.epsilon, context);
  }

  const RowsPerUser counts(rows, context);
  const std::uint64_t bound = mean_contribution_bound(query, counts);
  if (!clips_array_means(query.method) || counts.rows() == 0) {
    return laplace_mechanism_within(FixedPoint::kOne, kept_mean(rows, bound, context.cancel),
                                    rational_epsilon(query.epsilon), 1, context.random);
  }
  return ClippedArrays(rows, query, bound, context).mean();
}

IntegerQuery kept_mean(const UserRows& rows, std::uint64_t bound, CancelPoll& cancel) {
  if (rows.size() == 0) return {FixedPoint::kOne / 2, mean_sensitivity(1, 1)};
  const auto [moments, most] = rows.kept(bound, cancel);
  return {moments.sum / moments.count, mean_sensitivity(moments.count, most)};
}

std::pmr::vector<FilledArray> fill_arrays(const UserRows& rows, std::uint64_t bound,
                                          const Workspace& work) {
  std::pmr::vector<std::uint64_t> kept_rows(work.memory);
  kept_rows.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    work.cancel.tick();
    kept_rows.push_back(std::min(rows.count(i), bound));
  }
  const Packing packing = best_fit(kept_rows, bound, work);
  std::pmr::vector<FilledArray> arrays(work.memory);
  arrays.reserve(packing.fills.size());
  for (const std::uint64_t fill : packing.fills) arrays.push_back({fill, 0});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    arrays[packing.array_of[i]].sum += rows.kept(i, bound, work.cancel).sum;
  }
  return arrays;
}

IntegerQuery clipped_mean(std::span<const FilledArray> arrays, ClippingInterval interval) {
  std::uint64_t rows = 0;
  std::uint64_t fullest = 0;
  std::uint64_t sum = 0;
  for (const FilledArray& array : arrays) {
    sum += std::clamp(array.sum, interval.low * array.rows, interval.high * array.rows);
    rows += array.rows;
    fullest = std::max(fullest, array.rows);
  }
  const std::uint64_t largest_change = fullest * (interval.high - interval.low);
  return {sum / rows, (largest_change + rows - 1) / rows};
}

}  // namespace dpquantile
