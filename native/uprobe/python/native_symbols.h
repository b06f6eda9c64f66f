#pragma once
// Names for addresses in the code of another process.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "uprobe/python/process.h"

namespace gmt::uprobe {

struct NativeFrame {
  uint64_t
      function;     ///< address at which the function begins, or of the instruction where it is not known: its identity
  uint32_t offset;  ///< of the instruction in it, bytes
  std::string file;  ///< path of the program or library; empty: in none
  std::string name;  ///< demangled; an address in the file where no symbol covers it
};

class AddressNames {
 public:
  virtual ~AddressNames() = default;
  virtual NativeFrame resolve(uint64_t address) = 0;
  /// The process has mapped or unmapped libraries.
  virtual void libraries_changed() {}
};

/// Of one process. What it has mapped must be looked at while it is alive.
class NativeSymbols : public AddressNames {
 public:
  explicit NativeSymbols(pid_t pid) : process_(pid) { read_mappings(); }
  NativeFrame resolve(uint64_t address) override;
  void libraries_changed() override { read_mappings(); }

 private:
  struct Library {
    MappedFile file;
    bool read = false;
    std::optional<MappedSymbols> symbols;
    std::vector<MappedSymbols::Function> functions;  ///< by address
  };
  Library *library_at(uint64_t address);
  void read_mappings();

  ForeignProcess process_;
  std::chrono::steady_clock::time_point read_at_;
  std::vector<std::unique_ptr<Library>> libraries_;
};

}  // namespace gmt::uprobe
