# The agent in the interpreters that are here: over a stand-in for PyTorch, and over PyTorch where one has it; a stand-in for NVML, and a library that
# outlives the interpreter.
set(agent ${CMAKE_CURRENT_LIST_DIR})
add_library(agent_nvml SHARED ${agent}/nvml_library.cpp)
set_target_properties(agent_nvml PROPERTIES PREFIX "" OUTPUT_NAME libnvidia-ml SUFFIX ".so.1"
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/agent_nvml)
add_library(agent_torch_cuda SHARED ${agent}/torch_cuda_library.cpp)
set_target_properties(agent_torch_cuda PROPERTIES OUTPUT_NAME torch_cuda CXX_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/agent_torch_cuda)
add_library(agent_late_exit SHARED ${agent}/late_exit_library.cpp)
foreach(name agent holders torch memory fixes arrays)
  if(GMT_PYTHON3)
    add_test(NAME agent_${name} COMMAND ${GMT_PYTHON3} ${agent}/${name}_test.py)
    set_tests_properties(agent_${name} PROPERTIES
      ENVIRONMENT "GMT_LIBRARY=$<TARGET_FILE:gpumemtrace>;GMT_BUILT=${CMAKE_CURRENT_BINARY_DIR}/inject;GMT_SIMULATOR=${GMT_SIMULATOR};GMT_NVML=$<TARGET_FILE_DIR:agent_nvml>;GMT_TORCH_CUDA=$<TARGET_FILE:agent_torch_cuda>;GMT_LATE_EXIT=$<TARGET_FILE:agent_late_exit>;PYTHONDONTWRITEBYTECODE=1")
  endif()
endforeach()
