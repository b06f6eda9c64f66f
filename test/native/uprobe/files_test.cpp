// Files of traced programs: symbols and their places, the places of probes. Each file is also read damaged.
#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "check.h"
#include "memory_file.h"
#include "uprobe/attach/autograd_probes.h"
#include "uprobe/attach/elf_file.h"
#include "uprobe/attach/probe_place.h"

using namespace gmt::uprobe;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

uint32_t place(std::initializer_list<int> code, bool keeps_stack = true) {
  return probe_place(bytes_of(code), keeps_stack);
}

std::vector<std::byte> contents(const std::string &path) {
  const auto file = FileBytes::open(path);
  return file ? file->copy(0, file->size(), 1 << 30) : std::vector<std::byte>{};
}

FileBytes file_of(std::span<const std::byte> memory) { return *FileBytes::open(gmt::test::memory_file(memory)); }

void look_at(std::span<const std::byte> memory) {
  const FileBytes file = file_of(memory);
  const auto elf = ElfFile::read(file);
  if (!elf) return;
  for (const ElfSymbol &symbol : elf->symbols()) {
    elf->offset_of(symbol.address, true);
    const auto code = elf->bytes_at(file, symbol.address, 64);
    CHECK(probe_place(code, true) <= code.size());
  }
  find_autograd(file, *elf);
}

TEST(symbols_lie_where_the_dynamic_linker_finds_them) {
  // A copy: a probe on the library itself, from a test beside this one, would show in the memory of every process.
  const gmt::test::TemporaryFolder folder;
  const std::string copy = folder / "libcuda.so.1";
  CHECK(std::filesystem::copy_file(gmt::test::given("GMT_LIBRARY"), copy));
  void *library = dlopen(copy.c_str(), RTLD_NOW);
  CHECK(library != nullptr);
  const auto file = FileBytes::open(copy);
  const auto elf = ElfFile::read(*file);
  CHECK(elf.has_value());
  Dl_info base{};
  size_t functions = 0;
  for (const ElfSymbol &symbol : elf->symbols()) {
    void *at = dlsym(library, std::string(symbol.name).c_str());
    if (!at || !symbol.function) continue;
    dladdr(at, &base);
    CHECK_EQ(reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(base.dli_fbase), symbol.address);
    const auto there = elf->bytes_at(*file, symbol.address, 8);
    CHECK(there.size() == 8 && std::memcmp(there.data(), at, 8) == 0);
    std::byte by_offset[8];
    CHECK(file->read(*elf->offset_of(symbol.address, true), by_offset, 8) && std::memcmp(by_offset, at, 8) == 0);
    functions++;
  }
  CHECK(functions > 50);
  CHECK(elf->find("cuMemAlloc_v2") != nullptr);
  CHECK(elf->find("no such function") == nullptr);
  CHECK(!elf->offset_of(~0ull, false).has_value());
}

TEST(what_is_no_elf_file_is_none) {
  CHECK(!FileBytes::open("/no/such/file").has_value());
  CHECK(!FileBytes::open("/dev/null").has_value());
  CHECK(!FileBytes::open("/tmp").has_value());
  const auto text = bytes_of({'#', '!', '/', 'b', 'i', 'n'});
  CHECK(!ElfFile::read(file_of(text)).has_value());
  CHECK(!ElfFile::read(file_of({})).has_value());
  auto narrow = contents(gmt::test::given("GMT_LIBRARY"));
  narrow[EI_CLASS] = std::byte{ELFCLASS32};
  CHECK(!ElfFile::read(file_of(narrow)).has_value());
}

TEST(files_that_are_cut_off) {
  const auto whole = contents(gmt::test::given("GMT_LIBRARY"));
  for (size_t left = whole.size(); left > 0; left = left * 7 / 8) look_at(std::span(whole).first(left));
  for (size_t left = 0; left < 4096; left += 13) look_at(std::span(whole).first(left));
}

/// The parts that say where everything else lies are hit most.
TEST(files_that_are_damaged) {
  std::mt19937_64 random(11);
  for (const std::string &path : {gmt::test::given("GMT_LIBRARY"), gmt::test::given("GMT_TORCH_LIBRARY")}) {
    const auto whole = contents(path);
    CHECK(!whole.empty());
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof header);
    for (int round = 0; round < GMT_ROUNDS; round++) {
      auto damaged = whole;
      for (uint64_t hits = 1 + random() % 4; hits > 0; hits--) {
        const size_t ranges[][2] = {{0, sizeof header},
                                    {header.e_phoff, 56ul * header.e_phnum},
                                    {header.e_shoff, 64ul * header.e_shnum},
                                    {0, std::min<size_t>(whole.size(), 16384)},
                                    {0, whole.size()}};
        const auto &range = ranges[random() % 5];
        const size_t at = std::min(range[0] + random() % range[1], damaged.size() - 8);
        const uint64_t values[] = {0, 1, ~0ull, 1ull << 63, random(), random() % 65536, whole.size(), whole.size() - 1};
        std::memcpy(damaged.data() + at, &values[random() % 8], 1u << random() % 4);
      }
      look_at(damaged);
    }
  }
}

