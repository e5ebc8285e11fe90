#include "core/exponential/joint_chain.hpp"

#include <algorithm>
#include <cmath>

#include "core/privacy/weighted_sampler.hpp"

namespace dpquantile {

JointChain::JointChain(std::span<const RankSlot> slots, double records, const JointUtility& utility,
                       double limit, std::pmr::memory_resource* memory)
    : slots_(slots),
      records_(records),
      utility_(utility),
      rows_(memory),
      rising_(memory),
      falling_(memory),
      middles_(memory),
      factors_(memory),
      messages_(memory) {
  const double lambda = utility.lambda();
  middles_.reserve(slots.size());
  factors_.reserve(slots.size());
  for (const RankSlot& slot : slots) {
    middles_.push_back(slot.middle);
    factors_.push_back(slot.measure * std::exp(2 * lambda * slot.half_range));
  }
  std::size_t size = 0;
  for (std::size_t j = 1; j <= utility.quantiles(); ++j) {
    rows_.push_back({window_of(j, limit), size});
    size += rows_.back().window.size() + 1;
  }
  rising_.reserve(size);
  falling_.reserve(size);
  for (std::size_t j = 1; j <= utility.quantiles(); ++j) {
    const double target = utility.expected_before(j, records);
    const IndexRange window = rows_[j - 1].window;
    for (std::size_t i = window.first; i < window.end; ++i) {
      const double rise = std::exp(lambda * (slots[i].middle - target));
      rising_.push_back(rise);
      falling_.push_back(1 / rise);
    }
    rising_.push_back(0);
    falling_.push_back(0);
  }
}

// For some s, the ranks x with |x - q s| + |n - x - (1 - q) s| <= limit.
IndexRange JointChain::window_of(std::size_t quantile, double limit) const {
  const double q = utility_.expected_before(quantile, 1);
  const double target = utility_.expected_before(quantile, records_);
  const double low = target - limit * std::max(1 - q, 0.5);
  const double high = target + limit * std::max(q, 0.5);
  const auto first = std::ranges::lower_bound(
      slots_, low, {}, [](const RankSlot& slot) { return slot.middle + slot.half_range; });
  const auto end = std::ranges::upper_bound(
      slots_, high, {}, [](const RankSlot& slot) { return slot.middle - slot.half_range; });
  return {static_cast<std::size_t>(first - slots_.begin()),
          static_cast<std::size_t>(end - slots_.begin())};
}

void JointChain::add_up(std::size_t row, std::span<Message> messages) const {
  const std::size_t count = rows_[row].window.size();
  const double* const rising = &rising_[rows_[row].offset];
  const double* const falling = &falling_[rows_[row].offset];
  double before = 0;
  for (std::size_t k = 0; k < count; ++k) {
    messages[k].before = before;
    before += messages[k].weight * rising[k];
  }
  double from = 0;
  messages[count] = {0, before, from};
  for (std::size_t k = count; k-- > 0;) {
    from += messages[k].weight * falling[k];
    messages[k].from = from;
  }
}

std::size_t JointChain::slots_below(const Row& row, double edge) const {
  const auto first = middles_.begin() + static_cast<std::ptrdiff_t>(row.window.first);
  const auto end = middles_.begin() + static_cast<std::ptrdiff_t>(row.window.end);
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
    const auto [window, row_offset] = rows_[j];
    const std::span<Message> to = all.subspan(row_offset, window.size() + 1);
    const double up = std::exp(lambda * utility_.expected(j, records_ - s));
    const double down = 1 / up;
    const double expected = utility_.expected(j, s);
    const double* const rising = &rising_[row_offset];
    const double* const falling = &falling_[row_offset];
    const double* const middles = &middles_[window.first];
    const double* const factors = &factors_[window.first];
    if (j == 0) {
      for (std::size_t i = 0; i < window.size(); ++i) {
        to[i].weight = factors[i] * (middles[i] >= expected ? falling[i] * down : rising[i] * up);
      }
    } else {
      const IndexRange from_window = rows_[j - 1].window;
      const Message* const from = &all[rows_[j - 1].offset];
      const double* const from_middles = &middles_[from_window.first];
      const std::size_t count = from_window.size();
      std::size_t split = 0;
      for (std::size_t i = 0; i < window.size(); ++i) {
        const double edge = middles[i] - expected;
        while (split < count && from_middles[split] <= edge) ++split;
        to[i].weight = factors[i] *
                       (falling[i] * down * from[split].before + rising[i] * up * from[split].from);
      }
    }
    add_up(j, to);
  }
  const Row& last = rows_[b - 1];
  const std::size_t below = slots_below(last, records_ - utility_.expected(b, s));
  const double up = std::exp(lambda * utility_.expected(b, records_ - s));
  const Message& at = all[last.offset + below];
  return {s, at.before / up + at.from * up, offset};
}

void JointChain::draw(const Messages& messages, RandomStream& random,
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
    path[j - 1] =
        row.window.first + draw_weighted_index(row.window.size(), before, weight, total, random);
    after = middles_[path[j - 1]];
  }
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
