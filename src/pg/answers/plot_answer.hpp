#pragma once

#include <string>
#include <vector>

#include "core/plot/time_ticks.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/value_type.hpp"

// Arguments and answers that the functions with plots have in common.
namespace dpquantile {

struct PlotSize {
  int width;
  int height;
  bool utf8;  // the encoding of the database
};

// The arguments width and height, of which width has this number. ereport if they are out of range.
PlotSize text_size_arguments(FunctionCallInfo fcinfo, int number);
PlotSize svg_size_arguments(FunctionCallInfo fcinfo, int number);

// The argument in UTF-8. ereports if it is too long.
const char* title_argument(FunctionCallInfo fcinfo, int number);

// The axis for values of a type; of a timestamptz, as if it were a timestamp.
AxisScale axis_scale_of(ValueType type);

// For phase 2 (boundary.hpp): the lines as one string, a document in the encoding of the database,
// and a copy as text.
std::string joined(const std::vector<std::string>& lines);
std::string in_encoding(const std::string& document, const PlotSize& size);
text* make_text(const std::string& drawn, ContextMemory& memory);

// Answers with a row for each line of a joined() text.
Datum return_lines(FunctionCallInfo fcinfo, text* drawn);

}  // namespace dpquantile
