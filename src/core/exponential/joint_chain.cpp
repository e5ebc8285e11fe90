#include "core/exponential/joint_chain.hpp"

#include <algorithm>
#include <cmath>

#include "core/privacy/weighted_sampler.hpp"

namespace dpquantile {

// With A and B for what is between the bars, x - q n = (1 - q) A - q B. So the least sum over s is
// |x - q n| / max(q, 1 - q), on both sides of q n.
std::span<const RankSlot> slots_within(std::span<const RankSlot> slots, double q, double records,
                                       double limit) {
  const double target = q * records;
  const double reach = limit * std::max(q, 1 - q);
  const auto first = std::ranges::lower_bound(slots, target - reach, {}, [](const RankSlot& slot) {
    return slot.middle + slot.half_range;
  });
  const auto end = std::ranges::upper_bound(slots, target + reach, {}, [](const RankSlot& slot) {
    return slot.middle - slot.half_range;
  });
  return {first, end};
}

JointChain::JointChain(std::span<const RankSlot> slots, const SlotWidths& widths, double records,
                       const JointUtility& utility, double limit, std::pmr::memory_resource* memory)
    : records_(records),
      utility_(utility),
      rows_(memory),
      slots_(memory),
      entries_(memory),
      messages_(memory),
      shifts_(memory) {
  const std::size_t most = utility.quantiles() * (slots.size() + 1);
  slots_.reserve(most);
  rows_.reserve(utility.quantiles());
  for (std::size_t j = 1; j <= utility.quantiles(); ++j) {
    const std::size_t offset = slots_.size();
    join(slots_within(slots, utility.expected_before(j, 1), records, limit), widths, j);
    rows_.push_back({offset, slots_.size() - offset});
    slots_.emplace_back();  // the last message of a row has no slot
  }
  const double lambda = utility.lambda();
  entries_.resize(slots_.size());
  for (std::size_t j = 1; j <= utility.quantiles(); ++j) {
    const double target = utility.expected_before(j, records);
    const auto [offset, size] = rows_[j - 1];
    for (std::size_t i = offset; i < offset + size; ++i) {
      const RankSlot& slot = slots_[i];
      const double factor = slot.measure * std::exp(2 * lambda * slot.half_range);
      const double rising = std::exp(lambda * (slot.middle - target));
      const double falling = 1 / rising;
      entries_[i] = {slot.middle, rising, falling, factor * rising, factor * falling};
    }
  }
}

void JointChain::join(std::span<const RankSlot> window, const SlotWidths& widths,
                      std::size_t quantile) {
  const double target = widths.targets[quantile - 1];
  double low = 0;  // the least rank of the newest slot
  bool is_first = true;
  for (const RankSlot& slot : window) {
    const double high = slot.middle + slot.half_range;
    const bool has_target = low <= target && target <= high;
    const double nearer = low > target ? low : high;
    const double width = widths.at(has_target ? 0 : widths.distance(quantile - 1, nearer));
    const bool fits = high - low <= width && slot.border <= width;
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

JointChain::Messages JointChain::filter(double s, CancelPoll& cancel) {
  const double lambda = utility_.lambda();
  const std::size_t b = rows_.size();
  const std::size_t number = shifts_.size() / (b + 1);
  const std::size_t offset = messages_.size();
  messages_.resize(offset + slots_.size());
  cancel.tick(slots_.size());
  for (std::size_t j = 0; j <= b; ++j) {
    const double up = std::exp(lambda * utility_.expected(j, records_ - s));
    shifts_.push_back({up, 1 / up});
  }
  const std::span<Message> all = std::span(messages_).subspan(offset);
  for (std::size_t j = 0; j < b; ++j) {
    const auto [row_offset, size] = rows_[j];
    const std::span<Message> to = all.subspan(row_offset, size + 1);
    const std::span<const Entry> entries = std::span(entries_).subspan(row_offset, size);
    const auto [up, down] = shifts_[number * (b + 1) + j];
    const double expected = utility_.expected(j, s);
    double sum_before = 0;
    const auto put = [&](std::size_t i, double weight, std::size_t split) {
      to[i].weight = weight;
      to[i].before = sum_before;
      to[i].split = split;
      sum_before += weight * entries[i].rising;
    };
    if (j == 0) {
      // The row before is one slot at rank 0.
      for (std::size_t i = 0; i < size; ++i) {
        const Entry& entry = entries[i];
        put(i, entry.middle >= expected ? entry.factor_falling * down : entry.factor_rising * up,
            0);
      }
    } else {
      const auto [from_offset, count] = rows_[j - 1];
      const Message* const from = &all[from_offset];
      const Entry* const from_entries = &entries_[from_offset];
      std::size_t split = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const Entry& entry = entries[i];
        const double edge = entry.middle - expected;
        while (split < count && from_entries[split].middle <= edge) ++split;
        put(i,
            entry.factor_falling * down * from[split].before +
                entry.factor_rising * up * from[split].from,
            split);
      }
    }
    to[size].weight = 0;
    to[size].before = sum_before;
    to[size].from = 0;
    double sum_from = 0;
    for (std::size_t i = size; i-- > 0;) {
      sum_from += to[i].weight * entries[i].falling;
      to[i].from = sum_from;
    }
  }
  const auto [last_offset, size] = rows_[b - 1];
  const auto last = std::span(entries_).subspan(last_offset, size);
  const double edge = records_ - utility_.expected(b, s);
  const auto split = static_cast<std::size_t>(
      std::ranges::upper_bound(last, edge, {}, &Entry::middle) - last.begin());
  all[last_offset + size].split = split;
  const Message& at = all[last_offset + split];
  const auto [up, down] = shifts_.back();
  return {s, at.before * down + at.from * up, number};
}

bool JointChain::draw_ascending(const Messages& messages, RandomStream& random,
                                std::span<std::size_t> path) const {
  const std::size_t b = rows_.size();
  const std::span<const Message> all =
      std::span(messages_).subspan(messages.number * slots_.size());
  const std::span<const Shift> shifts = std::span(shifts_).subspan(messages.number * (b + 1));
  // The end stands for the slot after the last one; it is at its target.
  std::size_t after = rows_[b - 1].offset + rows_[b - 1].size;
  double rising = 1;
  double falling = 1;
  for (std::size_t j = b; j > 0; --j) {
    const std::size_t offset = rows_[j - 1].offset;
    const std::size_t size = rows_[j - 1].size;
    const std::span<const Message> row = all.subspan(offset, size + 1);
    const double up = rising * shifts[j].up;
    const double down = falling * shifts[j].down;
    const std::size_t split = all[after].split;
    const double below = row[split].before * down;
    const double total = below + row[split].from * up;
    const auto before = [&](std::size_t k) {
      return k <= split ? row[k].before * down : below + (row[split].from - row[k].from) * up;
    };
    const auto weight = [&](std::size_t k) {
      const Entry& entry = entries_[offset + k];
      return row[k].weight * (k < split ? entry.rising * down : entry.falling * up);
    };
    const std::size_t drawn = offset + draw_weighted_index(size, before, weight, total, random);
    path[j - 1] = drawn;
    if (j < b && slot(drawn).positions.begin >= slot(after).positions.end) return false;
    after = drawn;
    rising = entries_[drawn].rising;
    falling = entries_[drawn].falling;
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
