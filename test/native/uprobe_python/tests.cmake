# The Python walk in BPF, tested from outside each Python that the machine has. Needs root to run.
if(NOT TARGET gmt_uprobe_python)
  return()
endif()
set(sources ${CMAKE_CURRENT_LIST_DIR})
set(uprobe ${CMAKE_CURRENT_LIST_DIR}/../../../native/uprobe)
set(made ${CMAKE_BINARY_DIR}/uprobe/bpf)
set(walk ${CMAKE_CURRENT_BINARY_DIR}/uprobe_python_walk)
file(MAKE_DIRECTORY ${walk})
file(GLOB bpf_headers CONFIGURE_DEPENDS ${uprobe}/bpf/*.bpf.h)
add_custom_command(OUTPUT ${walk}/walk.skel.h
  COMMAND ${GMT_CLANG} -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter
          -Wno-missing-declarations -ffreestanding -ffile-prefix-map=${GMT_ROOT}=. -isystem ${made} -isystem ${GMT_BPF_INCLUDE}
          -I${uprobe}/bpf_include -I${uprobe}/bpf -I${uprobe}/.. -c ${sources}/walk.bpf.c -o ${walk}/walk.bpf.o
  COMMAND ${GMT_BPFTOOL} gen skeleton ${walk}/walk.bpf.o name walk_bpf > ${walk}/walk.skel.h
  DEPENDS ${sources}/walk.bpf.c ${uprobe}/bpf/ring.h ${uprobe}/bpf/python_ring.h ${bpf_headers} uprobe_bpf VERBATIM)
add_custom_target(uprobe_python_walk DEPENDS ${walk}/walk.skel.h)

gmt_native_test(uprobe_python_records SOURCES ${sources}/python_records_test.cpp LIBRARIES gmt_uprobe_python gmt_trace ${GMT_LIBBPF} ${GMT_LIBELF} ${GMT_LIBZ})

add_library(fake_libpython SHARED ${sources}/fake_libpython.cpp)
set_target_properties(fake_libpython PROPERTIES OUTPUT_NAME python3)
gmt_native_test(uprobe_python_target SOURCES ${sources}/target_test.cpp
                LIBRARIES gmt_uprobe_python ${CMAKE_DL_LIBS} Threads::Threads ${GMT_LIBBPF} ${GMT_LIBELF} ${GMT_LIBZ})
add_dependencies(uprobe_python_target_test fake_libpython)
set_tests_properties(uprobe_python_target PROPERTIES ENVIRONMENT "GMT_FAKE_LIBPYTHON=$<TARGET_FILE:fake_libpython>")

# Runs a program under the walk and prints its stacks.
add_executable(uprobe_python_trace ${sources}/walk_tracer.cpp)
add_dependencies(uprobe_python_trace uprobe_python_walk)
target_include_directories(uprobe_python_trace PRIVATE ${GMT_BPF_INCLUDE} ${walk})
target_link_libraries(uprobe_python_trace PRIVATE gmt_uprobe_python gmt_trace ${GMT_LIBBPF} ${GMT_LIBELF} ${GMT_LIBZ})

add_library(uprobe_python_calls SHARED ${sources}/calls.cpp)
add_executable(uprobe_python_late ${sources}/late.cpp)
target_link_libraries(uprobe_python_late PRIVATE ${CMAKE_DL_LIBS})

# The kernel walks along frame pointers.
add_executable(uprobe_native_callers ${sources}/native_callers.cpp)
target_compile_options(uprobe_native_callers PRIVATE -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls)
target_link_libraries(uprobe_native_callers PRIVATE ${CMAKE_DL_LIBS})

if(GMT_PYTHON3)
  foreach(name equal native)
    add_test(NAME uprobe_python_${name} COMMAND ${GMT_PYTHON3} ${sources}/${name}_test.py)
    set_tests_properties(uprobe_python_${name} PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK uprobe ENVIRONMENT
      "GMT_PYTHON_PROBE=$<TARGET_FILE:python_probe>;GMT_LIBRARY=$<TARGET_FILE:gpumemtrace>;GMT_UPROBE=$<TARGET_FILE:gpu_memtrace_uprobe>;GMT_BUILT=${inject_built};GMT_SIMULATOR=${uprobe_simulator};GMT_CALLERS=$<TARGET_FILE:uprobe_native_callers>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  add_test(NAME uprobe_python
           COMMAND ${GMT_PYTHON3} ${sources}/pythons.py $<TARGET_FILE:uprobe_python_trace>
                   ${uprobe_simulator}/libcuda.so.1 $<TARGET_FILE:python_probe>
                   $<TARGET_FILE:uprobe_python_calls> $<TARGET_FILE:uprobe_python_late>)
  set_tests_properties(uprobe_python PROPERTIES SKIP_RETURN_CODE 77)
endif()
