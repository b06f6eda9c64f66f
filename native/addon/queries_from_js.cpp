#include "addon/queries_from_js.h"

#include <array>
#include <cmath>
#include <string>

namespace gmt::addon {
namespace {

constexpr std::array kLayerNames = {"tensor", "driver", "host"};
constexpr std::array kGroupNames = {"site", "line", "function", "thread", "process", "device"};
constexpr std::array kSiteSortNames = {"liveBytes", "liveCount", "peakBytes",      "allocations", "frees",
                                       "growth",    "label",     "allocatedBytes", "thread",      "device"};
constexpr std::array kSiteSorts = {
    model::SiteSort::LiveBytes, model::SiteSort::LiveCount, model::SiteSort::PeakBytes, model::SiteSort::Allocations,
    model::SiteSort::Frees,     model::SiteSort::Growth,    model::SiteSort::Label,     model::SiteSort::AllocatedBytes,
    model::SiteSort::Thread,    model::SiteSort::Device};
constexpr std::array kAllocationSortNames = {"bytes", "age", "address"};
constexpr std::array kSeriesNames = {"tensor", "reserved", "driver", "host"};

/// Reads the fields of one query; the first that is wrong leaves the error.
class Fields {
 public:
  explicit Fields(const Napi::CallbackInfo &info) : env_(info.Env()) {
    if (info.Length() < 1 || !info[0].IsObject()) {
      fail("The query must be an object.");
    } else {
      object_ = info[0].As<Napi::Object>();
    }
  }
  bool ok() const { return ok_; }

  /// Index of the field's text in `names`; `otherwise` where the field is absent.
  template <size_t N>
  int name(const char *field, const std::array<const char *, N> &names, int otherwise) {
    const Napi::Value value = get(field);
    if (value.IsUndefined()) {
      if (otherwise < 0) fail(std::string("The query lacks \"") + field + "\".");
      return otherwise;
    }
    const std::string text = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
    std::string all;
    for (size_t i = 0; i < N; ++i) {
      if (text == names[i]) return static_cast<int>(i);
      all += std::string(i ? ", " : "") + names[i];
    }
    fail(std::string("The query's \"") + field + "\" must be one of " + all + ".");
    return 0;
  }
  double number(const char *field, std::optional<double> otherwise) {
    const Napi::Value value = get(field);
    if (value.IsNumber() && !std::isnan(value.As<Napi::Number>().DoubleValue())) {
      return value.As<Napi::Number>().DoubleValue();
    }
    if (!value.IsUndefined() || !otherwise) fail(std::string("The query's \"") + field + "\" must be a number.");
    return otherwise.value_or(0);
  }
  bool flag(const char *field) {
    const Napi::Value value = get(field);
    return value.IsBoolean() && value.As<Napi::Boolean>().Value();
  }
  std::string text(const char *field) {
    const Napi::Value value = get(field);
    return value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  }
  uint64_t whole(const char *field) {
    const double value = number(field, std::nullopt);
    if (value <= 0) return 0;
    return value >= 9007199254740992.0 ? 1ull << 53 : static_cast<uint64_t>(value);
  }
  /// Absent or negative: no restriction.
  std::optional<int32_t> choice(const char *field) {
    const double value = number(field, -1);
    if (value < 0 || value > 2147483647.0) return std::nullopt;
    return static_cast<int32_t>(value);
  }

 private:
  Napi::Value get(const char *field) { return ok_ ? object_.Get(field) : env_.Undefined(); }
  void fail(const std::string &sentence) {
    if (ok_) Napi::TypeError::New(env_, sentence).ThrowAsJavaScriptException();
    ok_ = false;
  }

  Napi::Env env_;
  Napi::Object object_;
  bool ok_ = true;
};

}  // namespace

std::optional<model::SiteQuery> site_query(const Napi::CallbackInfo &info) {
  Fields fields(info);
  model::SiteQuery query;
  query.layer = static_cast<model::Layer>(fields.name("layer", kLayerNames, -1));
  query.group_by = static_cast<model::GroupBy>(fields.name("groupBy", kGroupNames, -1));
  query.sort = kSiteSorts[static_cast<size_t>(fields.ok() ? fields.name("sort", kSiteSortNames, 0) : 0)];
  query.descending = fields.flag("descending");
  query.filter = fields.text("filter");
  query.process = fields.choice("process").value_or(model::kAll);
  query.device = fields.choice("device");
  query.include_dead = fields.flag("includeDead");
  query.from = fields.whole("from");
  query.to = fields.whole("to");
  return fields.ok() ? std::optional(query) : std::nullopt;
}

std::optional<model::AllocationQuery> allocation_query(const Napi::CallbackInfo &info) {
  Fields fields(info);
  model::AllocationQuery query;
  const int layer = fields.name("layer", kLayerNames, 3);
  if (layer < 3) query.layer = static_cast<model::Layer>(layer);
  query.process = fields.choice("process").value_or(model::kAll);
  query.device = fields.choice("device");
  query.thread = fields.choice("thread");
  if (const auto site = fields.choice("site")) query.site = static_cast<uint32_t>(*site);
  query.sort = static_cast<model::AllocationSort>(fields.name("sort", kAllocationSortNames, 0));
  query.descending = fields.flag("descending");
  query.from = fields.whole("from");
  query.to = fields.whole("to");
  return fields.ok() ? std::optional(query) : std::nullopt;
}

std::optional<model::TimelineQuery> timeline_query(const Napi::CallbackInfo &info) {
  Fields fields(info);
  model::TimelineQuery query;
  query.series = static_cast<model::Series>(fields.name("series", kSeriesNames, -1));
  query.process = fields.choice("process").value_or(model::kAll);
  query.device = fields.choice("device");
  query.from_ns = fields.whole("fromNs");
  query.to_ns = fields.whole("toNs");
  query.buckets = fields.whole("buckets");
  return fields.ok() ? std::optional(query) : std::nullopt;
}

}  // namespace gmt::addon
