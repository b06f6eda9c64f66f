#include <string.h>

#include "inject/agent/natives.h"
#include "inject/agent/object_table.h"
#include "python/interpreter.h"
#include "wire/clock.h"

namespace gmt::inject {
namespace {

// Of every build with the GIL from 3.9 to 3.14: reference count, type; of a type its flags, tp_traverse and tp_is_gc.
constexpr size_t kCount = 0, kItems = 24;  // of a list: its items
constexpr size_t kType = 8, kFlags = 168, kTraverse = 184, kIsCollected = 328;
constexpr unsigned long kHasCollector = 1ul << 14;  // Py_TPFLAGS_HAVE_GC
constexpr int kTraverseSlot = 71;                   // Py_tp_traverse
constexpr uint32_t kMany = 512;                     ///< children of an object beyond these come last
constexpr size_t kMostNodes = 1u << 24;

using Visit = int (*)(Py *, void *);
using Traverse = int (*)(Py *, Visit, void *);

using python::load;

const void *type_of(const Py *object) { return load<const void *>(object, kType); }

/// Whether the collector, and so this search, looks into the object.
bool is_collected(Py *object) {
  const void *type = type_of(object);
  if (!(load<unsigned long>(type, kFlags) & kHasCollector)) return false;
  return !load<void *>(type, kIsCollected) || g_api->is_collected(object);
}

void traverse(Py *object, Visit visit, void *argument) {
  if (!is_collected(object)) return;
  const auto go = load<Traverse>(type_of(object), kTraverse);
  if (go) go(object, visit, argument);
}

/// Enters the objects of a list under their places. False: no memory.
bool enter_all(Py *list, ObjectTable &table) {
  const ssize_t count = g_api->list_size(list);
  for (ssize_t i = 0; i < count; i++) {
    Py *object = g_api->list_item(list, i);
    if (table.find(object) == ObjectTable::kAbsent && !table.add(object, static_cast<uint32_t>(i))) return false;
  }
  return true;
}

/// Takes the objects without another reference out of the list, without holding them: their count becomes 0 again. No Python code runs
/// between the call that made the list and this one, so none of them has gone yet.
void forget_dying(Py *list) {
  const ssize_t size = g_api->list_size(list);
  auto **items = load<Py **>(list, kItems);
  if (size <= 0 || items[0] != g_api->list_item(list, 0)) return;
  constexpr ssize_t kAhead = 16;
  for (ssize_t i = 0; i < size; i++) {
    if (i + kAhead < size) __builtin_prefetch(items[i + kAhead]);
    if (load<uint32_t>(items[i], kCount) != 1) continue;
    const uint32_t none = 0;
    memcpy(reinterpret_cast<char *>(items[i]) + kCount, &none, sizeof none);
    g_api->hold(g_api->none);
    items[i] = g_api->none;
  }
}

/// The way down from the roots.
class Descent {
 public:
  explicit Descent(uint64_t milliseconds) : until_(clock_ns(CLOCK_THREAD_CPUTIME_ID) + milliseconds * 1'000'000) {}

  bool prepare(Py *barriers, Py *targets) {
    if (!enter_all(targets, targets_) || !nodes_.push({nullptr, 0})) return false;
    for (ssize_t i = 0; i < g_api->list_size(targets); i++)
      if (!reached_.push(0)) return false;
    unreached_ = reached_.size();
    for (ssize_t i = 0; i < g_api->list_size(barriers); i++)
      if (!add_node(g_api->list_item(barriers, i), 0, false)) return false;
    barriers_ = nodes_.size();
    return true;
  }

  bool wave(Py *roots, uint32_t number) {
    for (ssize_t i = 0; i < g_api->list_size(roots); i++)
      if (!enter_root(g_api->list_item(roots, i), number, static_cast<uint32_t>(i))) return false;
    return run(queue_, &at_);
  }
  /// What the waves left for the end.
  bool rest() {
    MappedArray<uint32_t> last;
    last.swap(later_);
    size_t at = 0;
    deep_ = true;
    return run(last, &at) && run(queue_, &at_);
  }
  bool done() const { return unreached_ == 0 || late_; }
  bool late() const { return late_; }
  bool left() const { return later_.size() > 0; }

