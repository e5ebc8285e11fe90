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
  std::pmr::vector<Pool> pools(memory);
  pools.reserve(values.size());
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& joined = pools.back();
      joined.count += last.count;
      joined.mean += (last.mean - joined.mean) * last.count / joined.count;
    }
  }
  auto out = values.begin();
  for (const Pool& pool : pools) {
    out = std::fill_n(out, static_cast<std::size_t>(pool.count), pool.mean);
  }
}

}  // namespace dpquantile
