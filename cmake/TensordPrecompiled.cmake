# Precompiled headers: one for libraries, one for tests (whose code is position-independent in another
# way), and one more of each for what links gRPC (which is compiled with -pthread). GCC takes a
# precompiled header only where such options are the same.
#
#   tensord_precompile(TARGET LIBRARY)       tensord_precompile(TARGET TEST)
#   tensord_precompile(TARGET RPC_LIBRARY)   tensord_precompile(TARGET RPC_TEST)
#
# On 2 cores they save a third of a build's time. Not with Clang, which refuses a header that was
# compiled with other definitions (TENSORD_VERSION is some files' own); that build shows which file
# does not include what it uses.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(default ON)
else()
  set(default OFF)
endif()
option(TENSORD_PRECOMPILE "Compile common headers once" ${default})

if(TENSORD_PRECOMPILE)
  # For ccache, which must look through the header.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

function(tensord_precompile target kind)
  if(NOT TENSORD_PRECOMPILE)
    return()
  endif()
  string(TOLOWER tensord_precompiled_${kind} shared)
  if(NOT TARGET ${shared})
    set(source "${CMAKE_BINARY_DIR}/${shared}.cc")
    set(header precompiled)
    set(deps tensord_absl)
    if(kind MATCHES "RPC")
      string(APPEND header _rpc)
      list(APPEND deps protobuf::libprotobuf gRPC::grpc++)
    endif()
    if(kind MATCHES "TEST")
      string(APPEND header _test)
      list(APPEND deps GTest::gmock)
      file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
      add_executable(${shared} "${source}")
    else()
      file(CONFIGURE OUTPUT "${source}" CONTENT "")
      add_library(${shared} STATIC "${source}")
    endif()
    target_include_directories(${shared} PRIVATE "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${shared} PRIVATE ${deps})
    target_precompile_headers(${shared} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/${header}.h")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
