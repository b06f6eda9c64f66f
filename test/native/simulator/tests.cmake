# The simulator is tested from the outside, through its exported functions.
if(NOT GMT_PYTHON3)
  message(STATUS "No Python 3: the simulator's tests are left out")
  return()
endif()

foreach(guest injected reports)
  add_library(simulator_${guest} MODULE ${CMAKE_CURRENT_LIST_DIR}/${guest}.cpp)
endforeach()

foreach(part rules callbacks allocator workloads)
  add_test(NAME simulator_${part}
    COMMAND ${GMT_PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/${part}_test.py)
  set_tests_properties(simulator_${part} PROPERTIES ENVIRONMENT
    "GMT_SIMULATOR=${GMT_SIMULATOR};LD_LIBRARY_PATH=${GMT_SIMULATOR};GPU_MEMTRACE_WORKLOAD=allocator;GMT_SIMULATOR_INJECTED=$<TARGET_FILE:simulator_injected>;GMT_SIMULATOR_REPORTS=$<TARGET_FILE:simulator_reports>")
endforeach()
