gmt_native_tests(recorder LIBRARIES gmt_recorder Threads::Threads FILES folded reader killed full)

# For test/golden.
add_executable(fold_trace recorder/fold_trace.cpp)
gmt_test_program(fold_trace)
target_link_libraries(fold_trace PRIVATE gmt_recorder)
