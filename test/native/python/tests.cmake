# The walk is tested from inside each Python that the machine has: a probe library, loaded through ctypes.
add_library(python_probe SHARED ${CMAKE_CURRENT_LIST_DIR}/probe.cpp)
target_link_libraries(python_probe PRIVATE gmt_python -static-libstdc++ -static-libgcc)

# The same code as a guest library has it: it must link without libstdc++.
add_library(python_guest SHARED ${CMAKE_CURRENT_LIST_DIR}/guest.cpp)
target_compile_options(python_guest PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
target_link_options(python_guest PRIVATE -nodefaultlibs -Wl,-z,defs)
target_link_libraries(python_guest PRIVATE gmt_python c gcc)

find_program(GMT_NM nm)
add_test(NAME python_guest_symbols
         COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/guest_symbols.sh ${GMT_NM} $<TARGET_FILE:python_guest>)

add_executable(python_absent_test ${CMAKE_CURRENT_LIST_DIR}/absent_test.cpp)
target_include_directories(python_absent_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(python_absent_test PRIVATE gmt_python ${CMAKE_DL_LIBS} pthread)
add_test(NAME python_absent COMMAND python_absent_test)

add_executable(python_embedded ${CMAKE_CURRENT_LIST_DIR}/embedded.cpp)
target_include_directories(python_embedded PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(python_embedded PRIVATE gmt_python ${CMAKE_DL_LIBS})

find_program(GMT_PYTHON3 python3)
if(GMT_PYTHON3)
  add_test(NAME python_versions COMMAND ${GMT_PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/versions.py
                                        $<TARGET_FILE:python_probe> $<TARGET_FILE:python_embedded>)
  set_tests_properties(python_versions PROPERTIES SKIP_RETURN_CODE 77)
endif()
