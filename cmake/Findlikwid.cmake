# likwid::likwid, from package likwid or likwid_ROOT.
find_path(likwid_INCLUDE_DIR likwid.h)
find_library(likwid_LIBRARY likwid)
mark_as_advanced(likwid_INCLUDE_DIR likwid_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(likwid REQUIRED_VARS likwid_LIBRARY likwid_INCLUDE_DIR)

if(likwid_FOUND AND NOT TARGET likwid::likwid)
  add_library(likwid::likwid UNKNOWN IMPORTED)
  set_target_properties(likwid::likwid PROPERTIES
    IMPORTED_LOCATION "${likwid_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${likwid_INCLUDE_DIR}")
endif()
