// A stand-in for PyTorch's libtorch_cpu.so with what the tracer asks of autograd, with Node as it was (shared_ptr) and as it is
// since it became intrusive. No line of it is PyTorch's.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#define EXPORT __attribute__((visibility("default")))

namespace at::sequence_number {
thread_local uint64_t next = 5;
EXPORT uint64_t peek() { return next; }
EXPORT uint64_t get_and_increment() { return next++; }
}  // namespace at::sequence_number

namespace at {
struct EXPORT RecordFunction {
  static uint64_t currentThreadId();
};
uint64_t RecordFunction::currentThreadId() { return 77; }
}  // namespace at

#ifdef TORCH_INTRUSIVE
namespace c10 {
struct EXPORT intrusive_ptr_target {
  virtual ~intrusive_ptr_target();
  std::atomic<uint64_t> combined_refcount_{0};
};
intrusive_ptr_target::~intrusive_ptr_target() = default;
}  // namespace c10
#endif

namespace torch::autograd {

#ifdef TORCH_INTRUSIVE
struct EXPORT Node : c10::intrusive_ptr_target {
#else
struct EXPORT Node : std::enable_shared_from_this<Node> {
#endif
  Node(uint64_t sequence, uint64_t thread) : sequence_nr_(sequence), thread_id_(thread) {}
  virtual ~Node();
  uint64_t sequence_nr_;
  uint64_t topological_nr_ = 0;
  bool has_parent_ = false;
  uint64_t thread_id_;
};
Node::~Node() = default;

#ifdef TORCH_INTRUSIVE
/// Counts as c10::intrusive_ptr does: strong references in the low half.
class Pointer {
 public:
  Pointer() = default;
  explicit Pointer(Node *node) : node_(node) { take(); }
  Pointer(const Pointer &other) : node_(other.node_) { take(); }
  Pointer &operator=(const Pointer &other) {
    Pointer copy(other);
    std::swap(node_, copy.node_);
    return *this;
  }
  ~Pointer() {
    if (node_ && --node_->combined_refcount_ == 0) delete node_;
  }
  long use_count() const { return node_ ? static_cast<long>(node_->combined_refcount_.load()) : 0; }

 private:
  void take() {
    if (node_) ++node_->combined_refcount_;
  }
  Node *node_ = nullptr;
};
static_assert(offsetof(Node, sequence_nr_) == 16 && offsetof(Node, thread_id_) == 40);
Pointer make(uint64_t sequence, uint64_t thread) { return Pointer(new Node(sequence, thread)); }
#else
using Pointer = std::shared_ptr<Node>;
static_assert(offsetof(Node, sequence_nr_) == 24 && offsetof(Node, thread_id_) == 48);
Pointer make(uint64_t sequence, uint64_t thread) { return std::make_shared<Node>(sequence, thread); }
#endif

thread_local Pointer current;
EXPORT Pointer get_current_node();
Pointer get_current_node() { return current; }

}  // namespace torch::autograd

using Tell = void (*)(void *, int64_t, uint64_t, uint64_t, uint64_t);

/// A forward operation makes a node.
extern "C" EXPORT uint64_t make_node() { return at::sequence_number::get_and_increment(); }

/// A thread of the engine runs a node (0: none) that allocates `count` blocks. References to the node afterwards, -1 each for
/// a change in between.
extern "C" EXPORT long run_backward(Tell tell, uint64_t sequence, uint64_t address, int count) {
  long left = 0;
  std::thread([&] {
    using namespace torch::autograd;
    if (sequence) current = make(sequence, 33);
    const long before = current.use_count();
    for (int i = 0; i < count; i++) tell(reinterpret_cast<void *>(address + static_cast<uint64_t>(i)), 512, 0, 0, 1);
    left = current.use_count() == before ? before : -1;
    current = {};
  }).join();
  return left;
}

/// One thread allocates `count` blocks in a node and as many outside, in turns.
extern "C" EXPORT void run_in_and_out(Tell tell, uint64_t sequence, uint64_t address, int count) {
  std::thread([&] {
    using namespace torch::autograd;
    const Pointer node = make(sequence, 33);
    for (int i = 0; i < 2 * count; i++) {
      current = i % 2 ? Pointer() : node;
      tell(reinterpret_cast<void *>(address + static_cast<uint64_t>(i)), 512, 0, 0, 1);
    }
    current = {};
  }).join();
}
