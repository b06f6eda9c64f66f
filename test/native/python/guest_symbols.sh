#!/bin/sh
# python_guest_symbols.sh NM LIBRARY: fails if the library needs anything beyond libc's old symbols.
symbols=$("$1" -D --undefined-only "$2") || exit 1
echo "$symbols"
if echo "$symbols" | grep -E '_Z|GLIBCXX|CXXABI|__cxa_(throw|allocate|guard)|__tls_get_addr|malloc|calloc'; then
  echo "the guest library needs symbols that it must not have"
  exit 1
fi
if echo "$symbols" | grep -E 'GLIBC_2\.(29|[3-9][0-9])'; then
  echo "the guest library needs a glibc newer than 2.28"
  exit 1
fi
