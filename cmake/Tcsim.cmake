# Helpers that every folder's CMakeLists.txt uses.

# Flags that all of tcsim is built with: warnings and sanitizers, but never an instruction set.
add_library(tcsim_flags INTERFACE)
target_include_directories(tcsim_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(tcsim_flags INTERFACE cxx_std_20)
if(TCSIM_WARNINGS)
  target_compile_options(tcsim_flags INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
    $<$<BOOL:${TCSIM_WARNINGS_AS_ERRORS}>:-Werror>)
  # GCC 12 sees overlapping copies in std::string concatenation where there are none (its bug 105329).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(tcsim_flags INTERFACE -Wno-restrict)
  endif()
endif()
# Tests name their files from here, so that their objects, too, are the same in all checkouts (ccache).
target_compile_options(tcsim_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
# A twentieth of GCC's time is collecting its garbage, below this many kB for nothing.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tcsim_flags INTERFACE "SHELL:--param ggc-min-heapsize=1000000")
endif()
if(TCSIM_SANITIZE)
  target_compile_options(tcsim_flags INTERFACE
    -fsanitize=${TCSIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tcsim_flags INTERFACE -fsanitize=${TCSIM_SANITIZE})
endif()

# Headers take most of the compiler's time here, so a folder's files are compiled together, twenty at a time, in
# the presets that set CMAKE_UNITY_BUILD (all but those for daily work and for fuzzing). What a file keeps in
# an unnamed namespace must have a name of its own within its folder.
function(tcsim_unity target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR part "${count_${folder}} / 20")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${folder}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# tcsim_library(NAME SOURCES... [LINK libs...] [EXPORT] [COLD]): one static library per folder. EXPORT:
# installed with its headers, for programs that find_package(tcsim). COLD: it computes little, so that what -O3
# would bring is a longer build.
function(tcsim_library name)
  cmake_parse_arguments(ARG "EXPORT;COLD" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  tcsim_unity(${name})
  target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:tcsim_flags> ${ARG_LINK})
  if(ARG_COLD)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT ARG_EXPORT)
    return()
  endif()
  string(REPLACE tcsim_ "" folder ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${folder})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tcsim>)
  install(TARGETS ${name} EXPORT tcsim)
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tcsim/${folder} FILES_MATCHING PATTERN "*.hpp")
endfunction()

# tcsim_test(NAME LABEL label SOURCES... [LINK libs...] [TOGETHER] [SUITES suite...] [SLOW filter...] [COUNTS filter]):
# one GoogleTest program; each of its tests is a CTest test with the label (unit, golden or slow: not with sanitizers,
# where a program of slow tests is not built either).
# TOGETHER: all of them are one, since they share what takes longest; SUITES: those of each suite are. SLOW: those have
# that label. COUNTS: those that ask the counter libraries, whose leaks are only told from ours (tests/lsan.supp) by
# walking the whole stack at each allocation. Other tests would take ten times as long by that.
# intercept_tls_get_addr=0, here and in CMakePresets.json: up to GCC 13 the leak checker takes some thread-local blocks
# of loaded libraries for those of an old glibc, by chance, and crashes.
function(tcsim_test name)
  cmake_parse_arguments(ARG "TOGETHER" "LABEL;COUNTS" "SOURCES;LINK;SUITES;SLOW" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  tcsim_unity(${name})
  target_link_libraries(${name} PRIVATE tcsim_flags ${ARG_LINK} GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/generated)
  if(TCSIM_SANITIZE AND ARG_LABEL STREQUAL "slow")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set(properties LABELS "${ARG_LABEL}" TIMEOUT 300)
  if(ARG_TOGETHER)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties} TIMEOUT 900)
    return()
  endif()
  set(others "-")
  foreach(suite ${ARG_SUITES})
    add_test(NAME ${suite} COMMAND ${name} --gtest_filter=${suite}.*)
    set_tests_properties(${suite} PROPERTIES ${properties})
    string(APPEND others ":${suite}.*")
  endforeach()
  foreach(test ${ARG_SUITES} ${ARG_SLOW})
    string(REPLACE "." ", " begin "(${test}")
    set(found FALSE)
    foreach(source ${ARG_SOURCES})
      file(STRINGS ${source} lines REGEX "^TEST")
      string(FIND "${lines}" "${begin}" found_at)
      if(found_at GREATER_EQUAL 0)
        set(found TRUE)
      endif()
    endforeach()
    if(NOT found)
      message(FATAL_ERROR "${name} has no test ${test}")
    endif()
  endforeach()
  if(ARG_SLOW)
    list(JOIN ARG_SLOW ":" slow)
    string(APPEND others ":${slow}")
    gtest_discover_tests(${name} TEST_FILTER "${slow}" DISCOVERY_TIMEOUT 60 PROPERTIES LABELS slow TIMEOUT 300)
  endif()
  if(ARG_COUNTS)
    string(APPEND others ":${ARG_COUNTS}")
    gtest_discover_tests(${name} TEST_FILTER "${ARG_COUNTS}" DISCOVERY_TIMEOUT 60
      PROPERTIES ${properties} ENVIRONMENT ASAN_OPTIONS=fast_unwind_on_malloc=0:intercept_tls_get_addr=0)
  endif()
  if(ARG_COUNTS STREQUAL "*")
    return()
  endif()
  if(NOT TCSIM_SANITIZE MATCHES "address")
    gtest_discover_tests(${name} TEST_FILTER "${others}" DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
    return()
  endif()
  # A fifth of the time went into beginning programs and looking for leaks at their end.
  foreach(part 0 1 2 3)
    add_test(NAME ${name}_${part} COMMAND ${name} --gtest_filter=${others})
    set_tests_properties(${name}_${part} PROPERTIES ${properties} TIMEOUT 1800
      ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${part}")
  endforeach()
endfunction()

# tcsim_package(COMPONENT summary [DEPENDS text] [SUGGESTS text] [CONTROL scripts] [PACKAGED_ONLY]): a Debian
# package of that name, of what is installed with that COMPONENT. It depends on what its libraries do, and on
# DEPENDS. PACKAGED_ONLY: `cmake --install` leaves it out.
set(TCSIM_PACKAGES "" CACHE INTERNAL "")
function(tcsim_package component summary)
  cmake_parse_arguments(ARG "PACKAGED_ONLY" "DEPENDS;SUGGESTS" "CONTROL" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}" CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component} CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}" CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARG_DEPENDS}" CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "${ARG_SUGGESTS}" CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${ARG_CONTROL}" CACHE INTERNAL "")
  set(TCSIM_PACKAGES ${TCSIM_PACKAGES} ${component} CACHE INTERNAL "")
  set(left_out)
  if(ARG_PACKAGED_ONLY)
    set(left_out EXCLUDE_FROM_ALL)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${component}
    RENAME copyright COMPONENT ${component} ${left_out})
endfunction()
