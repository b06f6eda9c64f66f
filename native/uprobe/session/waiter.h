#pragma once
// What the program waits for: the ring buffer, the recording switch, signals, the end of standard input.

namespace gmt::uprobe {

class Waiter {
 public:
  Waiter();
  ~Waiter();
  Waiter(const Waiter &) = delete;
  Waiter &operator=(const Waiter &) = delete;

  /// Wakes when this descriptor is readable. Its owner reads from it.
  void add(int descriptor);
  /// Until something happens, or `milliseconds` have passed.
  void wait(int milliseconds);
  /// SIGINT, SIGTERM or SIGHUP came, or standard input ended.
  bool asked_to_end() const { return ending_; }

 private:
  void read_signals();
  void read_input();

  int epoll_ = -1;
  int signals_ = -1;
  bool ending_ = false;
};

}  // namespace gmt::uprobe