  /// [wave, place, root, ..., target], or null for none.
  Py *path(size_t target) const {
    uint32_t node = reached_[target];
    if (!node) return nullptr;
    MappedArray<uint32_t> way;
    for (; node; node = nodes_[node].parent)
      if (!way.push(node)) return nullptr;
    Py *list = g_api->list_new(0);
    if (!list) return nullptr;
    const Root root = root_of(way[way.size() - 1]);
    append_new(list, g_api->number(root.wave));
    append_new(list, g_api->number(root.place));
    for (size_t i = way.size(); i-- > 0;) g_api->list_append(list, nodes_[way[i]].object);
    return list;
  }

 private:
  struct Node {
    Py *object;
    uint32_t parent;
  };
  struct Root {
    uint32_t node, wave, place;
  };

  /// A root has no parent. One that is a barrier too (a module's namespace) is entered when its own turn comes.
  bool enter_root(Py *root, uint32_t wave, uint32_t place) {
    uint32_t node = seen_.find(root);
    if (node == ObjectTable::kAbsent) {
      node = static_cast<uint32_t>(nodes_.size());
      if (!add_node(root, 0, true)) return false;
      if (nodes_.size() == node) return true;  // nothing that could refer to anything
    } else if (node < barriers_) {
      if (!queue_.push(node)) return false;
    } else {
      return true;
    }
    return roots_.push({node, wave, place});
  }

  Root root_of(uint32_t node) const {
    for (size_t i = 0; i < roots_.size(); i++)
      if (roots_[i].node == node) return roots_[i];
    return {};
  }

  /// An object that was not met before. `enter`: its children are of interest.
  bool add_node(Py *object, uint32_t parent, bool enter) {
    if (!is_collected(object) || seen_.find(object) != ObjectTable::kAbsent) return true;
    const auto node = static_cast<uint32_t>(nodes_.size());
    if (node >= kMostNodes || !seen_.add(object, node) || !nodes_.push({object, parent})) return false;
    if (!enter) return true;
    const uint32_t target = targets_.find(object);
    if (target != ObjectTable::kAbsent && !reached_[target]) {
      reached_[target] = node;
      unreached_--;
    }
    return queue_.push(node);
  }

  static int visit(Py *child, void *descent) {
    auto &self = *static_cast<Descent *>(descent);
    // The rest of a long list comes last, but for what is looked for.
    if (++self.visited_ > kMany && !self.deep_ && self.targets_.find(child) == ObjectTable::kAbsent) return 0;
    if ((self.visited_ & 8191) == 0 && self.is_late()) return -1;
    self.children_[self.count_] = {child, self.parent_};
    __builtin_prefetch(child);
    self.seen_.prefetch(child);
    return ++self.count_ < kBuffer || self.visit_children() ? 0 : -1;
  }

  bool is_late() {
    late_ = late_ || clock_ns(CLOCK_THREAD_CPUTIME_ID) > until_;
    return late_;
  }

  /// Children are visited some at a time, so that memory has answered by then. False: no memory.
  bool visit_children() {
    for (uint32_t i = 0; i < count_; i++) {
      const Node &child = children_[i];
      // An object's class keeps nothing of it, and leads to all of a library.
      if (child.object == type_of(nodes_[child.parent].object)) continue;
      if (!add_node(child.object, child.parent, true)) return false;
    }
    count_ = 0;
    return true;
  }

  bool run(MappedArray<uint32_t> &queue, size_t *at) {
    constexpr size_t kAhead = 8;
    for (; !done(); ++*at) {
      if (*at == queue.size() && (!visit_children() || *at == queue.size())) break;
      if ((*at & 255) == 0 && is_late()) break;
      if (*at + kAhead < queue.size()) __builtin_prefetch(nodes_[queue[*at + kAhead]].object);
      parent_ = queue[*at];
      visited_ = 0;
      traverse(nodes_[parent_].object, visit, this);
      if (visited_ > kMany && !deep_ && !later_.push(parent_)) return false;
    }
    return visit_children() && nodes_.size() < kMostNodes;
  }

  const uint64_t until_;
  ObjectTable targets_, seen_;
  MappedArray<uint32_t> reached_;  ///< by target: its node, 0 = not reached
  MappedArray<Node> nodes_;        ///< 0 is none
  MappedArray<Root> roots_;
  MappedArray<uint32_t> queue_, later_;
  size_t at_ = 0, unreached_ = 0, barriers_ = 0;
  uint32_t parent_ = 0;
  static constexpr uint32_t kBuffer = 256;
  Node children_[kBuffer];
  uint32_t count_ = 0;
  uint32_t visited_ = 0;  ///< children of the object that is looked into
  bool deep_ = false;     ///< the time of the long lists has come
  bool late_ = false;
};

struct Referrers {
  ObjectTable targets;
  Py *found, *referrer;
  uint64_t left;

