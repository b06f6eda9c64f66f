#pragma once
// Names for addresses in the code of another process.
#include <cxxabi.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "uprobe/python/foreign_process.h"

namespace gmt::uprobe {

struct NativeFrame {
  uint64_t function;  ///< address at which the function begins, or of the instruction where it is not known
  uint32_t offset;    ///< of the instruction in it, bytes
  std::string file;   ///< path of the program or library; empty: in none
  std::string name;   ///< demangled; an address in the file where no symbol covers it
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
  NativeFrame resolve(uint64_t address) override {
    Library *library = library_at(address);
    if (!library && std::chrono::steady_clock::now() - read_at_ > kReadAgain) {
      read_mappings();
      library = library_at(address);
    }
    if (!library) return {address, 0, "", hex(address)};
    if (!library->read) {
      library->read = true;
      if (auto symbols = MappedSymbols::read(process_, library->file))
        library->functions = library->symbols.emplace(std::move(*symbols)).functions();
    }
    const auto &functions = library->functions;
    auto behind = std::ranges::upper_bound(functions, address, {}, &MappedSymbols::Function::address);
    if (behind != functions.begin() && address - (behind - 1)->address < (behind - 1)->bytes) {
      --behind;
      return {behind->address, static_cast<uint32_t>(address - behind->address), library->file.path,
              demangled(behind->name)};
    }
    const uint64_t bias = library->symbols ? library->symbols->bias() : library->file.ranges[0].begin;
    return {address, 0, library->file.path, hex(address - bias)};
  }
  void libraries_changed() override { read_mappings(); }

 private:
  /// An address in no file may be one of a library that was mapped since, or of code that the program made.
  static constexpr auto kReadAgain = std::chrono::milliseconds(200);
  static std::string demangled(std::string_view name) {
    const std::string text(name);
    char *made = text.starts_with("_Z") ? abi::__cxa_demangle(text.c_str(), nullptr, nullptr, nullptr) : nullptr;
    const std::string result = made ? made : text;
    free(made);
    return result;
  }
  static std::string hex(uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "0x%" PRIx64, number);
    return text;
  }
  static bool covers(const MappedFile &file, uint64_t address) {
    return std::any_of(file.ranges.begin(), file.ranges.end(),
                       [&](const MappedFile::Range &range) { return address >= range.begin && address < range.end; });
  }

  struct Library {
    MappedFile file;
    bool read = false;
    std::optional<MappedSymbols> symbols;
    std::vector<MappedSymbols::Function> functions;  ///< by address
  };
  Library *library_at(uint64_t address) {
    for (const auto &library : libraries_)
      if (covers(library->file, address)) return library.get();
    return nullptr;
  }
  void read_mappings() {
    read_at_ = std::chrono::steady_clock::now();
    auto files = process_.mapped_files();
    if (files.empty()) return;  // it has ended
    std::vector<std::unique_ptr<Library>> before = std::move(libraries_);
    libraries_.clear();
    for (MappedFile &file : files) {
      auto same = [&](const std::unique_ptr<Library> &known) {
        return known && known->file.inode == file.inode && known->file.path == file.path &&
               known->file.ranges[0].begin == file.ranges[0].begin;
      };
      const auto known = std::find_if(before.begin(), before.end(), same);
      libraries_.push_back(known != before.end() ? std::move(*known) : std::make_unique<Library>());
      libraries_.back()->file = std::move(file);
    }
  }

  ForeignProcess process_;
  std::chrono::steady_clock::time_point read_at_;
  std::vector<std::unique_ptr<Library>> libraries_;
};

}  // namespace gmt::uprobe
