// Tables, verdicts and pictures from the measurements of paper.sql: figures 4 to 8 of Kaplan,
// Schnapp and Stemmer 2022, "Differentially Private Approximate Quantiles". Figures 5 and 7 are the
// left parts of figures 4 and 6. The logarithmic axes show these parts, too.
//
// usage: paper_figures DIRECTORY [REFERENCE_DIRECTORY]
// DIRECTORY has measured.csv and gets the pictures. REFERENCE_DIRECTORY has quantile_gap.csv and
// prototype_grid_aq.csv.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "bench_figures.hpp"
#include "gap_table.hpp"
#include "line_chart.hpp"
#include "panel_chart.hpp"
#include "svg_elements.hpp"

namespace {

using namespace dpquantile::bench;

constexpr int kQuantileCounts[] = {1, 2, 3, 5, 7, 10, 15, 20, 35, 50, 80, 120};
constexpr int kMost = 120;
constexpr double kFloor = 0.01;  // the least gap that pictures show
constexpr double kPureLimit = 8.1;
constexpr double kZcdpLimit = 1.0;

// In the order of the panels and of the means.
constexpr const char* kDatasets[] = {"adult_age",       "adult_hours", "goodreads_rating",
                                     "goodreads_pages", "uniform",     "gaussian"};

struct Measure {
  const char* name;
  const char* text;
};
constexpr Measure kMeasures[] = {{"pure", "epsilon = 1"}, {"zcdp", "rho = 1/2 (zCDP)"}};

struct Style {
  const char* method;
  const char* colour;
  double stroke;
};
// The line of 'auto' is below the others, because 'auto' often is one of them.
constexpr Style kStyles[] = {{"auto", "#c99a1a", 7},
                             {"approximate", "#0b57c2", 2},
                             {"joint", "#1a7f37", 2},
                             {"tree", "#8250df", 2},
                             {"independent", "#bc4c00", 2}};

// A method of the paper as the reference has it, with the colour of our method.
struct Published {
  const char* method;
  const char* name;
  const char* privacy;  // nullptr: both
  const char* colour;
};
constexpr Published kPublished[] = {{"aq", "AQ", nullptr, "#0b57c2"},
                                    {"jointexp", "JointExp", nullptr, "#1a7f37"},
                                    {"aggtree_repaired", "AggTree", nullptr, "#8250df"},
                                    {"indexp", "IndExp", "pure", "#bc4c00"},
                                    {"appindexp", "AppindExp", "zcdp", "#bc4c00"}};

class Figures {
 public:
  Figures(GapTable measured, GapTable reference, GapTable prototype)
      : measured_(std::move(measured)),
        reference_(std::move(reference)),
        prototype_(std::move(prototype)) {
    const auto present = measured_.datasets();
    for (const char* dataset : kDatasets)
      if (present.contains(dataset)) datasets_.push_back(dataset);
  }

  bool has(const Measure& measure) const {
    for (const Style& style : kStyles)
      if (measured_.mean(datasets_, style.method, measure.name, kMost)) return true;
    return false;
  }

  void print_gaps(const Measure& measure) const {
    std::printf("Mean gap, %s, 1000 rows, range [-100, 100], mean of %zu datasets", measure.text,
                datasets_.size());
    std::printf(reference_.empty() ? "\n" : "; the reference in capitals\n");
    print_head(measure);
    std::printf(reference_.empty() ? "\n" : " %11s %11s\n", "PROTOTYPE", "BEST");
    for (const int m : kQuantileCounts) {
      std::printf("%4d", m);
      for (const Style& style : kStyles)
        print_gap(measured_.mean(datasets_, style.method, measure.name, m));
      if (!reference_.empty()) {
        for (const Published& published : kPublished) {
          if (applies(published, measure))
            print_gap(reference_.mean(datasets_, published.method, measure.name, m));
        }
        const std::string best = best_reference(datasets_, measure, m);
        print_gap(prototype_.mean(datasets_, "prototype", measure.name, m));
        print_gap(reference_.mean(datasets_, best, measure.name, m));
        std::printf("  %s", best.c_str());
      }
      std::printf("\n");
    }
    std::printf("largest standard error of these means by method:");
    for (const Style& style : kStyles)
      std::printf(" %s %.3f", style.method, largest_error(style, measure));
    std::printf("\n\n");
  }

  void print_times(const Measure& measure) const {
    std::printf(
        "Milliseconds a call: the statement's time divided by the number of its groups, %s\n",
        measure.text);
    print_head(measure);
    std::printf("\n");
    for (const int m : kQuantileCounts) {
      std::printf("%4d", m);
      for (const Style& style : kStyles)
        print_time(measured_.mean(datasets_, style.method, measure.name, m));
      for (const Published& published : kPublished) {
        if (!reference_.empty() && applies(published, measure))
          print_time(reference_.mean(datasets_, published.method, measure.name, m));
      }
      std::printf("\n");
    }
    std::printf("\n");
  }

