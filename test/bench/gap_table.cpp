#include "gap_table.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

namespace dpquantile::bench {

namespace {

using Row = std::vector<std::string>;

// The rows of a CSV file without quotes. Omits the header and rows with too few fields.
std::vector<Row> read_rows(const std::string& path, std::size_t fields) {
  std::vector<Row> rows;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream stream(line);
    Row row;
    for (std::string field; std::getline(stream, field, ',');) row.push_back(field);
    if (row.size() >= fields) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::optional<GapFigure> GapTable::find(const GapCell& cell) const {
  const auto found = figures_.find(cell);
  if (found == figures_.end()) return std::nullopt;
  return found->second;
}

std::optional<GapFigure> GapTable::mean(const std::vector<std::string>& datasets,
                                        const std::string& method, const std::string& privacy,
                                        int m) const {
  GapFigure sum;
  double squares = 0;
  for (const std::string& dataset : datasets) {
    const std::optional<GapFigure> figure = find({dataset, method, privacy, m});
    if (!figure) return std::nullopt;
    sum.mean_gap += figure->mean_gap;
    sum.seconds += figure->seconds;
    sum.trials += figure->trials;
    squares += figure->standard_error * figure->standard_error;
  }
  const auto count = static_cast<double>(datasets.size());
  return GapFigure{sum.mean_gap / count, std::sqrt(squares) / count, sum.trials / count,
                   sum.seconds / count};
}

std::set<std::string> GapTable::methods() const {
  std::set<std::string> found;
  for (const auto& [cell, figure] : figures_) found.insert(cell.method);
  return found;
}

std::set<std::string> GapTable::datasets() const {
  std::set<std::string> found;
  for (const auto& [cell, figure] : figures_) found.insert(cell.dataset);
  return found;
}

GapTable read_measured(const std::string& path) {
  GapTable table;
  for (const Row& row : read_rows(path, 8)) {
    table.add({row[0], row[1], row[2], std::stoi(row[3])},
              {std::stod(row[4]), std::stod(row[5]), std::stod(row[6]), std::stod(row[7])});
  }
  return table;
}

GapTable read_reference(const std::string& path) {
  GapTable table;
  for (const Row& row : read_rows(path, 8)) {
    const double trials = std::stod(row[6]);
    table.add(
        {row[0], row[1], row[2], std::stoi(row[3])},
        {std::stod(row[4]), std::stod(row[5]) / std::sqrt(trials), trials, std::stod(row[7])});
  }
  return table;
}

GapTable read_prototype(const std::string& path) {
  GapTable table;
  for (const Row& row : read_rows(path, 6)) {
    table.add({row[0], "prototype", row[2], std::stoi(row[3])},
              {std::stod(row[4]), 0, std::stod(row[5]), 0});
  }
  return table;
}

}  // namespace dpquantile::bench
