# What the tracer knows of Python, outside BPF.
add_library(gmt_uprobe_python STATIC python/foreign_process.cpp python/target.cpp)
gmt_unite(gmt_uprobe_python 8)
target_include_directories(gmt_uprobe_python PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/..)
target_include_directories(gmt_uprobe_python SYSTEM PRIVATE ${GMT_BPF_INCLUDE})
target_link_libraries(gmt_uprobe_python PUBLIC gmt_uprobe_files gmt_wire)
