#include "core/tree/isotonic.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace dpquantile {

namespace {

// A run of values that share their mean.
struct Pool {
  double sum;
  double count;

  void add(const Pool& other) {
    sum += other.sum;
    count += other.count;
  }
};

// Compares the means without a division, which would take most of the time.
bool is_above(const Pool& left, const Pool& right) {
  return left.sum * right.count > right.sum * left.count;
}

void write(std::span<const Pool> pools, std::span<double> values) {
  auto out = values.begin();
  double least = -std::numeric_limits<double>::infinity();
  for (const Pool& pool : pools) {
    // Rounding may put a mean below the one before.
    least = std::max(least, pool.sum / pool.count);
    out = std::fill_n(out, static_cast<std::size_t>(pool.count), least);
  }
}

}  // namespace

// A value that is not below the mean of the last pool begins a pool, which violates nothing. So the
// pools before are compared only after a value has joined the last one.
void make_monotone(std::span<double> values, std::pmr::memory_resource* memory) {
  if (values.empty()) return;
  std::pmr::vector<Pool> pools(values.size(), memory);
  std::size_t before = 0;
  Pool last{values.front(), 1};
  for (const double value : values.subspan(1)) {
    const Pool own{value, 1};
    if (!is_above(last, own)) {
      pools[before++] = last;
      last = own;
      continue;
    }
    last.add(own);
    for (; before > 0 && is_above(pools[before - 1], last); --before) last.add(pools[before - 1]);
  }
  pools[before++] = last;
  write(std::span(pools).first(before), values);
}

}  // namespace dpquantile
