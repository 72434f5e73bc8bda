# onednn::onednn, from libdnnl-dev: the shared library and its C++ interface. Its own package file is not
# asked, since it wants OpenCL's headers.
find_path(onednn_INCLUDE_DIR dnnl.hpp)
find_library(onednn_LIBRARY dnnl)
mark_as_advanced(onednn_INCLUDE_DIR onednn_LIBRARY)
set(onednn_VERSION "")
foreach(header IN ITEMS oneapi/dnnl/dnnl_version.h dnnl_version.h)
  if(onednn_INCLUDE_DIR AND EXISTS "${onednn_INCLUDE_DIR}/${header}" AND NOT onednn_VERSION)
    foreach(part IN ITEMS MAJOR MINOR PATCH)
      file(STRINGS "${onednn_INCLUDE_DIR}/${header}" line REGEX "define DNNL_VERSION_${part} +[0-9]+")
      if(line MATCHES "DNNL_VERSION_${part} +([0-9]+)")
        list(APPEND onednn_VERSION ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endif()
endforeach()
string(REPLACE ";" "." onednn_VERSION "${onednn_VERSION}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(onednn
  REQUIRED_VARS onednn_LIBRARY onednn_INCLUDE_DIR VERSION_VAR onednn_VERSION)

if(onednn_FOUND AND NOT TARGET onednn::onednn)
  add_library(onednn::onednn UNKNOWN IMPORTED)
  set_target_properties(onednn::onednn PROPERTIES
    IMPORTED_LOCATION "${onednn_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${onednn_INCLUDE_DIR}")
endif()
