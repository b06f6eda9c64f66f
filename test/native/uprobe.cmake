# The tracer that attaches from outside. Its programs are tested on the simulated driver, as root; without root these tests are
# skipped, and say so.
if(NOT TARGET gpu_memtrace_uprobe)
  return()
endif()
set(uprobe ${CMAKE_CURRENT_LIST_DIR}/uprobe)

add_executable(uprobe_burst ${uprobe}/burst.cpp)
target_link_libraries(uprobe_burst PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)

function(uprobe_test name)
  if(GMT_PYTHON3)
    add_test(NAME uprobe_${name} COMMAND ${GMT_PYTHON3} ${uprobe}/${name}_test.py)
    set_tests_properties(uprobe_${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 RUN_SERIAL TRUE
      ENVIRONMENT "GMT_LIBRARY=$<TARGET_FILE:gpumemtrace>;GMT_UPROBE=$<TARGET_FILE:gpu_memtrace_uprobe>;GMT_BURST=$<TARGET_FILE:uprobe_burst>;GMT_BUILT=${inject_built};GMT_SIMULATOR=${GMT_DIST}/simulator;PYTHONDONTWRITEBYTECODE=1")
  endif()
endfunction()
foreach(name calls attach life loss)
  uprobe_test(${name})
endforeach()
