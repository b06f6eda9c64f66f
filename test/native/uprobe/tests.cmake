# The tracer that attaches from outside. Its programs are tested on the simulated driver, as root; without root these tests are
# skipped, and say so.
if(NOT TARGET gpu_memtrace_uprobe)
  return()
endif()
include(CheckCXXSourceCompiles)
set(uprobe ${CMAKE_CURRENT_LIST_DIR})

# A probe is set in a file, for every process that maps it: these tests have a driver of their own, so that no test beside them
# meets their probes.
set(uprobe_simulator ${CMAKE_CURRENT_BINARY_DIR}/uprobe_simulator)
add_custom_target(uprobe_simulator_copy ALL DEPENDS simulator
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${GMT_SIMULATOR} ${uprobe_simulator})

add_executable(uprobe_burst ${uprobe}/burst.cpp)
target_link_libraries(uprobe_burst PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)

add_library(uprobe_backward SHARED ${uprobe}/backward.cpp)
target_link_libraries(uprobe_backward PRIVATE Threads::Threads)

# Files of others: also damaged ones, with sanitizers where the compiler has them.
get_target_property(uprobe_file_sources gmt_uprobe_files SOURCES)
list(TRANSFORM uprobe_file_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/../../../native/uprobe/)
gmt_native_test(uprobe_files SOURCES ${uprobe}/files_test.cpp ${uprobe_file_sources} LIBRARIES gmt_wire ${CMAKE_DL_LIBS})
gmt_unite(uprobe_files_test 8)
add_dependencies(uprobe_files_test simulator inject_torch_shared)
target_compile_definitions(uprobe_files_test PRIVATE GMT_ROUNDS=1500)
set_tests_properties(uprobe_files PROPERTIES ENVIRONMENT "GMT_LIBRARY=${GMT_SIMULATOR}/libcuda.so.1;GMT_TORCH_LIBRARY=$<TARGET_FILE:inject_torch_shared>")
set(CMAKE_REQUIRED_FLAGS "-fsanitize=address,undefined")
check_cxx_source_compiles("int main() { return 0; }" GMT_HAS_SANITIZERS)
unset(CMAKE_REQUIRED_FLAGS)
if(GMT_HAS_SANITIZERS)
  target_compile_options(uprobe_files_test PRIVATE -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(uprobe_files_test PRIVATE -fsanitize=address,undefined)
endif()

gmt_native_test(uprobe_autograd_probes SOURCES ${uprobe}/autograd_probes_test.cpp LIBRARIES gmt_uprobe_files)
add_dependencies(uprobe_autograd_probes_test inject_torch_shared inject_torch_intrusive simulator)
set_tests_properties(uprobe_autograd_probes PROPERTIES ENVIRONMENT "GMT_LIBRARY=${GMT_SIMULATOR}/libcuda.so.1;GMT_TORCH_SHARED=$<TARGET_FILE:inject_torch_shared>;GMT_TORCH_INTRUSIVE=$<TARGET_FILE:inject_torch_intrusive>")

add_executable(uprobe_places ${uprobe}/places.cpp)
target_link_libraries(uprobe_places PRIVATE gmt_uprobe_files)
find_program(GMT_OBJDUMP objdump)
if(GMT_PYTHON3 AND GMT_OBJDUMP)
  add_test(NAME uprobe_places COMMAND ${GMT_PYTHON3} ${uprobe}/places_test.py $<TARGET_FILE:uprobe_places> ${GMT_OBJDUMP}
    ${GMT_SIMULATOR}/libcuda.so.1)
endif()

add_library(uprobe_odd_driver SHARED ${uprobe}/odd_driver.cpp)
target_compile_options(uprobe_odd_driver PRIVATE -fno-inline -fno-optimize-sibling-calls)
set_target_properties(uprobe_odd_driver PROPERTIES PREFIX "" OUTPUT_NAME libcuda.so.1 SUFFIX "" NO_SONAME ON
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/odd)
target_link_options(uprobe_odd_driver PRIVATE "-Wl,-soname,libcuda.so.1")
add_executable(uprobe_odd_program ${uprobe}/odd_program.cpp)
target_link_libraries(uprobe_odd_program PRIVATE uprobe_odd_driver)

function(uprobe_test name)
  if(GMT_PYTHON3)
    add_test(NAME uprobe_${name} COMMAND ${GMT_PYTHON3} ${uprobe}/${name}_test.py)
    set_tests_properties(uprobe_${name} PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK uprobe
      ENVIRONMENT "GMT_LIBRARY=$<TARGET_FILE:gpumemtrace>;GMT_UPROBE=$<TARGET_FILE:gpu_memtrace_uprobe>;GMT_BURST=$<TARGET_FILE:uprobe_burst>;GMT_BACKWARD=$<TARGET_FILE:uprobe_backward>;GMT_BUILT=${inject_built};GMT_SIMULATOR=${uprobe_simulator};PYTHONDONTWRITEBYTECODE=1")
  endif()
endfunction()
foreach(name calls attach earlier life loss same autograd odd)
  uprobe_test(${name})
endforeach()
if(GMT_PYTHON3)
  set_tests_properties(uprobe_attach PROPERTIES RESOURCE_LOCK uprobe_attach) # the two longest rows of tests run side by side
endif()

# Each header of the BPF programs includes what it uses.
file(GLOB bpf_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../../native/uprobe/bpf/*.bpf.h)
foreach(header ${bpf_headers})
  get_filename_component(name ${header} NAME_WE)
  add_test(NAME uprobe_header_${name} COMMAND ${GMT_CLANG} -target bpf -D__TARGET_ARCH_x86 -std=gnu11 -O2 -ffreestanding -fsyntax-only
    -Wno-pragma-once-outside-header -isystem ${CMAKE_BINARY_DIR}/uprobe/bpf -isystem ${GMT_BPF_INCLUDE}
    -I${CMAKE_CURRENT_LIST_DIR}/../../native/uprobe/bpf_include -I${CMAKE_CURRENT_LIST_DIR}/../../native/uprobe/bpf
    -I${CMAKE_CURRENT_LIST_DIR}/../../native -x c ${header})
endforeach()
