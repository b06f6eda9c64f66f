// What a library's code and symbols say about autograd. That it is true is seen where programs run: autograd_test.py.
#include "uprobe/attach/autograd_probes.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "check.h"
#include "memory_file.h"

using namespace gmt::uprobe;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

constexpr uint64_t kAt = 0x1000;

bool is(const std::optional<ThreadLocal> &found, uint32_t probe, uint64_t index, int32_t offset) {
  return found && found->probe == probe && found->index == index && found->offset == offset;
}

// sub $8,%rsp; lea 0x100(%rip),%rdi; call; mov 0x170(%rax),%rdx
TEST(data_that_a_library_has_to_itself) {
  const auto code =
      bytes_of({0x48, 0x83, 0xec, 8, 0x48, 0x8d, 0x3d, 0, 1, 0, 0, 0xe8, 1, 2, 3, 4, 0x48, 0x8b, 0x90, 0x70, 1, 0, 0});
  CHECK(is(find_thread_local(code, kAt), 11, kAt + 11 + 0x100, 0x170));
  for (size_t left = 0; left < code.size(); left++)
    CHECK(!find_thread_local(std::span(code).first(left), kAt).has_value());
}

// sub $8,%rsp; data16 lea -0x10(%rip),%rdi; data16 data16 rex.W call; mov (%rax),%rdx
TEST(data_that_others_may_have_too) {
  const auto code = bytes_of({0x48, 0x83, 0xec, 8,    0x66, 0x48, 0x8d, 0x3d, 0xf0, 0xff, 0xff, 0xff,
                              0x66, 0x66, 0x48, 0xe8, 1,    2,    3,    4,    0x48, 0x8b, 0x10});
  CHECK(is(find_thread_local(code, kAt), 0, kAt + 12 - 0x10, 0));  // such a call cannot be probed
}

// push %rbx; lea 0(%rip),%rdi; call *0(%rip); mov 8(%rax),%r8
TEST(calls_without_a_stub) {
  const auto code = bytes_of({0x53, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0, 0x4c, 0x8b, 0x40, 8});
  CHECK(is(find_thread_local(code, kAt), 0, kAt + 8, 8));
}

TEST(other_ways_are_not_guessed_at) {
  const auto descriptor =
      bytes_of({0x48, 0x8d, 0x05, 0, 1, 0, 0, 0xff, 0x10, 0x64, 0x48, 0x8b, 0x00});  // lea; call *(%rax)
  CHECK(!find_thread_local(descriptor, kAt).has_value());
  const auto stored = bytes_of({0x48, 0x8d, 0x3d, 0, 1, 0, 0, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0x10});  // mov %rdx,(%rax)
  CHECK(!find_thread_local(stored, kAt).has_value());
  const auto narrow = bytes_of({0x48, 0x8d, 0x3d, 0, 1, 0, 0, 0xe8, 0, 0, 0, 0, 0x8b, 0x10, 0});  // mov (%rax),%edx
  CHECK(!find_thread_local(narrow, kAt).has_value());
}

AutogradProbes probes_of(const std::string &path) {
  const auto file = FileBytes::open(path);
  const auto elf = file ? ElfFile::read(*file) : std::nullopt;
  CHECK(elf.has_value());
  return find_autograd(*file, *elf);
}

TEST(layout_of_nodes) {
  const AutogradProbes shared = probes_of(gmt::test::given("GMT_TORCH_SHARED")),
                       intrusive = probes_of(gmt::test::given("GMT_TORCH_INTRUSIVE"));
  CHECK(shared.numbers && shared.evaluations && !shared.unreadable);
  CHECK(intrusive.numbers && intrusive.evaluations && !intrusive.unreadable);
  CHECK_EQ(shared.layout.node_sequence, 24u);
  CHECK_EQ(shared.layout.node_thread, 48u);
  CHECK_EQ(intrusive.layout.node_sequence, 16u);
  CHECK_EQ(intrusive.layout.node_thread, 40u);
}

TEST(libraries_without_autograd) {
  const AutogradProbes none = probes_of(gmt::test::given("GMT_LIBRARY"));
  CHECK(!none.numbers && !none.evaluations && !none.unreadable);
}

/// An engine whose functions have other names is said to be unreadable, not taken for another layout.
TEST(an_engine_that_is_not_known) {
  const auto file = FileBytes::open(gmt::test::given("GMT_TORCH_SHARED"));
  auto bytes = file->copy(0, file->size(), 1 << 30);
  const std::string_view name = "execute_with_graph_task";
  for (size_t at = 0; at + name.size() <= bytes.size(); at++)
    if (std::equal(name.begin(), name.end(), reinterpret_cast<const char *>(&bytes[at]))) bytes[at] = std::byte{'x'};
  const FileBytes changed = *FileBytes::open(gmt::test::memory_file(bytes));
  const auto elf = ElfFile::read(changed);
  CHECK(elf.has_value());
  const AutogradProbes probes = find_autograd(changed, *elf);
  CHECK(!probes.numbers && !probes.evaluations && probes.unreadable);
}

}  // namespace

TEST_MAIN
