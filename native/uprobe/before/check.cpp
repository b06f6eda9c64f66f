#include "uprobe/before/check.h"

#include <cstdio>

namespace gmt::uprobe {

std::string bytes_text(uint64_t bytes) {
  constexpr const char *kUnits[] = {"KB", "MB", "GB", "TB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit < 3; unit++) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

std::string BeforeCheck::text(uint8_t device, uint64_t before) const {
  const uint64_t known = known_[device];
  if (before == 0 && known == 0) return {};
  std::string text =
      "When the tracer attached, tensors on gpu_" + std::to_string(device) + " held " + bytes_text(before) + "; ";
  if (known == before) return text + "all of it is known.";
  if (known == 0) return text + "none of it is known.";
  if (known < before) return text + bytes_text(before - known) + " of it is not known.";
  return text + bytes_text(known - before) + " more stands as before attach than there was.";
}

}  // namespace gmt::uprobe
