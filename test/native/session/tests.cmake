gmt_native_tests(session LIBRARIES gmt_session Threads::Threads FILES until checkpoint)
