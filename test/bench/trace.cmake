add_executable(trace_bench ${CMAKE_CURRENT_LIST_DIR}/trace_bench.cpp)
target_include_directories(trace_bench PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../native)
target_link_libraries(trace_bench PRIVATE gmt_trace)
