add_executable(model_bench model_bench.cpp)
target_include_directories(model_bench PRIVATE ../native)
target_link_libraries(model_bench PRIVATE gmt_model gmt_trace)
