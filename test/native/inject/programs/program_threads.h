// A part of inject_program.cpp: modes in which threads meet at a first event, in a chunk or in a guest's callback.

/// A thread opens the log on a slow disk; 100 allocations of another one do not wait for ever.
int slow_opening(char **) {
  g_slow = true;
  std::thread first(many, 10, 1);
  while (!g_waits) usleep(1000);
  many(100, 2);
  g_slow = false;
  first.join();
  many(10, 3);
  return 0;
}

/// A fork amid a thread's first event: the child, which has no such thread, opens its own log.
int fork_opening(char **) {
  g_slow = true;
  std::thread first(many, 10, 1);
  while (!g_waits) usleep(1000);
  const pid_t child = fork();
  g_slow = false;
  if (child == 0) {
    many(100, 9);
    std::exit(0);
  }
  wait_for(child);
  first.join();
  return 0;
}

/// More threads at once than may have a chunk of their own; they allocate in turn, a few each time.
int in_turn(char **argv) {
  const auto threads = static_cast<unsigned>(atoi(argv[0]));
  const int turns = atoi(argv[1]);
  std::atomic<unsigned> turn{0};
  std::vector<std::thread> running;
  for (unsigned own = 0; own < threads; own++)
    running.emplace_back([&, own] {
      for (int left = turns; left > 0; left--) {
        while (turn % threads != own) usleep(10);
        many(20, own + 1);
        turn++;
        many(3, own + 1);  // beside the next one
      }
    });
  for (auto &thread : running) thread.join();
  return 0;
}

/// A guest of CUPTI comes and goes while threads call the driver: what it gave is not used once it has gone.
int guests(char **argv) {
  using Callback = void (*)(void *, uint32_t, uint32_t, const void *);
  using Subscribe = int (*)(void **, Callback, void *);
  using Switch = int (*)(uint32_t, void *, uint32_t);
  std::atomic<bool> over{false};
  std::thread driving([&] {
    drive(argv);
    over = true;
  });
  const auto find = [](const char *name) { return dlsym(RTLD_DEFAULT, name); };
  uint64_t calls = 0;
  while (!over) {
    struct Guest {
      std::atomic<bool> there{true};
      std::atomic<uint64_t> calls{0};
    };
    auto *guest = new Guest;
    void *subscriber = nullptr;
    const Callback callback = [](void *own, uint32_t, uint32_t, const void *) {
      if (!static_cast<Guest *>(own)->there) wrong("a guest that has gone is called");
      static_cast<Guest *>(own)->calls++;
    };
    if (reinterpret_cast<Subscribe>(find("cuptiSubscribe"))(&subscriber, callback, guest) != 0) {
      delete guest;
      usleep(100);
      continue;
    }
    reinterpret_cast<Switch>(find("cuptiEnableDomain"))(1, subscriber, 1);
    usleep(200);
    reinterpret_cast<int (*)(void *)>(find("cuptiUnsubscribe"))(subscriber);
    calls += guest->calls;
    guest->there = false;
    delete guest;
  }
  driving.join();
  if (calls == 0) wrong("no guest was ever called");
  return 0;
}
