# libxsmm::libxsmm, from libxsmm-dev: static, with its own stand-in for the BLAS that it falls back
# to, which is never called.
find_path(libxsmm_INCLUDE_DIR libxsmm.h)
find_library(libxsmm_LIBRARY xsmm)
find_library(libxsmm_NOBLAS_LIBRARY xsmmnoblas)
mark_as_advanced(libxsmm_INCLUDE_DIR libxsmm_LIBRARY libxsmm_NOBLAS_LIBRARY)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_libxsmm QUIET libxsmm)
  set(libxsmm_VERSION "${PC_libxsmm_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libxsmm
  REQUIRED_VARS libxsmm_LIBRARY libxsmm_NOBLAS_LIBRARY libxsmm_INCLUDE_DIR
  VERSION_VAR libxsmm_VERSION)

if(libxsmm_FOUND AND NOT TARGET libxsmm::libxsmm)
  find_package(Threads REQUIRED)
  add_library(libxsmm::libxsmm UNKNOWN IMPORTED)
  set_target_properties(libxsmm::libxsmm PROPERTIES
    IMPORTED_LOCATION "${libxsmm_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libxsmm_INCLUDE_DIR}")
  target_link_libraries(libxsmm::libxsmm INTERFACE
    "${libxsmm_NOBLAS_LIBRARY}" Threads::Threads rt ${CMAKE_DL_LIBS} m)
endif()
