#pragma once
// Included before everything else in what the traced program loads (CMakeLists.txt of each): binds functions that newer glibcs moved
// between libraries to the version that they have had since x86-64 exists, so that it loads on glibc 2.28 and up.
#define GMT_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
GMT_OLD(dlopen);
GMT_OLD(dlsym);
GMT_OLD(pthread_once);
