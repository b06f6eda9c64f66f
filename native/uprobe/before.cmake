# What a process held before the tracer came, read from outside.
add_library(gmt_uprobe_before STATIC before_block.cpp before_map.cpp before_memory.cpp before_pool.cpp before_segments.cpp before_torch.cpp)
target_include_directories(gmt_uprobe_before PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/..)
target_link_libraries(gmt_uprobe_before PUBLIC gmt_uprobe_files)
