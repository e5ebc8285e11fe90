#include "core/tree/isotonic.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dpquantile {

namespace {

// A run of values that share their mean.
struct Pool {
  double mean;
  double count;
};

}  // namespace

void make_monotone(std::span<double> values, std::pmr::memory_resource* memory) {
  std::pmr::vector<Pool> pools(values.size(), memory);
  std::size_t size = 0;
  for (const double value : values) {
    Pool last{value, 1};
    for (; size > 0 && pools[size - 1].mean > last.mean; --size) {
      Pool joined = pools[size - 1];
      joined.count += last.count;
      joined.mean += (last.mean - joined.mean) * last.count / joined.count;
      last = joined;
    }
    pools[size++] = last;
  }
  auto out = values.begin();
  for (const Pool& pool : std::span(pools).first(size)) {
    out = std::fill_n(out, static_cast<std::size_t>(pool.count), pool.mean);
  }
}

}  // namespace dpquantile
