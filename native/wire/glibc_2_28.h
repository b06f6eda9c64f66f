#pragma once
// Included before everything else in what the traced program loads (CMakeLists.txt of each): binds functions that newer glibcs moved
// between libraries to the version that they have had since the first glibc of this processor, so that it loads on glibc 2.28 and up.
#include "wire/glibc_first.h"

#define GMT_OLD(name) __asm__(".symver " #name "," #name "@" GMT_FIRST_GLIBC)
GMT_OLD(dlopen);
GMT_OLD(dlsym);
GMT_OLD(pthread_once);
