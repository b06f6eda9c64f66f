// A stand-in for a libc10_cuda.so whose allocator reports by USDT probes alone: each probe a nop, a note that describes it, and a
// semaphore that says whether anybody listens.
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT uint64_t usdt_passed;
uint64_t usdt_passed;  ///< times a probe was passed by

__attribute__((section(".probes"), used, visibility("hidden"))) volatile unsigned short pytorch_malloc_semaphore;
__attribute__((section(".probes"), used, visibility("hidden"))) volatile unsigned short pytorch_free_semaphore;

// One base in the file says whether it was moved after the notes were made.
__asm__(
    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
    ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n");

#define PROBE(name, arguments)                                   \
  "990: nop\n"                                                   \
  ".pushsection .note.stapsdt, \"?\", \"note\"\n"                \
  ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                  \
  "991: .asciz \"stapsdt\"\n992: .balign 4\n"                    \
  "993: .8byte 990b, _.stapsdt.base, pytorch_" name              \
  "_semaphore\n"                                                 \
  ".asciz \"pytorch\"\n.asciz \"" name "\"\n.asciz \"" arguments \
  "\"\n"                                                         \
  "994: .balign 4\n.popsection\n"

EXPORT void usdt_take(uint64_t address, int device, uint64_t bytes, uint64_t stream) {
  if (!pytorch_malloc_semaphore) return;
  usdt_passed++;
  __asm__ volatile(PROBE("malloc", "8@%%rdi -4@%%esi 8@%%rdx 8@%%rcx")
                   :
                   : "D"(address), "S"(device), "d"(bytes), "c"(stream));
}

EXPORT void usdt_give(uint64_t address) {
  if (!pytorch_free_semaphore) return;
  usdt_passed++;
  volatile uint64_t kept[3] = {0, address, 0};
  __asm__ volatile(PROBE("free", "8@8(%%rax)") : : "a"(kept) : "memory");
}
