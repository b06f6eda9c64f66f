gmt_native_tests(recorder LIBRARIES gmt_recorder Threads::Threads FILES folded reader killed full copies)
set_tests_properties(recorder_copies PROPERTIES ENVIRONMENT "GMT_RECORDER=$<TARGET_FILE:gpu_memtrace_recorder>")

# For test/golden.
add_executable(fold_trace recorder/fold_trace.cpp)
gmt_test_program(fold_trace)
target_link_libraries(fold_trace PRIVATE gmt_recorder)
