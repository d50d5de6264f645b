# Generated sources that say which code was compiled: a table of kernel revisions for each backend
# library, and the build id. What they mean: backends/api/revisions.h.

set(tensord_source_hash_scripts
  "${CMAKE_SOURCE_DIR}/scripts/source_hash.py"
  "${CMAKE_SOURCE_DIR}/scripts/kernel_revisions.py"
  "${CMAKE_SOURCE_DIR}/scripts/build_id.py")

# tensord_kernel_revisions(TARGET SYMBOL name HEADER file DIRS dir...)
# Adds to TARGET a source that defines `uint64_t tensord::SYMBOL(absl::string_view)` over every
# *.cc and *.cu in DIRS. HEADER (relative to the root) declares it. The table follows each kernel and each
# header that a kernel includes, through the script's dependency file.
function(tensord_kernel_revisions target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SYMBOL;HEADER" "DIRS")
  tensord_glob_sources(kernels ${arg_DIRS})
  foreach(dir IN LISTS arg_DIRS)
    file(GLOB cuda_kernels CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cu")
    list(APPEND kernels ${cuda_kernels})
  endforeach()
  if(NOT kernels)
    return()
  endif()
  set(output "${TENSORD_GENERATED_DIR}/revisions/${target}.cc")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${TENSORD_PYTHON} "${CMAKE_SOURCE_DIR}/scripts/kernel_revisions.py" "${output}"
            --root "${CMAKE_SOURCE_DIR}" --symbol ${arg_SYMBOL} --header ${arg_HEADER}
            --depfile "${output}.d" ${kernels}
    DEPENDS ${kernels} ${tensord_source_hash_scripts}
    DEPFILE "${output}.d"
    COMMENT "Revisions of the kernels of ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

# tensord_build_id(TARGET): adds a source that defines tensord::BuildId().
function(tensord_build_id target)
  set(output "${TENSORD_GENERATED_DIR}/revisions/build_id.cc")
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/backends/api/*.h")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${TENSORD_PYTHON} "${CMAKE_SOURCE_DIR}/scripts/build_id.py" "${output}"
            --root "${CMAKE_SOURCE_DIR}"
            --fact "compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
            --fact "standard=${CMAKE_CXX_STANDARD}"
            --fact "options=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}"
            --fact "sanitize=${TENSORD_SANITIZE}"
            --fact "abseil=${absl_VERSION}"
            ${headers}
    DEPENDS ${headers} ${tensord_source_hash_scripts}
    COMMENT "Build id"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
