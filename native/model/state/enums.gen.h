#pragma once
// Choices that answers and questions carry as words. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include <array>
#include <cstddef>
#include <cstdint>

namespace gmt::model {

/// The words of an enum, in its order.
template <typename Enum>
struct Words;
template <typename Enum>
constexpr const char *word_of(Enum value) {
  return Words<Enum>::kAll[static_cast<size_t>(value)];
}

enum class Layer : uint8_t { Tensor, Driver, Host };
template <>
struct Words<Layer> {
  static constexpr std::array<const char *, 3> kAll = {"tensor", "driver", "host"};
};
enum class GroupBy : uint8_t { Site, Line, Function, File, Thread, Process, Device, ModulePath, Category, Pool };
template <>
struct Words<GroupBy> {
  static constexpr std::array<const char *, 10> kAll = {"site", "line", "function", "file", "thread", "process", "device", "module-path", "category", "pool"};
};
enum class LineSource : uint8_t { Python, Forward, ForwardNear, BackwardCall, None, BeforeAttach };
template <>
struct Words<LineSource> {
  static constexpr std::array<const char *, 6> kAll = {"python", "forward", "forward-near", "backward-call", "none", "before-attach"};
};
enum class AllocationSort : uint8_t { Bytes, Age, Address };
template <>
struct Words<AllocationSort> {
  static constexpr std::array<const char *, 3> kAll = {"bytes", "age", "address"};
};
enum class Series : uint8_t { Tensor, Reserved, Driver, Host };
template <>
struct Words<Series> {
  static constexpr std::array<const char *, 4> kAll = {"tensor", "reserved", "driver", "host"};
};
enum class DriverSource : uint8_t { None, Cupti, Uprobe };
template <>
struct Words<DriverSource> {
  static constexpr std::array<const char *, 3> kAll = {"none", "cupti", "uprobe"};
};
enum class Category : uint8_t { Other, Parameter, Gradient, Optimizer, Buffer, Activation, Workspace, Unnamed };
template <>
struct Words<Category> {
  static constexpr std::array<const char *, 8> kAll = {"other", "parameter", "gradient", "optimizer", "buffer", "activation", "workspace", "unnamed"};
};
enum class Pass : uint8_t { Other, Forward, Evaluation, Backward, Optimizer };
template <>
struct Words<Pass> {
  static constexpr std::array<const char *, 5> kAll = {"other", "forward", "evaluation", "backward", "optimizer"};
};
enum class PoolKind : uint8_t { Common, Graph, Mempool, Private, Unknown, Paused };
template <>
struct Words<PoolKind> {
  static constexpr std::array<const char *, 6> kAll = {"common", "graph", "mempool", "private", "unknown", "paused"};
};
enum class StepSource : uint8_t { Optimizer, Periodic, Time };
template <>
struct Words<StepSource> {
  static constexpr std::array<const char *, 3> kAll = {"optimizer", "periodic", "time"};
};
enum class SiteSort : uint8_t { LiveBytes, LiveCount, MeanBytes, PeakBytes, Allocations, Frees, AllocatedBytes, Growth, Label, Thread, Device };
template <>
struct Words<SiteSort> {
  static constexpr std::array<const char *, 11> kAll = {"liveBytes", "liveCount", "meanBytes", "peakBytes", "allocations", "frees", "allocatedBytes", "growth", "label", "thread", "device"};
};
enum class SeriesColumn : uint8_t { LiveBytes, LiveCount, MinBytes, MaxBytes, Allocations, AllocatedBytes, Frees, FreedBytes, GcFreedBytes, OldFreedBytes, OldLiveCount, OldLiveBytes, LargestBytes, SurvivorCount, SurvivorBytes };
template <>
struct Words<SeriesColumn> {
  static constexpr std::array<const char *, 15> kAll = {"liveBytes", "liveCount", "minBytes", "maxBytes", "stepAllocations", "stepAllocatedBytes", "stepFrees", "stepFreedBytes", "gcFreedBytes", "oldFreedBytes", "oldLiveCount", "oldLiveBytes", "stepLargestBytes", "survivorCount", "survivorBytes"};
};
enum class LedgerColumn : uint8_t { Tensor, TensorMax, TensorMaxNs, Reserved, ReservedMax, Driver, DriverMax, Host, HostMax, Process, Used, Total, Traced, Pending };
template <>
struct Words<LedgerColumn> {
  static constexpr std::array<const char *, 14> kAll = {"tensorBytes", "tensorMaxBytes", "tensorMaxNs", "reservedBytes", "reservedMaxBytes", "driverBytes", "driverMaxBytes", "hostBytes", "hostMaxBytes", "processBytes", "usedBytes", "totalBytes", "tracedBytes", "pendingBytes"};
};

}  // namespace gmt::model
