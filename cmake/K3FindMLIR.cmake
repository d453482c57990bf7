# Finds LLVM and MLIR 22.1 (Debian: llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools) and prepares what the compiler
# half shares: include paths, flags, one precompiled header, and the collecting target for generated headers.

list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR 22.1 CONFIG)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "k3: LLVM/MLIR 22.1 was not found; install llvm-22-dev libmlir-22-dev mlir-22-tools "
                      "llvm-22-tools lld-22, or configure with -DK3_BUILD_COMPILER=OFF for the runtime alone")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_program(K3_LIT NAMES lit PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(K3_FILECHECK NAMES FileCheck PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
if(NOT K3_LIT OR NOT K3_FILECHECK)
  message(FATAL_ERROR "k3: lit or FileCheck is missing in ${LLVM_TOOLS_BINARY_DIR}; install llvm-22-tools")
endif()
message(STATUS "k3: MLIR ${LLVM_PACKAGE_VERSION} in ${LLVM_TOOLS_BINARY_DIR}, lit ${K3_LIT}, "
               "RTTI ${LLVM_ENABLE_RTTI}, assertions ${LLVM_ENABLE_ASSERTIONS}")

add_library(k3_mlir INTERFACE)
target_include_directories(k3_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
# mlir-tblgen takes its include paths from the directory, not from a target.
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR})
separate_arguments(K3_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(k3_mlir INTERFACE ${K3_LLVM_DEFINITIONS} -fno-exceptions)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps in std::string's operator+ that are not there (GCC bug 105651).
  target_compile_options(k3_mlir INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(k3_mlir INTERFACE -fno-rtti)
endif()

add_custom_target(k3_tablegen)
add_custom_target(k3-docs ALL)

# The header parses take most of a compile; every library of the compiler half shares this one.
add_library(k3_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(k3_pch PUBLIC k3_flags k3_mlir)
target_precompile_headers(k3_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

# k3_tablegen_dialect(FILE.td PREFIX DIALECT): every generated header of one dialect, as PREFIX{Ops,Types,...}.{h,cpp}.inc
function(k3_tablegen_dialect td prefix dialect)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${prefix}Ops.h.inc -gen-op-decls -dialect=${dialect})
  mlir_tablegen(${prefix}Ops.cpp.inc -gen-op-defs -dialect=${dialect})
  mlir_tablegen(${prefix}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
  mlir_tablegen(${prefix}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  mlir_tablegen(${prefix}Dialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${prefix}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  mlir_tablegen(${prefix}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
  mlir_tablegen(${prefix}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  mlir_tablegen(${prefix}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${prefix}Enums.cpp.inc -gen-enum-defs)
  add_public_tablegen_target(K3${prefix}IncGen)
  add_dependencies(k3_tablegen K3${prefix}IncGen)

  # The page of the dialect is made of the same texts as the code.
  mlir_tablegen(${dialect}.md -gen-dialect-doc -dialect=${dialect})
  set(page ${CMAKE_BINARY_DIR}/docs/dialects/${dialect}.md)
  add_custom_command(OUTPUT ${page} DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${dialect}.md
                     COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${dialect}.md ${page})
  add_custom_target(K3${prefix}Docs DEPENDS ${page})
  add_dependencies(k3-docs K3${prefix}Docs)
endfunction()
