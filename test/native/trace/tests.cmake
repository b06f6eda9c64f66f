foreach(name merge clock tables log_file records session save pickle snapshot)
  gmt_native_test(trace_${name} LIBRARIES gmt_trace)
endforeach()
gmt_native_test(trace_live LIBRARIES gmt_trace Threads::Threads)

gmt_native_test(trace_line_table LIBRARIES gmt_trace)
target_compile_definitions(trace_line_table_test PRIVATE GMT_TEST_SOURCE="${CMAKE_CURRENT_LIST_DIR}")

# Prints a trace as text; the golden traces are compared with what it printed when they were written.
add_executable(trace_dump ${CMAKE_CURRENT_LIST_DIR}/dump.cpp)
target_link_libraries(trace_dump PRIVATE gmt_trace)
gmt_native_test(trace_golden LIBRARIES gmt_trace)
add_dependencies(trace_golden_test trace_dump)
target_compile_definitions(trace_golden_test PRIVATE
  GMT_TRACE_DUMP="$<TARGET_FILE:trace_dump>" GMT_TEST_GOLDEN="${CMAKE_CURRENT_LIST_DIR}/../../golden/trace")
