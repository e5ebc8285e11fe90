#include "core/user_level/user_mean.hpp"

#include <algorithm>

#include "core/contributions/best_fit.hpp"
#include "core/contributions/contribution_bound.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/auto_method.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/user_noise.hpp"
#include "core/user_level/window_interval.hpp"

namespace dpquantile {

namespace {

constexpr ClippingInterval kWholeRange{0, FixedPoint::kOne};
// 'levy' and the 'quantile' methods, on data with rows.
class ClippedArrays {
 public:
  ClippedArrays(const UserRows& rows, const UserQuery& query, std::uint64_t bound,
                const MechanismContext& context)
      : arrays_(fill_arrays(rows, bound, context)),
        bound_(bound),
        query_(query),
        budget_(query.privacy),
        context_(context) {}

  std::uint32_t mean() { return query_.method == UserMethod::kLevy ? levy() : quantile(); }

 private:
  std::uint32_t levy() {
    const std::uint32_t half_width = levy_half_width(arrays_.size(), bound_);
    const unsigned parts = levy_interval_parts(half_width, arrays_.size(), budget_);
    if (parts == 0) return clipped(kWholeRange, 0);
    return clipped(
        draw_levy_interval(arrays_, half_width, interval_epsilon(budget_, parts), context_), parts);
  }

  std::uint32_t quantile() {
    const double clipped_means = clipped_target(query_.method, budget_);
    const WindowPlan plan = plan_windows(arrays_.size(), clipped_means, budget_);
    if (plan.parts == 0) return clipped(kWholeRange, 0);
    const double epsilon = interval_epsilon(budget_, plan.parts);
    return clipped(draw_window_interval(arrays_, plan, epsilon, context_), plan.parts);
  }

  // The interval has spent `spent` parts; the mean spends the rest.
  std::uint32_t clipped(ClippingInterval interval, unsigned spent) {
    return noisy_statistic(FixedPoint::kOne, clipped_mean(arrays_, interval),
                           share_of(budget_, kBudgetParts - spent), 1, context_.random);
  }

  std::pmr::vector<FilledArray> arrays_;
  std::uint64_t bound_;
  const UserQuery& query_;
  PrivacyParameter budget_;
  MechanismContext context_;
};

}  // namespace

std::uint32_t user_mean(const UserRows& rows, const UserQuery& asked,
                        const MechanismContext& context) {
  check_user_query(asked);
  if (asked.method == UserMethod::kBounded) {
    return bounded_mean(rows, asked.max_contributions, asked.privacy, context);
  }

  const RowsPerUser counts(rows, context);
  const UserQuery query = chosen_mean_query(asked, counts);
  const std::uint64_t bound = mean_contribution_bound(query, counts);
  if (!clips_array_means(query.method) || counts.rows() == 0) {
    return noisy_statistic(FixedPoint::kOne, kept_mean(rows, bound, context.cancel), query.privacy,
                           1, context.random);
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