  static int visit(Py *child, void *search) {
    auto &self = *static_cast<Referrers *>(search);
    if (self.targets.find(child) == ObjectTable::kAbsent) return 0;
    if (self.left == 0) return -1;
    self.left--;
    g_api->list_append(self.found, self.referrer);
    g_api->list_append(self.found, child);
    return 0;
  }
};

}  // namespace

Py *searchable(Py *probe) {
  void *traverse = load<void *>(probe, kTraverse);
  if (!traverse || g_api->type_slot(probe, kTraverseSlot) != traverse) return nullptr;
  g_api->hold(probe);
  return probe;
}

Py *living(Py *get_objects) {
  const auto generation = [&](uint32_t number) {
    const Held which(g_api->number(number));
    Py *objects = which ? g_api->call(get_objects, static_cast<Py *>(which), nullptr) : nullptr;
    if (objects) forget_dying(objects);
    return objects;
  };
  // All from one call to the next without the GIL's release.
  Held parts[] = {Held(generation(2)), Held(generation(1)), Held(generation(0))};
  if (!parts[0] || !parts[1] || !parts[2]) return nullptr;
  const auto is_own = [&](Py *object) { return object == parts[0] || object == parts[1] || object == parts[2]; };
  for (uint32_t i = 1; i < 3; i++) {
    const ssize_t size = g_api->list_size(parts[i]);
    for (ssize_t at = 0; at < size; at++) {
      Py *object = g_api->list_item(parts[i], at);
      if (object != g_api->none && !is_own(object)) g_api->list_append(parts[0], object);
    }
  }
  return parts[0].give();
}

Py *pick(Py *objects, Py *types) {
  ObjectTable targets;
  Py *found = enter_all(types, targets) ? g_api->list_new(0) : nullptr;
  const ssize_t count = found ? g_api->list_size(objects) : 0;
  constexpr ssize_t kAhead = 16;
  for (ssize_t i = 0; i < count; i++) {
    if (i + kAhead < count) __builtin_prefetch(reinterpret_cast<char *>(g_api->list_item(objects, i + kAhead)) + kType);
    Py *object = g_api->list_item(objects, i);
    if (targets.find(type_of(object)) != ObjectTable::kAbsent) g_api->list_append(found, object);
  }
  return found;
}

Py *descend(Py *waves, Py *barriers, Py *targets, uint64_t milliseconds) {
  Descent descent(milliseconds);
  if (!descent.prepare(barriers, targets)) return nullptr;
  for (ssize_t i = 0; i < g_api->list_size(waves) && !descent.done(); i++)
    if (!descent.wave(g_api->list_item(waves, i), static_cast<uint32_t>(i))) return nullptr;
  while (!descent.done() && descent.left())
    if (!descent.rest()) return nullptr;
  Py *paths = g_api->list_new(0);
  for (ssize_t i = 0; paths && i < g_api->list_size(targets); i++)
    append_new(paths, descent.path(static_cast<size_t>(i)));
  if (paths) append_new(paths, g_api->number(descent.late() ? 0 : 1));
  return paths;
}

Py *referrers(Py *objects, Py *targets, uint64_t most) {
  Referrers search{{}, nullptr, nullptr, most};
  if (!enter_all(targets, search.targets)) return nullptr;
  search.found = g_api->list_new(0);
  const ssize_t count = search.found ? g_api->list_size(objects) : 0;
  constexpr ssize_t kAhead = 16;
  for (ssize_t i = 0; i < count && search.left; i++) {
    if (i + kAhead < count) __builtin_prefetch(g_api->list_item(objects, i + kAhead));
    search.referrer = g_api->list_item(objects, i);
    traverse(search.referrer, Referrers::visit, &search);
  }
  return search.found;
}

Py *places(Py *objects, Py *targets) {
  ObjectTable table;
  MappedArray<uint64_t> found;
  if (!enter_all(targets, table) || !found.reset(static_cast<size_t>(g_api->list_size(targets)) + 1)) return nullptr;
  const ssize_t count = g_api->list_size(objects);
  for (ssize_t i = 0; i < count; i++) {
    const uint32_t place = table.find(g_api->list_item(objects, i));
    if (place != ObjectTable::kAbsent) found[place] = static_cast<uint64_t>(i);
  }
  Py *list = g_api->list_new(0);
  for (ssize_t i = 0; list && i < g_api->list_size(targets); i++)
    append_new(list, g_api->number(found[static_cast<size_t>(i)]));
  return list;
}

}  // namespace gmt::inject
