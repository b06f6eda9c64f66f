gmt_native_tests(recorder LIBRARIES gmt_recorder Threads::Threads FILES folded reader killed full copies)
set_tests_properties(recorder_copies PROPERTIES ENVIRONMENT "GMT_RECORDER=$<TARGET_FILE:gpu_memtrace_recorder>")
target_sources(recorder_tests PRIVATE recorder/fold_trace.cpp) # for test/golden
