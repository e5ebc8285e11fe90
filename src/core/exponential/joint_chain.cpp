#include "core/exponential/joint_chain.hpp"

#include <algorithm>
#include <cmath>

#include "core/privacy/weighted_sampler.hpp"

namespace dpquantile {

JointChain::JointChain(std::span<const RankSlot> slots, const SlotWidths& widths, double records,
                       const JointUtility& utility, double limit, std::pmr::memory_resource* memory)
    : records_(records),
      utility_(utility),
      rows_(memory),
      slots_(memory),
      rising_(memory),
      falling_(memory),
      middles_(memory),
      factors_(memory),
      messages_(memory) {
  const std::size_t most = utility.quantiles() * (slots.size() + 1);
  slots_.reserve(most);
  rows_.reserve(utility.quantiles());
  for (std::size_t j = 1; j <= utility.quantiles(); ++j) {
    const std::size_t offset = slots_.size();
    join(window_of(slots, j, limit), widths, utility.expected_before(j, records));
    rows_.push_back({offset, slots_.size() - offset});
    slots_.emplace_back();  // the last message of a row has no slot
  }
  const double lambda = utility.lambda();
  for (auto* table : {&rising_, &falling_, &middles_, &factors_}) table->resize(slots_.size());
  for (std::size_t j = 1; j <= utility.quantiles(); ++j) {
    const double target = utility.expected_before(j, records);
    const auto [offset, size] = rows_[j - 1];
    for (std::size_t i = offset; i < offset + size; ++i) {
      const RankSlot& slot = slots_[i];
      middles_[i] = slot.middle;
      factors_[i] = slot.measure * std::exp(2 * lambda * slot.half_range);
      rising_[i] = std::exp(lambda * (slot.middle - target));
      falling_[i] = 1 / rising_[i];
    }
  }
}

// For some s, the ranks x with |x - q s| + |n - x - (1 - q) s| <= limit.
std::span<const RankSlot> JointChain::window_of(std::span<const RankSlot> slots,
                                                std::size_t quantile, double limit) const {
  const double q = utility_.expected_before(quantile, 1);
  const double target = utility_.expected_before(quantile, records_);
  const double low = target - limit * std::max(1 - q, 0.5);
  const double high = target + limit * std::max(q, 0.5);
  const auto first = std::ranges::lower_bound(
      slots, low, {}, [](const RankSlot& slot) { return slot.middle + slot.half_range; });
  const auto end = std::ranges::upper_bound(
      slots, high, {}, [](const RankSlot& slot) { return slot.middle - slot.half_range; });
  return {first, end};
}

void JointChain::join(std::span<const RankSlot> window, const SlotWidths& widths, double target) {
  double low = 0;  // the least rank of the newest slot
  bool is_first = true;
  for (const RankSlot& slot : window) {
    const double high = slot.middle + slot.half_range;
    const double distance = std::max({low - target, target - high, 0.0});
    const bool fits =
        high - low <= std::max(widths.finest, (distance - widths.near) * widths.growth);
    if (!is_first && fits && slots_.back().positions.end == slot.positions.begin) {
      RankSlot& joined = slots_.back();
      joined.positions.end = slot.positions.end;
      joined.middle = (low + high) / 2;
      joined.half_range = (high - low) / 2;
      joined.measure += slot.measure;
    } else {
      slots_.push_back(slot);
      low = slot.middle - slot.half_range;
      is_first = false;
    }
  }
}

std::size_t JointChain::slots_below(const Row& row, double edge) const {
  const auto first = middles_.begin() + static_cast<std::ptrdiff_t>(row.offset);
  const auto end = first + static_cast<std::ptrdiff_t>(row.size);
  return static_cast<std::size_t>(std::upper_bound(first, end, edge) - first);
}

JointChain::Messages JointChain::filter(double s, CancelPoll& cancel) {
  const double lambda = utility_.lambda();
  const std::size_t b = rows_.size();
  const std::size_t offset = messages_.size();
  messages_.resize(offset + rising_.size());
  cancel.tick(rising_.size());
  // A slot of the row before at rank x has the kernel exp(-lambda |y - y_before + shift|), with the
  // shift d (n - s). The row before the first is one slot at rank 0.
  const std::span<Message> all = std::span(messages_).subspan(offset);
  for (std::size_t j = 0; j < b; ++j) {
    const auto [row_offset, size] = rows_[j];
    const std::span<Message> to = all.subspan(row_offset, size + 1);
    const double up = std::exp(lambda * utility_.expected(j, records_ - s));
    const double down = 1 / up;
    const double expected = utility_.expected(j, s);
    const double* const rising = &rising_[row_offset];
    const double* const falling = &falling_[row_offset];
    const double* const middles = &middles_[row_offset];
    const double* const factors = &factors_[row_offset];
    double sum_before = 0;
    const auto put = [&](std::size_t i, double weight) {
      to[i].weight = weight;
      to[i].before = sum_before;
      sum_before += weight * rising[i];
    };
    if (j == 0) {
      for (std::size_t i = 0; i < size; ++i) {
        put(i, factors[i] * (middles[i] >= expected ? falling[i] * down : rising[i] * up));
      }
    } else {
      const auto [from_offset, count] = rows_[j - 1];
      const Message* const from = &all[from_offset];
      const double* const from_middles = &middles_[from_offset];
      std::size_t split = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double edge = middles[i] - expected;
        while (split < count && from_middles[split] <= edge) ++split;
        put(i, factors[i] *
                   (falling[i] * down * from[split].before + rising[i] * up * from[split].from));
      }
    }
    to[size] = {0, sum_before, 0};
    double sum_from = 0;
    for (std::size_t i = size; i-- > 0;) {
      sum_from += to[i].weight * falling[i];
      to[i].from = sum_from;
    }
  }
  const Row& last = rows_[b - 1];
  const std::size_t below = slots_below(last, records_ - utility_.expected(b, s));
  const double up = std::exp(lambda * utility_.expected(b, records_ - s));
  const Message& at = all[last.offset + below];
  return {s, at.before / up + at.from * up, offset};
}

