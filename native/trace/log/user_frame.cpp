#include "trace/log/user_frame.h"

#include <algorithm>

#include "trace/log/process_tables.h"

namespace gmt::trace {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// C:/…/Python311/Lib/json/decoder.py, D:/anaconda3/envs/mine/lib/json/decoder.py
bool in_windows_library(std::string_view file) {
  if (file.size() < 2 || file[1] != ':') return false;
  std::string path(file);
  std::ranges::transform(path, path.begin(), lower);
  const std::string_view home = std::string_view(path).substr(0, path.find("/lib/"));
  const size_t slash = home.rfind('/');
  if (home.size() == path.size() || slash == home.npos) return false;
  const std::string_view folder = home.substr(slash + 1), above = home.substr(0, slash);
  return folder.starts_with("python3") || folder.starts_with("cpython-") || has(folder, "conda") ||
         has(folder, "softwarefoundation.python") || above.ends_with("/envs") || above.ends_with("/versions");
}

// .../lib/python3.12/json/decoder.py, .../python312.zip/json/decoder.py
bool in_standard_library(std::string_view file) {
  for (size_t at = file.find("/python"); at != std::string_view::npos; at = file.find("/python", at + 1)) {
    std::string_view rest = file.substr(at + 7);
    if (rest.size() > 2 && digit(rest[0]) && rest[1] == '.' && digit(rest[2])) {
      size_t end = 2;
      while (end < rest.size() && digit(rest[end])) ++end;
      if (end < rest.size() && rest[end] == 't') ++end;  // the free-threaded build
      bool below_lib = at >= 4 && (file.substr(0, at).ends_with("/lib") || file.substr(0, at).ends_with("/lib64"));
      if (end < rest.size() && rest[end] == '/' && below_lib) return true;
    }
    size_t end = 0;
    while (end < rest.size() && digit(rest[end])) ++end;
    if (end >= 2 && rest.substr(end).starts_with(".zip/")) return true;
  }
  return false;
}

// A PyTorch that is run from its source tree is no user code either.
bool in_torch(std::string_view file) {
  for (std::string_view part :
       {"/torch/nn/modules/", "/torch/nn/functional.py", "/torch/nn/parallel/", "/torch/_", "/torch/autograd/",
        "/torch/optim/", "/torch/cuda/", "/torch/utils/data/", "/torch/utils/checkpoint.py", "/torch/utils/_",
        "/torch/distributed/", "/torch/functional.py", "/torch/fx/", "/torch/amp/", "/torch/profiler/"}) {
    if (has(file, part)) return true;
  }
  return false;
}

// What a library writes and loads by its path, named after a module (torch_geometric.nn.conv.gat_conv_….py): import could not load it.
bool generated_module(std::string_view file) {
  std::string_view name = file.substr(file.rfind('/') + 1);
  if (!name.ends_with(".py")) return false;
  name.remove_suffix(3);
  return std::count(name.begin(), name.end(), '.') >= 2 || made_by_inductor(file);
}

// Of a stack of native frames: what autograd computes, else the operation that was called. What lies inside is the allocator's
// and the dispatcher's way, the same for all.
int informative_native_frame(const std::vector<Frame> &frames) {
  const auto first = [&](std::string_view beginning, std::string_view part) {
    for (size_t i = 0; i < frames.size(); ++i) {
      if (frames[i].function.starts_with(beginning) && has(frames[i].function, part)) return static_cast<int>(i);
    }
    return -1;
  };
  const int node = first("torch::autograd::", "Backward");
  return node >= 0 ? node : first("at::_ops::", "");
}

}  // namespace

bool made_by_inductor(std::string_view file) {
  if (has(file, "/torchinductor_")) return true;
  const size_t slash = file.rfind('/');
  constexpr size_t kHash = 52;  // letters; the second and the third of them are the folder's name
  return slash != file.npos && slash >= 3 && file.size() == slash + 1 + kHash + 3 && file.ends_with(".py") &&
         file[slash - 3] == '/' && file.substr(slash - 2, 2) == file.substr(slash + 2, 2);
}

bool native_source(std::string_view file) {
  if (file.empty() || file == "??") return true;
  for (std::string_view ending :
       {".cpp", ".cc", ".cxx", ".c++", ".c", ".cu", ".h",     ".hh", ".hpp", ".cuh", ".inl", ".tcc", ".mm", ".rs",
        ".pyx", ".S",  ".s",   ".asm", ".o", ".so", ".dylib", ".a",  ".obj", ".lib", ".dll", ".pyd", ".exe"}) {
    if (file.ends_with(ending)) return true;
  }
  return has(file, ".so.");
}

FileOwner file_owner(std::string_view file) {
  if (file.empty() || native_source(file)) return FileOwner::kLibrary;
  if (file.front() == '<') {
    bool generated = file.starts_with("<frozen ") || file.starts_with("<eval_with_key>") ||
                     file.starts_with("<__array_function__") || file.starts_with("<attrs generated");
    return generated ? FileOwner::kLibrary : FileOwner::kPseudo;
  }
  if (has(file, "/site-packages/") || has(file, "/dist-packages/")) return FileOwner::kLibrary;
  const bool library =
      in_standard_library(file) || in_windows_library(file) || in_torch(file) || generated_module(file);
  return library ? FileOwner::kLibrary : FileOwner::kUser;
}

int user_frame(const std::vector<Frame> &frames) {
  int pseudo = -1;
  for (size_t i = 0; i < frames.size(); ++i) {
    FileOwner owner = file_owner(frames[i].file);
    if (owner == FileOwner::kUser) return static_cast<int>(i);
    if (owner == FileOwner::kPseudo && pseudo < 0) pseudo = static_cast<int>(i);
  }
  if (pseudo >= 0 || frames.empty() || !native_source(frames.front().file)) return pseudo;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (!native_source(frames[i].file)) return static_cast<int>(i);  // Python's library
  }
  return informative_native_frame(frames);
}

}  // namespace gmt::trace
