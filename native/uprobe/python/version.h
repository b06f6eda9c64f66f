#pragma once
// The version of an interpreter that is looked at from outside.
#include <cstdint>
#include <string>

#include "uprobe/python/process.h"

namespace gmt::uprobe {

struct PythonVersion {
  uint32_t hex;  ///< PY_VERSION_HEX, 0 = not known
  bool exact;    ///< false: only the first two numbers are known
};

/// As data (3.11 and later), else from the text that Py_GetVersion made when the interpreter was initialized, else from the file's
/// name.
PythonVersion python_version(const ForeignProcess &process, const MappedSymbols &symbols, const std::string &file_name);

/// "3.9.18" of a PY_VERSION_HEX, with the letter and number of a pre-release.
std::string version_text(uint32_t version);

}  // namespace gmt::uprobe
