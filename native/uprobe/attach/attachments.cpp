#include "uprobe/attach/attachments.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "uprobe/bpf/skeleton.h"

namespace gmt::uprobe {
namespace {

/// A path to the mapped file that works from here: through the process's own root, so that containers have theirs, or through
/// the mapping where the file has gone from its folder.
std::string way_to(pid_t pid, const MappedFile &file, struct stat *facts) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const std::string by_root = proc + "/root" + file.path;
  if (::stat(by_root.c_str(), facts) == 0 && S_ISREG(facts->st_mode)) return by_root;
  char range[64];
  std::snprintf(range, sizeof range, "/map_files/%" PRIx64 "-%" PRIx64, file.ranges[0].begin, file.ranges[0].end);
  if (::stat((proc + range).c_str(), facts) == 0 && S_ISREG(facts->st_mode)) return proc + range;
  return {};
}

std::string sentence(const std::string &path, int error) {
  return path + " cannot be probed (" + std::strerror(error) + ").";
}

}  // namespace

Attachments::Attachments(KernelSide &kernel, ProbeWay way, pid_t scope)
    : kernel_(kernel), way_(way), scope_(scope), links_(way, scope) {}

size_t Attachments::probes() const { return links_.probes() + (getters_ ? getters_->probes() : 0); }

void Attachments::clear() {
  getters_.reset();
  links_.clear();
}

int Attachments::attach_autograd(Library &library) {
  const AutogradProbes &probes = library.probes.autograd;
  if (!probes.numbers || !probes.evaluations) return 0;
  if (torch_count_ == GMT_UP_MOST_TORCHES) return ENOSPC;
  const uint32_t place = torch_count_++;
  auto &programs = kernel_.object().progs;
  if (::bpf_map_update_elem(::bpf_map__fd(kernel_.object().maps.gmt_torches), &place, &probes.layout, BPF_ANY) != 0)
    return errno;
  const int failed = links_.attach(programs.node_begins, library.way, {{*probes.evaluations, place}}, false);
  return failed ? failed : links_.attach(programs.node_numbered, library.way, {{*probes.numbers, place}}, false);
}

int Attachments::attach_getters(const Library &library) {
  auto &programs = kernel_.object().progs;
  const int failed = getters_->attach(programs.context_return, library.way, library.probes.getters, true);
  return failed ? failed : getters_->attach(programs.context_entry, library.way, library.probes.getters, false);
}

/// Returns first: a call that is under way then has no entry, and its return is passed over.
int Attachments::attach(Library &library) {
  auto &programs = kernel_.object().progs;
  const LibraryProbes &probes = library.probes;
  const struct {
    bpf_program *program;
    const std::vector<ProbePoint> &points;
    bool at_return;
  } steps[] = {
      {programs.context_return, probes.contexts, true}, {programs.context_entry, probes.contexts, false},
      {programs.call_return, probes.calls, true},       {programs.call_entry, probes.calls, false},
      {programs.tensor_report, probes.reports, false},  {programs.libraries_changed, probes.linker, false},
      {programs.process_ending, probes.ending, false},
  };
  for (const auto &step : steps)
    if (const int failed = links_.attach(step.program, library.way, step.points, step.at_return)) return failed;
  if (const int failed = attach_autograd(library)) return failed;
  if (getters_)
    if (const int failed = attach_getters(library)) return failed;
  return 0;
}

Attachments::Library *Attachments::attach_file(pid_t pid, const MappedFile &file, LibraryLook *found) {
  const LibraryRole role = role_of(file.name());
  if (role == LibraryRole::kNone || (role == LibraryRole::kAutograd && !autograd_)) return nullptr;
  struct stat facts {};
  const std::string way = way_to(pid, file, &facts);
  if (way.empty()) {
    found->refused.push_back(sentence(file.path, errno));
    return nullptr;
  }
  const auto [place, is_new] = libraries_.try_emplace({facts.st_dev, facts.st_ino});
  Library &library = place->second;
  if (!is_new) return &library;
  library.role = role;
  library.way = way;
  const auto bytes = FileBytes::open(way);
  const int opened = errno;
  const auto elf = bytes ? ElfFile::read(*bytes) : std::nullopt;
  if (elf) library.probes = find_probes(role, *bytes, *elf);
  const int failed = elf ? attach(library) : bytes ? ENOEXEC : opened;
  if (failed) found->refused.push_back(sentence(file.path, failed));
  library.attached = !failed && library.probes.count() > 0;
  if (library.attached && (role == LibraryRole::kDriver || role == LibraryRole::kTensor)) {
    found->fresh.push_back(file.path);
    paths_.push_back(file.path);
  }
  return &library;
}

LibraryLook Attachments::attach_libraries(pid_t pid) {
  LibraryLook found;
  for (const MappedFile &file : ForeignProcess(pid).mapped_files()) {
    const Library *library = attach_file(pid, file, &found);
    if (!library) continue;
    if (library->role == LibraryRole::kDriver && library->attached) {
      found.driver = true;
      found.simulated |= library->probes.simulated;
    }
    found.autograd_unreadable |= library->probes.autograd.unreadable;
  }
  return found;
}

void Attachments::set_getters(bool on) {
  if (!on) return getters_.reset();
  if (getters_) return;
  getters_ = std::make_unique<Links>(way_, scope_);
  for (auto &[id, library] : libraries_)
    if (library.attached && library.role == LibraryRole::kDriver) attach_getters(library);
}

}  // namespace gmt::uprobe
