#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Mean gaps of quantiles by dataset, method, privacy measure and number of quantiles.
namespace dpquantile::bench {

struct GapCell {
  std::string dataset;
  std::string method;
  std::string privacy;  // "pure" or "zcdp"
  int m;
  auto operator<=>(const GapCell&) const = default;
};

struct GapFigure {
  double mean_gap = 0;
  double standard_error = 0;
  double trials = 0;
  double seconds = 0;  // of a call, 0 if not known
};

class GapTable {
 public:
  void add(const GapCell& cell, const GapFigure& figure) { figures_[cell] = figure; }
  bool empty() const { return figures_.empty(); }
  std::optional<GapFigure> find(const GapCell& cell) const;
  // The mean over the datasets, if all have the cell.
  std::optional<GapFigure> mean(const std::vector<std::string>& datasets, const std::string& method,
                                const std::string& privacy, int m) const;
  std::set<std::string> methods() const;
  std::set<std::string> datasets() const;

 private:
  std::map<GapCell, GapFigure> figures_;
};

// Tables from CSV files with a header. A file that cannot be read gives an empty table.
//
// dataset,method,privacy,m,mean_gap,se_gap,trials,mean_seconds
GapTable read_measured(const std::string& path);
// The same columns with the standard deviation of a trial's gap, sd_gap, instead of se_gap.
GapTable read_reference(const std::string& path);
// dataset,granularity,privacy,m,mean_gap,trials. The method is "prototype", standard errors are 0.
GapTable read_prototype(const std::string& path);

}  // namespace dpquantile::bench
