#include "core/base/packed_rows.hpp"

namespace dpquantile {

namespace {

bool read_value(FieldReader* fields, const PackedForm& form, PackedValue* value) {
  *value = {};
  const std::uint64_t kind = fields->number();
  value->is_null = kind == kPackedNull;
  if (kind > kPackedValue) return false;
  if (value->is_null) return !fields->is_broken();
  if (form.is_number) {
    value->number = fields->number();
  } else {
    value->bytes = fields->bytes();
  }
  const bool has_length =
      form.is_number || form.length == kAnyLength || value->bytes.size() == form.length;
  return has_length && !fields->is_broken();
}

}  // namespace

RowRead read_packed_row(FieldReader* fields, std::span<const PackedForm> forms,
                        std::span<PackedValue> values) {
  const std::uint64_t kind = fields->number();
  if (kind == kPackedEnd) return fields->is_at_end() ? RowRead::kEnd : RowRead::kBroken;
  if (kind != kPackedRow || values.size() != forms.size()) return RowRead::kBroken;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!read_value(fields, forms[i], &values[i])) return RowRead::kBroken;
  }
  return RowRead::kRow;
}

}  // namespace dpquantile
