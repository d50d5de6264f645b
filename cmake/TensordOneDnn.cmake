# Finds oneDNN, the library behind some of the CPU backend's kernels. Sets TENSORD_HAVE_ONEDNN and, with
# it, defines the target tensord_onednn_library. Debian's configuration file needs OpenCL's headers
# as well, which its package does not bring (ocl-icd-opencl-dev).

string(TOUPPER "${TENSORD_ONEDNN}" onednn_option)
set(TENSORD_HAVE_ONEDNN OFF)
if(onednn_option STREQUAL "OFF")
  message(STATUS "oneDNN: switched off")
else()
  find_package(dnnl CONFIG QUIET)
  # The C interface of 2.x; 3.0 dropped the operation descriptors.
  if(dnnl_FOUND AND dnnl_VERSION VERSION_GREATER_EQUAL 2.6 AND dnnl_VERSION VERSION_LESS 3)
    set(TENSORD_HAVE_ONEDNN ON)
    message(STATUS "oneDNN: ${dnnl_VERSION}")
    add_library(tensord_onednn_library INTERFACE)
    # libgomp is what Debian's oneDNN runs on; its number of threads is set by hand.
    target_link_libraries(tensord_onednn_library INTERFACE DNNL::dnnl gomp)
  elseif(onednn_option STREQUAL "ON")
    message(FATAL_ERROR "oneDNN: required by TENSORD_ONEDNN=ON, but 2.6 or a later 2.x was not found")
  else()
    message(STATUS "oneDNN: 2.6 or a later 2.x was not found; its kernels are left out")
  endif()
endif()