bool JointChain::draw_ascending(const Messages& messages, RandomStream& random,
                                std::span<std::size_t> path) const {
  double after = records_;  // the rank of the slot after
  for (std::size_t j = path.size(); j > 0; --j) {
    const Row& row = rows_[j - 1];
    const Message* const of_row = &messages_[messages.offset + row.offset];
    const double edge = after - utility_.expected(j, messages.s);
    const double up = std::exp(utility_.lambda() * (edge - utility_.expected_before(j, records_)));
    const double down = 1 / up;
    const std::size_t split = slots_below(row, edge);
    const double below = of_row[split].before * down;
    const double total = below + of_row[split].from * up;
    const auto before = [&](std::size_t k) {
      return k <= split ? of_row[k].before * down
                        : below + (of_row[split].from - of_row[k].from) * up;
    };
    const auto weight = [&](std::size_t k) {
      const std::size_t at = row.offset + k;
      return of_row[k].weight * (k < split ? rising_[at] * down : falling_[at] * up);
    };
    path[j - 1] = row.offset + draw_weighted_index(row.size, before, weight, total, random);
    if (j < path.size() && slot(path[j - 1]).positions.begin >= slot(path[j]).positions.end) {
      return false;
    }
    after = middles_[path[j - 1]];
  }
  return true;
}

double JointChain::cost(std::span<const std::size_t> path, double s) const {
  double previous = 0;
  double sum = 0;
  for (std::size_t k = 0; k < path.size(); ++k) {
    const RankSlot& slot = slots_[path[k]];
    sum += std::abs(slot.middle - previous - utility_.expected(k, s)) - 2 * slot.half_range;
    previous = slot.middle;
  }
  return sum + std::abs(records_ - previous - utility_.expected(path.size(), s));
}

}  // namespace dpquantile
