gmt_native_tests(session LIBRARIES gmt_session Threads::Threads FILES until checkpoint saved)
set_tests_properties(session_saved PROPERTIES ENVIRONMENT "GMT_TEST_GOLDEN=${CMAKE_CURRENT_LIST_DIR}/../../golden/trace")