TEST(places_that_are_at_the_begin) {
  CHECK_EQ(place({0x55}), 0u);              // push %rbp
  CHECK_EQ(place({0x41, 0x54}), 0u);        // push %r12
  CHECK_EQ(place({0xe9, 0, 0, 0, 0}), 0u);  // jmp
  CHECK_EQ(place({0xc3}), 0u);              // ret: nothing better
  CHECK_EQ(place({}), 0u);
}

TEST(places_behind_what_is_harmless) {
  CHECK_EQ(place({0xf3, 0x0f, 0x1e, 0xfa, 0x55}), 4u);                                 // endbr64; push
  CHECK_EQ(place({0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0, 0, 0, 0}), 4u);                     // endbr64; jmp
  CHECK_EQ(place({0x48, 0x8b, 0x05, 1, 2, 3, 4, 0x41, 0x56}), 7u);                     // mov rip+x,%rax; push %r14
  CHECK_EQ(place({0x48, 0x89, 0xe5, 0x53}), 3u);                                       // mov %rsp,%rbp; push %rbx
  CHECK_EQ(place({0x48, 0x85, 0xff, 0x53}), 3u);                                       // test %rdi,%rdi; push
  CHECK_EQ(place({0x31, 0xc0, 0x53}), 2u);                                             // xor %eax,%eax; push
  CHECK_EQ(place({0x48, 0x8d, 0x04, 0x37, 0x53}), 4u);                                 // lea (%rdi,%rsi),%rax; push
  CHECK_EQ(place({0x48, 0x89, 0x5c, 0x24, 0xf0, 0x53}), 5u);                           // mov %rbx,-16(%rsp); push
  CHECK_EQ(place({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, 0x53}), 9u);            // mov %fs:40,%rax; push
  CHECK_EQ(place({0xb8, 1, 0, 0, 0, 0x53}), 5u);                                       // mov $1,%eax; push
  CHECK_EQ(place({0x83, 0x3d, 1, 2, 3, 4, 0, 0x53}), 7u);                              // cmpl $0,rip+x; push
  CHECK_EQ(place({0x0f, 0x1f, 0x44, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x55}), 11u);  // nops; push
}

TEST(places_that_would_be_wrong) {
  CHECK_EQ(place({0x48, 0x89, 0xf7, 0x53}), 0u);            // mov %rsi,%rdi: an argument is gone
  CHECK_EQ(place({0x31, 0xd2, 0x53}), 0u);                  // xor %edx,%edx
  CHECK_EQ(place({0x49, 0x89, 0xc8, 0x53}), 0u);            // mov %rcx,%r8
  CHECK_EQ(place({0xb9, 1, 0, 0, 0, 0x53}), 0u);            // mov $1,%ecx
  CHECK_EQ(place({0x41, 0xb9, 1, 0, 0, 0, 0x53}), 0u);      // mov $1,%r9d
  CHECK_EQ(place({0x48, 0x8d, 0x77, 8, 0x53}), 0u);         // lea 8(%rdi),%rsi
  CHECK_EQ(place({0x48, 0x83, 0xec, 8, 0x53}), 0u);         // sub $8,%rsp: the return address is elsewhere
  CHECK_EQ(place({0x48, 0x83, 0xec, 8, 0x53}, false), 4u);  // which only probes on returns mind
  CHECK_EQ(place({0x48, 0x85, 0xff, 0x74, 2, 0x53}), 0u);   // test; je: the branch may be a loop's
  CHECK_EQ(place({0x31, 0xc0, 0xeb, 2}), 0u);               // xor; jmp
  CHECK_EQ(place({0x48, 0x85, 0xff}), 0u);                  // cut off
  CHECK_EQ(place({0x48, 0x8b, 0x05, 1, 2}), 0u);            // cut off inside
  CHECK_EQ(place({0xc6, 0xc5, 1, 0x53}), 0u);               // mov $1,%ch: part of rcx
  CHECK_EQ(place({0xf7, 0xd8, 0x53}), 0u);                  // neg %eax: not known
  CHECK_EQ(place({0x48, 0x87, 0xf7, 0x53}), 0u);            // xchg
  CHECK_EQ(place({0x0f, 0xa2, 0x53}), 0u);                  // cpuid
  CHECK_EQ(place({0x48, 0x11, 0xc0, 0x53}), 0u);            // adc: not known
}

TEST(any_code_gives_a_place_inside_it) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200000; round++) {
    std::vector<std::byte> code(random() % 40);
    for (std::byte &b : code) b = static_cast<std::byte>(random());
    const uint32_t at = probe_place(code, round % 2);
    CHECK(at == 0 || at < code.size());
  }
}

}  // namespace

TEST_MAIN
