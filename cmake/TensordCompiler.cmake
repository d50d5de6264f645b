# The language, the flags that hold for every target, and the tools around the compiler.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
# Backends that are plugins link the static libraries, and show one symbol only.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

if(NOT CMAKE_BUILD_TYPE)
  message(FATAL_ERROR "No build type. Configure by a preset: cmake --preset release")
endif()

# No path of the machine gets into a binary. "../../" is how ccache (below) spells the source folder.
add_compile_options(
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
  -ffile-prefix-map=../../=)

add_compile_options(-Wall -Wextra -fno-omit-frame-pointer)
if(TENSORD_WERROR)
  add_compile_options(-Werror)
endif()
# A designated initializer leaves out what keeps its default.
add_compile_options(-Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety)
else()
  # GCC 12 reports the inline storage of every absl::InlinedVector that is moved when it is empty.
  add_compile_options(-Wno-maybe-uninitialized)
endif()

if(TENSORD_SANITIZE)
  add_compile_options(-fsanitize=${TENSORD_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TENSORD_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # The type information of Debian's gRPC and protobuf classes is hidden, so vptr checks cannot link.
    add_compile_options(-fno-sanitize=vptr)
    add_link_options(-fno-sanitize=vptr)
  endif()
endif()
if(TENSORD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TENSORD_FUZZ needs Clang: cmake --preset asan")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(TENSORD_CCACHE ccache)
if(TENSORD_CCACHE)
  # With the base folder, checkouts in different places share one cache. The sloppiness is what
  # precompiled headers need; none of them uses __TIME__.
  set(launcher env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_SLOPPINESS=pch_defines,time_macros ${TENSORD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(TENSORD_MOLD mold)
if(TENSORD_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--as-needed)

# Debian's python3 by its path: the modules that the tests need are installed for that one, and
# another python3 may come first on PATH.
find_program(TENSORD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TENSORD_PYTHON python3 REQUIRED)
