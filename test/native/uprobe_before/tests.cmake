# What was there before the tracer came, of an allocator that keeps its books as PyTorch's does.
if(NOT TARGET gmt_uprobe_before)
  return()
endif()
set(before ${CMAKE_CURRENT_LIST_DIR})

# Damaged books too, so with sanitizers where the compiler has them. What is broken on purpose is never given back.
get_target_property(before_sources gmt_uprobe_before SOURCES)
list(FILTER before_sources INCLUDE REGEX "before/(block|map|memory|pool|segments|torch)")
list(TRANSFORM before_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/../../../native/uprobe/)
gmt_native_test(uprobe_before_torch SOURCES ${before}/torch_test.cpp ${before_sources} LIBRARIES gmt_wire gmt_uprobe_files Threads::Threads)
gmt_unite(uprobe_before_torch_test 8)
target_include_directories(uprobe_before_torch_test PRIVATE ${before} ${CMAKE_CURRENT_LIST_DIR}/../../../native)
set_tests_properties(uprobe_before_torch PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
if(GMT_HAS_SANITIZERS)
  target_compile_options(uprobe_before_torch_test PRIVATE -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(uprobe_before_torch_test PRIVATE -fsanitize=address,undefined)
endif()

# A job whose libc10_cuda.so has such an allocator.
add_library(uprobe_before_library SHARED ${before}/torch_library.cpp)
set_target_properties(uprobe_before_library PROPERTIES PREFIX "" OUTPUT_NAME libc10_cuda.so SUFFIX ""
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/uprobe_before)
target_link_libraries(uprobe_before_library PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
# It is also loaded into Pythons that come with another C++ library, or none.
target_link_options(uprobe_before_library PRIVATE -static-libstdc++ -static-libgcc)
if(GMT_PYTHON3)
  add_test(NAME uprobe_before_attach COMMAND ${GMT_PYTHON3} ${before}/attach_test.py)
  set_tests_properties(uprobe_before_attach PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK uprobe_attach
    ENVIRONMENT "GMT_LIBRARY=$<TARGET_FILE:gpumemtrace>;GMT_UPROBE=$<TARGET_FILE:gpu_memtrace_uprobe>;GMT_BEFORE_LIBRARY=$<TARGET_FILE:uprobe_before_library>;GMT_BUILT=${inject_built};GMT_SIMULATOR=${uprobe_simulator};PYTHONDONTWRITEBYTECODE=1")
endif()
