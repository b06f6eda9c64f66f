gmt_native_tests(model LIBRARIES gmt_model gmt_trace
  FILES pairing driver backward sites library timeline steps ranges loop one_line_loop set_up memory choice lifetimes segments allocator replay)
# Compares with a slow and simple reference, many times.
set_source_files_properties(model/timeline_test.cpp PROPERTIES COMPILE_OPTIONS -O1 SKIP_UNITY_BUILD_INCLUSION ON)