  void print_trials() const {
    std::printf("trials of each figure: ");
    const std::string dataset = datasets_.front();
    for (const Style& style : kStyles) {
      std::string text;
      double last = 0;
      for (const int m : kQuantileCounts) {
        const auto figure = measured_.find({dataset, style.method, any_measure(), m});
        if (!figure || figure->trials == last) continue;
        last = figure->trials;
        text += (text.empty() ? " " : ", from m = " + std::to_string(m) + " on ") +
                std::to_string(static_cast<int>(last));
      }
      if (!text.empty()) std::printf("%s%s; ", style.method, text.c_str());
    }
    std::printf("\n\n");
  }

  void print_verdicts() const {
    if (datasets_.size() == std::size(kDatasets)) {
      print_limit(kMeasures[0], kPureLimit);
      print_limit(kMeasures[1], kZcdpLimit);
    }
    if (!reference_.empty()) count_worse("the best row of the reference", true);
    if (!prototype_.empty()) count_worse("the prototype", false);
  }

  void plot_gaps(const Measure& measure, const std::string& path) const {
    PanelChart chart{"Mean gap of m private quantiles of 1000 rows, " + std::string(measure.text),
                     reference_.empty()
                         ? "Solid: this extension, by method."
                         : "Solid: this extension, by method. Dashed: the methods of Kaplan, "
                           "Schnapp and Stemmer 2022 as measured with their code.",
                     "quantiles in a call, m",
                     "mean gap: rows between answer and truth",
                     kFloor,
                     {},
                     {}};
    for (const std::string& dataset : datasets_) {
      const std::vector<std::string> one{dataset};
      chart.panels.push_back({dataset, gap_series(measure, one)});
    }
    chart.legend = chart.panels.front().series;
    write_svg(draw_panel_chart(chart), path);
  }

  void plot_times(const Measure& measure, const std::string& path) const {
    LineChart chart{
        "Time of a call for m private quantiles of 1000 rows",
        std::string(measure.text) +
            ", mean of the datasets. A statement's time divided by the number of its groups.",
        "quantiles in a call, m",
        "milliseconds",
        {}};
    const auto add = [&](const GapTable& table, const std::string& method, ChartSeries series) {
      for (const int m : kQuantileCounts) {
        const auto figure = table.mean(datasets_, method, measure.name, m);
        if (figure && figure->seconds > 0)
          series.points.push_back({static_cast<double>(m), 1000 * figure->seconds});
      }
      if (!series.points.empty()) chart.series.push_back(std::move(series));
    };
    for (const Style& style : kStyles)
      add(measured_, style.method, {style.method, {}, false, style.colour, style.stroke});
    for (const Published& published : kPublished) {
      if (applies(published, measure))
        add(reference_, published.method,
            {std::string(published.name) + ", reference", {}, true, published.colour, 1.2});
    }
    if (!chart.series.empty()) write_line_chart(chart, path);
  }

 private:
  static bool applies(const Published& published, const Measure& measure) {
    return published.privacy == nullptr || std::string(published.privacy) == measure.name;
  }

  std::string any_measure() const { return has(kMeasures[0]) ? "pure" : "zcdp"; }

  // Prints no end of line.
  void print_head(const Measure& measure) const {
    std::printf("%4s", "m");
    for (const Style& style : kStyles) std::printf(" %11s", style.method);
    if (reference_.empty()) return;
    for (const Published& published : kPublished)
      if (applies(published, measure)) std::printf(" %11s", in_capitals(published.name).c_str());
  }

  static std::string in_capitals(std::string text) {
    for (char& letter : text)
      if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    return text;
  }

  static void print_gap(const std::optional<GapFigure>& figure) {
    if (figure) {
      std::printf(" %11.3f", figure->mean_gap);
    } else {
      std::printf(" %11s", "-");
    }
  }

  static void print_time(const std::optional<GapFigure>& figure) {
    if (figure && figure->seconds > 0) {
      std::printf(" %11.3f", 1000 * figure->seconds);
    } else {
      std::printf(" %11s", "-");
    }
  }

  double largest_error(const Style& style, const Measure& measure) const {
    double largest = 0;
    for (const int m : kQuantileCounts) {
      const auto figure = measured_.mean(datasets_, style.method, measure.name, m);
      if (figure) largest = std::max(largest, figure->standard_error);
    }
    return largest;
  }

