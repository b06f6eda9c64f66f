#pragma once
// Included before everything else in the simulator's libraries (CMakeLists.txt): binds what newer glibcs moved between
// libraries to the version that it has always had, so that they load on glibc 2.28 and up.
#if defined(__x86_64__)
#define GMT_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#elif defined(__aarch64__)
#define GMT_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#endif
GMT_OLD(dlopen);
GMT_OLD(dlsym);
GMT_OLD(pthread_once);
