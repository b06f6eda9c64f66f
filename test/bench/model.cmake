add_executable(model_bench EXCLUDE_FROM_ALL model_bench.cpp)
target_include_directories(model_bench PRIVATE ../native)
target_link_libraries(model_bench PRIVATE gmt_model gmt_trace)
