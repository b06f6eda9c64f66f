# What was there before the tracer came, of an allocator that keeps its books as PyTorch's does.
if(NOT TARGET gmt_uprobe_before)
  return()
endif()
set(before ${CMAKE_CURRENT_LIST_DIR}/uprobe_before)

# Damaged books too, so with sanitizers where the compiler has them. What is broken on purpose is never given back.
get_target_property(before_sources gmt_uprobe_before SOURCES)
list(FILTER before_sources INCLUDE REGEX "before_(block|map|memory|pool|torch)")
list(TRANSFORM before_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/../../native/uprobe/)
gmt_native_test(uprobe_before_torch SOURCES ${before}/torch_test.cpp ${before_sources} LIBRARIES gmt_wire Threads::Threads)
target_include_directories(uprobe_before_torch_test PRIVATE ${before} ${CMAKE_CURRENT_LIST_DIR}/../../native)
set_tests_properties(uprobe_before_torch PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
if(GMT_HAS_SANITIZERS)
  target_compile_options(uprobe_before_torch_test PRIVATE -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(uprobe_before_torch_test PRIVATE -fsanitize=address,undefined)
endif()
