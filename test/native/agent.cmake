# The agent in the interpreters that are here: over a stand-in for PyTorch, and over PyTorch where one has it.
set(agent ${CMAKE_CURRENT_LIST_DIR}/agent)
foreach(name agent torch)
  if(GMT_PYTHON3)
    add_test(NAME agent_${name} COMMAND ${GMT_PYTHON3} ${agent}/${name}_test.py)
    set_tests_properties(agent_${name} PROPERTIES TIMEOUT 600
      ENVIRONMENT "GMT_LIBRARY=$<TARGET_FILE:gpumemtrace>;GMT_BUILT=${CMAKE_CURRENT_BINARY_DIR}/inject;GMT_SIMULATOR=${GMT_DIST}/simulator;PYTHONDONTWRITEBYTECODE=1")
  endif()
endforeach()
