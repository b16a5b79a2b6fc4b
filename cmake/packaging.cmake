# Installs the program and builds the Debian package: cmake --build --preset release --target package

find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(GNUInstallDirs)
# Paths are relative to the prefix: the program finds share/switchfold/configs by searching the folders above it.
set(SWITCHFOLD_SHARE ${CMAKE_INSTALL_DATADIR}/switchfold)
set(SWITCHFOLD_CAPTURE_DIR lib/switchfold)
set(SWITCHFOLD_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package goes, in the prefix")

# switchfold-capture looks for its libraries in its own folder.
install(TARGETS switchfold RUNTIME COMPONENT program)
install(TARGETS switchfold-capture switchfold-capture-library
  RUNTIME DESTINATION ${SWITCHFOLD_CAPTURE_DIR} COMPONENT program
  LIBRARY DESTINATION ${SWITCHFOLD_CAPTURE_DIR} COMPONENT program)
install(CODE "
  set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(MAKE_DIRECTORY \"\${bin}\")
  file(CREATE_LINK ../${SWITCHFOLD_CAPTURE_DIR}/switchfold-capture \"\${bin}/switchfold-capture\" SYMBOLIC)"
  COMPONENT program)
if(TARGET switchfold-capture-cupti)  # not in the package: it needs NVIDIA's library, which Debian does not have
  install(TARGETS switchfold-capture-cupti LIBRARY DESTINATION ${SWITCHFOLD_CAPTURE_DIR} COMPONENT cupti)
endif()

install(DIRECTORY configs DESTINATION ${SWITCHFOLD_SHARE} COMPONENT program)
install(DIRECTORY validation/data validation/maps DESTINATION ${SWITCHFOLD_SHARE}/validation COMPONENT program)
install(DIRECTORY python/notebooks DESTINATION ${SWITCHFOLD_SHARE} COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES README.md CHANGELOG.md SECURITY.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
install(CODE "
  file(CREATE_LINK ../../switchfold/configs \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/configs\" SYMBOLIC)"
  COMPONENT program)

configure_file(python/METADATA.in ${PROJECT_BINARY_DIR}/python/METADATA @ONLY)
install(DIRECTORY python/switchfold DESTINATION ${SWITCHFOLD_PYTHON_DIR} COMPONENT program PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/python/METADATA
  DESTINATION ${SWITCHFOLD_PYTHON_DIR}/switchfold-${PROJECT_VERSION}.dist-info COMPONENT program)

# The manual pages and the completion are generated from the program's --help.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/packaging/completion $<TARGET_FILE:switchfold>
    \"\${prefix}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/switchfold\" COMMAND_ERROR_IS_FATAL ANY)
  find_program(help2man help2man)
  if(help2man)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/packaging/manuals $<TARGET_FILE:switchfold>
      \"\${prefix}/${CMAKE_INSTALL_MANDIR}/man1\" COMMAND_ERROR_IS_FATAL ANY)
  else()
    message(STATUS \"no manual pages: help2man is not installed\")
  endif()"
  COMPONENT program)

# Packaging does not trigger a build: everything to be packed must already be built.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME switchfold)
set(CPACK_PACKAGE_VENDOR switchfold)
set(CPACK_PACKAGE_CONTACT "The switchfold maintainers <maintainers@users.noreply.a-seed-12d1b3ef.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-pandas, python3-matplotlib")
include(CPack)
