# What a process held before the tracer came, read from outside.
add_library(gmt_uprobe_before STATIC before/block.cpp before/map.cpp before/pool.cpp before/segments.cpp before/torch.cpp)
gmt_unite(gmt_uprobe_before 8)
target_include_directories(gmt_uprobe_before PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/..)
target_link_libraries(gmt_uprobe_before PUBLIC gmt_uprobe_files)
