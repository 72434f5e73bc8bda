# Debian packages: cpack, or scripts/package, which also tries them. The version is that of project().
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "tcsim")
set(CPACK_PACKAGE_CONTACT "tcsim maintainers <maintainers@tcsim.invalid>")
set(CPACK_PACKAGE_HOMEPAGE_URL "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(same_version "tcsim (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
tcsim_package(tcsim "data movement and time of tensor contractions in memory hierarchies"
  SUGGESTS "gcc, tcsim-gui, python3-tcsim")
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tcsim COMPONENT tcsim)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tcsim COMPONENT tcsim
  FILES_MATCHING PATTERN "*.md" PATTERN history EXCLUDE PATTERN images EXCLUDE)
if(TARGET tcsim-gui)
  tcsim_package(tcsim-gui "the window of tcsim" DEPENDS "${same_version}")
endif()
if(TARGET tcsim_python AND NOT Python_EXECUTABLE MATCHES "^/usr/bin/python3")
  message(STATUS "python3-tcsim is no package: ${Python_EXECUTABLE} is not Debian's interpreter")
elseif(TARGET tcsim_python)
  # For Debian's Python alone: what `pip install .` builds brings machines and data along, these are tcsim's.
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  set(python "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}~)")
  string(APPEND python ", python3 (<< ${Python_VERSION_MAJOR}.${next_minor}), python3-numpy")
  tcsim_package(python3-tcsim "the Python module of tcsim" PACKAGED_ONLY DEPENDS "${same_version}, ${python}"
    SUGGESTS "python3-matplotlib, python3-onnx, python3-pandas, python3-tqdm"
    CONTROL ${CMAKE_CURRENT_LIST_DIR}/python3-tcsim/postinst ${CMAKE_CURRENT_LIST_DIR}/python3-tcsim/prerm)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/packaged/_places.py CONTENT
    "# Where shipped machines and workloads are: in the package tcsim.\nDATA = \"@CMAKE_INSTALL_FULL_DATADIR@/tcsim\"\n" @ONLY)
  set(part DESTINATION lib/python3/dist-packages/tcsim COMPONENT python3-tcsim EXCLUDE_FROM_ALL)
  install(TARGETS tcsim_python LIBRARY ${part})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tcsim/ ${part} PATTERN __pycache__ EXCLUDE)
  install(FILES ${PROJECT_BINARY_DIR}/packaged/_places.py ${part})
endif()
set(CPACK_COMPONENTS_ALL ${TCSIM_PACKAGES})
include(CPack)
