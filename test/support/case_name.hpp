#pragma once

namespace dpquantile::test {

// Names the cases of a parameterised test by their member `name`.
inline constexpr auto case_name = [](const auto& parameter) { return parameter.param.name; };

}  // namespace dpquantile::test
