include(GoogleTest)

# switchfold_library(NAME SOURCES... LINK targets...): one static library a folder, include paths rooted at the repo.
function(switchfold_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(switchfold_${name} STATIC ${ARG_SOURCES})
  target_include_directories(switchfold_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(switchfold_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

# switchfold_test(NAME SOURCES... LINK targets... [LABEL label]): a GoogleTest binary with our own main. Debian's
# libsystemc exports main, so gtest_main must never be linked: no test would run and the exit code would be 0.
function(switchfold_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  add_executable(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:switchfold_test_main>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest rapidcheck)
  target_compile_definitions(${name} PRIVATE SWITCHFOLD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300 DISCOVERY_TIMEOUT 60)
endfunction()

# switchfold_bench(NAME SOURCES... LINK targets...): a Google Benchmark binary with its own main.
function(switchfold_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark)
endfunction()
