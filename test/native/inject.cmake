# The library that is loaded into programs is tested in programs: Python scripts start them and read their logs by the layout.
set(inject ${CMAKE_CURRENT_LIST_DIR}/inject)
set(inject_built ${CMAKE_CURRENT_BINARY_DIR}/inject)

function(inject_target target)
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${inject_built} RUNTIME_OUTPUT_DIRECTORY ${inject_built})
  add_dependencies(inject_programs ${target})
endfunction()

add_custom_target(inject_programs ALL DEPENDS gpumemtrace simulator)
add_executable(inject_program ${inject}/program.cpp)
target_link_libraries(inject_program PRIVATE simulator_c10 ${CMAKE_DL_LIBS} Threads::Threads)
inject_target(inject_program)

function(inject_test name)
  if(GMT_PYTHON3)
    add_test(NAME inject_${name} COMMAND ${GMT_PYTHON3} ${inject}/${name}_test.py)
    set_tests_properties(inject_${name} PROPERTIES TIMEOUT 300
      ENVIRONMENT "GMT_LIBRARY=$<TARGET_FILE:gpumemtrace>;GMT_BUILT=${inject_built};GMT_SIMULATOR=${GMT_DIST}/simulator;PYTHONDONTWRITEBYTECODE=1")
  endif()
endfunction()
inject_test(writer)
