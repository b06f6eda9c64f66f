gmt_native_tests(trace LIBRARIES gmt_trace Threads::Threads
  FILES merge clock tables log_file records session save columns packed pickle snapshot snapshot_kinds live line_table)
set_tests_properties(trace_line_table PROPERTIES ENVIRONMENT "GMT_TEST_SOURCE=${CMAKE_CURRENT_LIST_DIR}")

# Prints a trace as text; the golden traces are compared with what it printed when they were written.
add_executable(trace_dump ${CMAKE_CURRENT_LIST_DIR}/dump.cpp)
target_link_libraries(trace_dump PRIVATE gmt_trace)
gmt_native_test(trace_golden SOURCES ${CMAKE_CURRENT_LIST_DIR}/golden_test.cpp LIBRARIES gmt_trace)
add_dependencies(trace_golden_test trace_dump)
set_tests_properties(trace_golden PROPERTIES ENVIRONMENT
  "GMT_TRACE_DUMP=$<TARGET_FILE:trace_dump>;GMT_TEST_GOLDEN=${CMAKE_CURRENT_LIST_DIR}/../../golden/trace")
