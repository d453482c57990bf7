# What every target of ours shares: warnings as errors, sanitizers, ccache, and functions that declare libraries.

find_program(K3_CCACHE ccache)
if(K3_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need the two sloppiness settings; base_dir lets build folders share results.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${K3_CCACHE})
endif()

add_library(k3_flags INTERFACE)
target_compile_options(k3_flags INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>)
target_include_directories(k3_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
target_compile_definitions(k3_flags INTERFACE K3_VERSION="${PROJECT_VERSION}")
if(K3_SANITIZE)
  target_compile_options(k3_flags INTERFACE -fsanitize=${K3_SANITIZE} -fno-omit-frame-pointer -g1
                         -fno-sanitize-recover=all)
  target_link_options(k3_flags INTERFACE -fsanitize=${K3_SANITIZE})
endif()

# k3_add_library(NAME SOURCES... [DEPENDS targets...] [LINK libraries...]): a static library of support/ or runtime/.
function(k3_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC k3_flags ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# k3_add_test(NAME SOURCES... [LINK libraries...]): a GoogleTest program, registered with ctest under its own name.
function(k3_add_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  if(NOT K3_BUILD_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  find_package(Threads REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} k3_flags GTest::gtest GTest::gtest_main GTest::gmock Threads::Threads)
  target_compile_definitions(${name} PRIVATE K3_SOURCE_DIR="${CMAKE_SOURCE_DIR}" K3_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/bin)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# k3_add_compiler_library(NAME SOURCES... [DEPENDS ...] [LINK ...]): a static library of the compiler half. It names no
# MLIR archive: libMLIR and libLLVM are linked once, at the executable.
function(k3_add_compiler_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC k3_flags k3_mlir ${ARG_LINK})
  add_dependencies(${name} k3_tablegen ${ARG_DEPENDS})
  target_precompile_headers(${name} REUSE_FROM k3_pch)
endfunction()

# k3_add_compiler_executable(NAME SOURCES... [LINK ...])
function(k3_add_compiler_executable name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} k3_flags k3_mlir MLIR LLVM)
  add_dependencies(${name} k3_tablegen)
  target_precompile_headers(${name} REUSE_FROM k3_pch)
endfunction()
