# How a module declares itself in a few lines:
#
#   tensord_library(tensord_engine DIRS graph infer DEPS tensord_api)
#   tensord_executable(tensordctl DEPS tensord_client CLI11::CLI11)
#   tensord_proto(tensord_proto GRPC)
#   tensord_test(engine_infer_test DEPS tensord_engine)
#
# The include root is the repository: #include "engine/infer/shape_rules.h". Sources are globbed
# and the glob is checked at each build, so a new file needs no edit here.

set(TENSORD_GENERATED_DIR "${CMAKE_BINARY_DIR}/gen")

# The *.cc files of DIRS (the current folder if none is named), without those of the subfolders.
function(tensord_glob_sources out)
  set(dirs ${ARGN})
  if(NOT dirs)
    set(dirs .)
  endif()
  set(sources)
  foreach(dir IN LISTS dirs)
    get_filename_component(dir "${dir}" ABSOLUTE)
    file(GLOB found CONFIGURE_DEPENDS "${dir}/*.cc")
    list(APPEND sources ${found})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

function(tensord_note_dependencies target)
  set_property(GLOBAL APPEND PROPERTY TENSORD_TARGETS ${target})
  set_property(GLOBAL PROPERTY TENSORD_DEPS_OF_${target} ${ARGN})
endfunction()

# tensord_library(NAME [RPC] [DIRS dir...] [SOURCES file...] [EXCLUDE file...] [DEPS target...])
# A static library, with RPC one that includes gRPC's headers; without any source it is an INTERFACE library, so that others can already
# link it. Every library links Abseil and sees the repository root.
function(tensord_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RPC" "" "DIRS;SOURCES;EXCLUDE;DEPS")
  set(sources ${arg_SOURCES})
  if(NOT sources)
    tensord_glob_sources(sources ${arg_DIRS})
  endif()
  foreach(excluded IN LISTS arg_EXCLUDE)
    list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${excluded}")
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    if(arg_RPC)
      tensord_precompile(${name} RPC_LIBRARY)
    else()
      tensord_precompile(${name} LIBRARY)
    endif()
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} ${scope} ${arg_DEPS} tensord_absl)
  tensord_note_dependencies(${name} ${arg_DEPS})
endfunction()

# tensord_executable(NAME [DIRS dir...] [SOURCES file...] [DEPS target...])
# Nothing is defined while there are no sources.
function(tensord_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DIRS;SOURCES;DEPS")
  set(sources ${arg_SOURCES})
  if(NOT sources)
    tensord_glob_sources(sources ${arg_DIRS})
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} tensord_absl)
  tensord_note_dependencies(${name} ${arg_DEPS})
endfunction()

