#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <ostream>
#include <vector>

#include "core/histogram/cell_runs.hpp"

namespace dpquantile {

inline bool operator==(const CellRun& a, const CellRun& b) {
  return a.cell == b.cell && a.count == b.count;
}
inline std::ostream& operator<<(std::ostream& out, const CellRun& run) {
  return out << run.count << " in " << run.cell;
}

namespace test {

using Runs = std::vector<CellRun>;
using Bytes = std::vector<std::uint8_t>;

inline CellRuns encoded(const Runs& runs) {
  CellRuns encoded(std::pmr::new_delete_resource());
  for (const CellRun& run : runs) encoded.append(run);
  return encoded;
}

inline Bytes bytes_of(const CellRuns& runs) {
  Bytes bytes;
  for (std::size_t i = 0; i < runs.blocks(); ++i) {
    const auto block = runs.block(i);
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

inline Runs runs_from(CellRunsReader reader) {
  Runs runs;
  for (CellRun run; reader.next(run);) runs.push_back(run);
  return runs;
}

// The runs of the records, which may have any order.
inline Runs runs_of(std::vector<std::uint32_t> records) {
  std::sort(records.begin(), records.end());
  Runs runs;
  for (const std::uint32_t cell : records) {
    if (runs.empty() || runs.back().cell != cell) runs.push_back({cell, 0});
    ++runs.back().count;
  }
  return runs;
}

inline std::uint64_t records_in(const Runs& runs) {
  std::uint64_t records = 0;
  for (const CellRun& run : runs) records += run.count;
  return records;
}

}  // namespace test
}  // namespace dpquantile
