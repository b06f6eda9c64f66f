// A stand-in for PyTorch's libtorch_cpu.so with what the tracer asks of autograd, with Node as it was (shared_ptr) and as it is
// since it became intrusive. No line of it is PyTorch's.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#define EXPORT __attribute__((visibility("default")))

// One of the two has its thread-local variables to itself and the other lets others have them: compilers reach them differently.
#ifdef TORCH_INTRUSIVE
#define OWN EXPORT
#else
#define OWN static
#endif

namespace at::sequence_number {
OWN thread_local uint64_t next = 0;
EXPORT uint64_t peek() { return next; }
EXPORT uint64_t get_and_increment() { return next++; }
}  // namespace at::sequence_number

namespace at {
struct EXPORT RecordFunction {
  static uint64_t currentThreadId();
};
OWN thread_local uint64_t thread_id = 0;
uint64_t RecordFunction::currentThreadId() {
  if (thread_id == 0) thread_id = 77;
  return thread_id;
}
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
}  // namespace torch::autograd
namespace c10 {
/// Counts strong references in the low half.
template <class T>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  explicit intrusive_ptr(T *object) : object_(object) { take(); }
  intrusive_ptr(const intrusive_ptr &other) : object_(other.object_) { take(); }
  intrusive_ptr &operator=(const intrusive_ptr &other) {
    intrusive_ptr copy(other);
    std::swap(object_, copy.object_);
    return *this;
  }
  ~intrusive_ptr() {
    if (object_ && --object_->combined_refcount_ == 0) delete object_;
  }
  T *get() const { return object_; }
  long use_count() const { return object_ ? static_cast<long>(object_->combined_refcount_.load()) : 0; }

 private:
  void take() {
    if (object_) ++object_->combined_refcount_;
  }
  T *object_ = nullptr;
};
}  // namespace c10
namespace torch::autograd {
using Pointer = c10::intrusive_ptr<Node>;
static_assert(offsetof(Node, sequence_nr_) == 16 && offsetof(Node, thread_id_) == 40);
Pointer make(uint64_t sequence, uint64_t thread) { return Pointer(new Node(sequence, thread)); }
#else
using Pointer = std::shared_ptr<Node>;
static_assert(offsetof(Node, sequence_nr_) == 24 && offsetof(Node, thread_id_) == 48);
Pointer make(uint64_t sequence, uint64_t thread) { return std::make_shared<Node>(sequence, thread); }
#endif

thread_local Pointer current;
/// Equals `current` whenever a node allocates, and is stale outside of one.
thread_local const Node *ran_last;
std::atomic<long> asked{0};
EXPORT Pointer get_current_node();
Pointer get_current_node() {
  asked++;
  return current;
}

struct GraphTask {
  std::function<void()> work;
};
struct InputBuffer {};
struct ReadyQueue {};
class EXPORT Engine {
 public:
  /// `fails`: the node's work ends with an exception.
  void run(const Pointer &node, std::function<void()> work, bool fails = false);
  void execute_with_graph_task(const std::shared_ptr<GraphTask> &task, Pointer node, InputBuffer &&inputs);

 private:
  void evaluate_function(std::shared_ptr<GraphTask> &task, Node *node, InputBuffer &inputs,
                         const std::shared_ptr<ReadyQueue> &queue);
};
__attribute__((noinline)) void Engine::evaluate_function(std::shared_ptr<GraphTask> &task, Node *, InputBuffer &,
                                                         const std::shared_ptr<ReadyQueue> &) {
  task->work();
}
void Engine::execute_with_graph_task(const std::shared_ptr<GraphTask> &task, Pointer node, InputBuffer &&inputs) {
  std::shared_ptr<GraphTask> own = task;
  const Pointer before = current;
  current = node;
  ran_last = node.get();
  try {
    evaluate_function(own, node.get(), inputs, nullptr);
  } catch (int) {
  }
  current = before;
  if (before.get()) ran_last = before.get();
}
void Engine::run(const Pointer &node, std::function<void()> work, bool fails) {
  const auto task = std::make_shared<GraphTask>();
  task->work = [&] {
    work();
    if (fails) throw 1;
  };
  execute_with_graph_task(task, node, {});
}

}  // namespace torch::autograd

using Tell = void (*)(void *, int64_t, uint64_t, uint64_t, uint64_t);

extern "C" EXPORT long times_asked() { return torch::autograd::asked; }

/// A forward operation makes a node.
extern "C" EXPORT uint64_t make_node() {
  const uint64_t number = at::sequence_number::get_and_increment();
  at::RecordFunction::currentThreadId();
  return number;
}

/// A thread of the engine runs a node (0: none) that allocates `count` blocks. References to the node afterwards, -1 each for
/// a change in between.
extern "C" EXPORT long run_backward(Tell tell, uint64_t sequence, uint64_t address, int count) {
  long left = 0;
  std::thread([&] {
    using namespace torch::autograd;
    const auto work = [&] {
      const long before = current.use_count();
      for (int i = 0; i < count; i++) tell(reinterpret_cast<void *>(address + static_cast<uint64_t>(i)), 512, 0, 0, 1);
      left = current.use_count() == before ? before : -1;
    };
    if (sequence)
      Engine().run(make(sequence, 33), work);
    else
      work();
  }).join();
  return left;
}

/// A node allocates a block, runs another node that does too, and allocates a third.
extern "C" EXPORT void run_nested(Tell tell, uint64_t outer, uint64_t inner, uint64_t address) {
  std::thread([=] {
    using namespace torch::autograd;
    const auto allocate = [=](uint64_t place) { tell(reinterpret_cast<void *>(address + place), 512, 0, 0, 1); };
    Engine().run(make(outer, 33), [=] {
      allocate(0);
      Engine().run(make(inner, 33), [=] { allocate(1); });
      allocate(2);
    });
  }).join();
}

/// One thread allocates `count` blocks in a node and as many outside, in turns.
extern "C" EXPORT void run_in_and_out(Tell tell, uint64_t sequence, uint64_t address, int count) {
  std::thread([&] {
    using namespace torch::autograd;
    const Pointer node = make(sequence, 33);
    for (int i = 0; i < 2 * count; i++) {
      const auto work = [&] { tell(reinterpret_cast<void *>(address + static_cast<uint64_t>(i)), 512, 0, 0, 1); };
      if (i % 2)
        work();
      else
        Engine().run(node, work, i % 4 == 2);
    }
  }).join();
}
