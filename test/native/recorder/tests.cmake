gmt_native_tests(recorder LIBRARIES gmt_recorder Threads::Threads FILES folded reader killed)
