#pragma once
// The version of what glibc has had since it was first made for this processor.
#ifdef __aarch64__
#define GMT_FIRST_GLIBC "GLIBC_2.17"
#else
#define GMT_FIRST_GLIBC "GLIBC_2.2.5"
#endif
