# Installs headers and libraries for other programs: find_package(switchfold) provides switchfold::interconnect,
# switchfold::run and the rest. docs/install.md describes the use; cmake/tests/consumer is an example.
include(GNUInstallDirs)

set(SWITCHFOLD_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/switchfold)
set(SWITCHFOLD_LIBRARIES
  core intervals uncertainty kernel output interconnect workloads training capture_format plan placement memory learning eigen elastic offload coprocessor
  models run sweep planner)

foreach(name IN LISTS SWITCHFOLD_LIBRARIES)
  # Include paths are relative to the repository root, or to include/switchfold once installed.
  set_target_properties(switchfold_${name} PROPERTIES
    EXPORT_NAME ${name}
    INTERFACE_INCLUDE_DIRECTORIES
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>;$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/switchfold>"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
  install(TARGETS switchfold_${name} EXPORT switchfold
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/switchfold COMPONENT development)
endforeach()

install(DIRECTORY core sim interconnect models training workloads
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/switchfold COMPONENT development
  FILES_MATCHING PATTERN "*.h"
  PATTERN tests EXCLUDE
  PATTERN bench EXCLUDE
  PATTERN fuzz EXCLUDE)
install(EXPORT switchfold NAMESPACE switchfold:: FILE switchfoldTargets.cmake
  DESTINATION ${SWITCHFOLD_CMAKE_DIR} COMPONENT development)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/switchfoldConfig.cmake.in ${PROJECT_BINARY_DIR}/switchfoldConfig.cmake
  INSTALL_DESTINATION ${SWITCHFOLD_CMAKE_DIR})
# Before 1.0 any version may change the C++ interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/switchfoldConfigVersion.cmake COMPATIBILITY ExactVersion)
install(FILES ${PROJECT_BINARY_DIR}/switchfoldConfig.cmake ${PROJECT_BINARY_DIR}/switchfoldConfigVersion.cmake
  cmake/FindSystemC.cmake
  DESTINATION ${SWITCHFOLD_CMAKE_DIR} COMPONENT development)

if(BUILD_TESTING)
  add_test(NAME consumer
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/tests/consumer_test.py ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}
            ${CMAKE_CXX_COMPILER} "${SWITCHFOLD_SANITIZE}")
  set_tests_properties(consumer PROPERTIES LABELS fast TIMEOUT 1800)
endif()