# tensord_proto(NAME [GRPC] [IMPORT_ROOT dir] [PROTOS file...] [DEPS target...])
# Generated code as a library. The .proto files are by default all below the current folder, and
# IMPORT_ROOT is that folder: proto/tensord/v1/graph.proto is included as "tensord/v1/graph.pb.h".
# With GRPC, files that declare a service also get their .grpc.pb.h. (CMake's own
# protobuf_generate() derives its output folder from the source folder rather than from the
# import root, so it is not used.)
function(tensord_proto name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GRPC" "IMPORT_ROOT" "PROTOS;DEPS")
  set(root "${CMAKE_CURRENT_SOURCE_DIR}")
  if(arg_IMPORT_ROOT)
    get_filename_component(root "${arg_IMPORT_ROOT}" ABSOLUTE)
  endif()
  set(protos ${arg_PROTOS})
  if(NOT protos)
    file(GLOB_RECURSE protos CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.proto")
  endif()
  set(generated)
  foreach(proto IN LISTS protos)
    get_filename_component(proto "${proto}" ABSOLUTE)
    file(RELATIVE_PATH stem "${root}" "${proto}")
    string(REGEX REPLACE "\\.proto$" "" stem "${stem}")
    set(outputs "${TENSORD_GENERATED_DIR}/${stem}.pb.cc" "${TENSORD_GENERATED_DIR}/${stem}.pb.h")
    set(grpc_arguments)
    if(arg_GRPC)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${proto}")
      file(STRINGS "${proto}" services REGEX "^service ")
      if(services)
        list(APPEND outputs
          "${TENSORD_GENERATED_DIR}/${stem}.grpc.pb.cc" "${TENSORD_GENERATED_DIR}/${stem}.grpc.pb.h")
        set(grpc_arguments --grpc_out=${TENSORD_GENERATED_DIR}
          --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
      endif()
    endif()
    # Every file depends on all: an import that changes its types changes the importer's code.
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND ${CMAKE_COMMAND} -E make_directory "${TENSORD_GENERATED_DIR}"
      COMMAND protobuf::protoc -I "${root}" --cpp_out=${TENSORD_GENERATED_DIR} ${grpc_arguments}
              "${proto}"
      DEPENDS ${protos}
      COMMENT "protoc ${stem}.proto"
      VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  if(NOT generated)
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(${name} STATIC ${generated})
    target_compile_options(${name} PRIVATE -w)
    set(scope PUBLIC)
  endif()
  target_include_directories(${name} SYSTEM ${scope} "${TENSORD_GENERATED_DIR}")
  target_link_libraries(${name} ${scope} ${arg_DEPS} protobuf::libprotobuf)
  if(arg_GRPC)
    target_link_libraries(${name} ${scope} gRPC::grpc++)
  endif()
endfunction()

# tensord_test(NAME [RPC] [SOURCES file...] [DEPS target...] [LABEL label] [TIMEOUT seconds] [ARGS arg...])
# One GoogleTest executable (GoogleMock's main included), one ctest entry. RPC says that it includes
# gRPC's headers. Without SOURCES it takes every *_test.cc of the current folder. LABEL "core" (the default) says that the test needs neither
# protobuf nor gRPC; the target tests_<label> builds all tests of a label. With TENSORD_CORE_ONLY
# tests of other labels do not exist. Tests find files of the repository below TENSORD_SOURCE_DIR
# and programs below TENSORD_BIN_DIR, both in the environment.
function(tensord_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SINGLE_THREADED;RPC" "LABEL;TIMEOUT" "SOURCES;DEPS;ARGS")
  if(NOT arg_LABEL)
    set(arg_LABEL core)
  endif()
  if(TENSORD_CORE_ONLY AND NOT arg_LABEL STREQUAL "core")
    return()
  endif()
  set(sources ${arg_SOURCES})
  if(NOT sources)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc")
  endif()
  if(NOT sources)
    return()
  endif()
  tensord_executable(${name} SOURCES ${sources} DEPS ${arg_DEPS} GTest::gmock_main GTest::gmock)
  if(arg_RPC)
    tensord_precompile(${name} RPC_TEST)
  else()
    tensord_precompile(${name} TEST)
  endif()
  set(labels ${arg_LABEL})
  if(arg_LABEL STREQUAL "core" AND NOT arg_SINGLE_THREADED)
    list(APPEND labels threaded)
  endif()
  foreach(label IN LISTS labels)
    tensord_label_target(${name} ${label})
  endforeach()
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  tensord_set_test_properties(${name} "${labels}" "${arg_TIMEOUT}")
endfunction()

# tensord_python_test(NAME SCRIPT file [ARGS arg...] [LABEL label] [TIMEOUT seconds])
# A Python unittest file, run from the repository root by Debian's python3.
function(tensord_python_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT;LABEL;TIMEOUT" "ARGS")
  if(NOT arg_LABEL)
    set(arg_LABEL scripts)
  endif()
  add_test(NAME ${name}
    COMMAND ${TENSORD_PYTHON} "${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT}" ${arg_ARGS}
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  tensord_set_test_properties(${name} "${arg_LABEL}" "${arg_TIMEOUT}")
endfunction()

function(tensord_label_target name label)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${name})
endfunction()

function(tensord_set_test_properties name label timeout)
  if(NOT timeout)
    set(timeout 300)
  endif()
  # Instrumented code takes up to ten times as long; a test that hangs is found all the same.
  if(TENSORD_SANITIZE)
    math(EXPR timeout "${timeout} * 5")
  endif()
  # The stack frames that GCC 12 makes for this are aligned for less than vectors of 64 bytes need;
  # the asan preset is Clang's.
  set(use_after_return 1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(use_after_return 0)
  endif()
  set(environment
    "TENSORD_SOURCE_DIR=${CMAKE_SOURCE_DIR}"
    "TENSORD_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
    "PYTHONDONTWRITEBYTECODE=1"
    "ASAN_OPTIONS=detect_stack_use_after_return=${use_after_return}:strict_string_checks=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=second_deadlock_stack=1")
  set_tests_properties(${name} PROPERTIES
    LABELS "${label}" TIMEOUT ${timeout} ENVIRONMENT "${environment}")
endfunction()

# tensord_fuzzer(NAME SOURCES file... DEPS target...)
# A libFuzzer program; exists with TENSORD_FUZZ only. `cmake --build --target fuzzers` builds all,
# and scripts/test.sh runs every bin/*_fuzzer with the seeds of tests/fuzz/corpus/NAME.
function(tensord_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  if(NOT TENSORD_FUZZ)
    return()
  endif()
  tensord_executable(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
endfunction()

# A name of ours that nobody defines would reach the linker as -lNAME; this says it in words.
function(tensord_check_dependencies)
  get_property(targets GLOBAL PROPERTY TENSORD_TARGETS)
  foreach(target IN LISTS targets)
    get_property(deps GLOBAL PROPERTY TENSORD_DEPS_OF_${target})
    foreach(dep IN LISTS deps)
      if(dep MATCHES "^tensord_|::" AND NOT TARGET ${dep})
        message(FATAL_ERROR "${target}: DEPS names ${dep}, which no CMakeLists.txt defines")
      endif()
    endforeach()
  endforeach()
endfunction()