  // The reference's method with the least mean gap over the datasets.
  std::string best_reference(const std::vector<std::string>& datasets, const Measure& measure,
                             int m) const {
    std::string best;
    double least = 0;
    for (const std::string& method : reference_.methods()) {
      const auto figure = reference_.mean(datasets, method, measure.name, m);
      if (!figure || (!best.empty() && figure->mean_gap >= least)) continue;
      best = method;
      least = figure->mean_gap;
    }
    return best;
  }

  void print_limit(const Measure& measure, double limit) const {
    const auto figure = measured_.mean(datasets_, "auto", measure.name, kMost);
    if (!figure) return;
    std::printf("'auto', %s, m = %d: mean gap %.3f (se %.3f), at most %.1f: %s\n", measure.text,
                kMost, figure->mean_gap, figure->standard_error, limit,
                figure->mean_gap <= limit ? "yes" : "NO");
  }

  // The figure to compare 'auto' with in a cell. Nothing if the reference does not have it.
  std::optional<GapFigure> rival(const std::string& dataset, const Measure& measure, int m,
                                 const GapFigure& ours, bool best, std::string& name) const {
    if (best) {
      name = best_reference({dataset}, measure, m);
      return reference_.find({dataset, name, measure.name, m});
    }
    name = "prototype";
    auto figure = prototype_.find({dataset, name, measure.name, m});
    // The prototype's spread is not known. It is taken to be the same as ours.
    if (figure)
      figure->standard_error = ours.standard_error * std::sqrt(ours.trials / figure->trials);
    return figure;
  }

  void count_worse(const char* text, bool best) const {
    int cells = 0;
    int worse = 0;
    std::string list;
    for (const Measure& measure : kMeasures) {
      for (const std::string& dataset : datasets_) {
        for (const int m : kQuantileCounts) {
          const auto ours = measured_.find({dataset, "auto", measure.name, m});
          if (!ours) continue;
          std::string name;
          const auto theirs = rival(dataset, measure, m, *ours, best, name);
          if (!theirs) continue;
          ++cells;
          const double noise = std::hypot(ours->standard_error, theirs->standard_error);
          if (ours->mean_gap - theirs->mean_gap <= kTolerance * noise) continue;
          ++worse;
          char line[160];
          std::snprintf(line, sizeof line, "  %s %s m = %d: %.3f (se %.3f), %s %.3f (se %.3f)\n",
                        dataset.c_str(), measure.name, m, ours->mean_gap, ours->standard_error,
                        name.c_str(), theirs->mean_gap, theirs->standard_error);
          list += line;
        }
      }
    }
    if (cells == 0) return;
    std::printf("'auto' is worse than %s by more than %.0f standard errors in %d of %d cells\n%s",
                text, kTolerance, worse, cells, list.c_str());
  }

  std::vector<ChartSeries> gap_series(const Measure& measure,
                                      const std::vector<std::string>& datasets) const {
    std::vector<ChartSeries> all;
    const auto add = [&](const GapTable& table, const std::string& method, ChartSeries series) {
      for (const int m : kQuantileCounts) {
        const auto figure = table.mean(datasets, method, measure.name, m);
        if (figure) series.points.push_back({static_cast<double>(m), figure->mean_gap});
      }
      if (!series.points.empty()) all.push_back(std::move(series));
    };
    for (const Style& style : kStyles)
      add(measured_, style.method, {style.method, {}, false, style.colour, style.stroke});
    for (const Published& published : kPublished) {
      if (applies(published, measure))
        add(reference_, published.method,
            {std::string(published.name) + " of the paper", {}, true, published.colour, 1.2});
    }
    return all;
  }

  GapTable measured_;
  GapTable reference_;
  GapTable prototype_;
  std::vector<std::string> datasets_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : ".";
  const std::string given = argc > 2 ? argv[2] : "";
  GapTable measured = read_measured(directory + "/measured.csv");
  if (measured.empty()) {
    std::fprintf(stderr, "usage: paper_figures DIRECTORY [REFERENCE_DIRECTORY]\n");
    return 1;
  }
  GapTable reference;
  GapTable prototype;
  if (!given.empty()) {
    reference = read_reference(given + "/quantile_gap.csv");
    prototype = read_prototype(given + "/prototype_grid_aq.csv");
  }
  if (reference.empty()) std::printf("notice: no reference (set PAPER_REFERENCE=directory)\n\n");
  const Figures figures(std::move(measured), std::move(reference), std::move(prototype));
  figures.print_trials();
  for (const Measure& measure : kMeasures) {
    if (!figures.has(measure)) continue;
    figures.print_gaps(measure);
    figures.print_times(measure);
    figures.plot_gaps(measure, directory + "/gap_" + measure.name + ".svg");
    figures.plot_times(measure, directory + "/time_" + measure.name + ".svg");
    std::printf("\n");
  }
  figures.print_verdicts();
  return 0;
}
