include(GoogleTest)

# Compiles a target's units in batches, so that the templates their headers instantiate, most of a cold build, are
# compiled once per batch. Names in a batch's anonymous namespaces must differ; each test file has its own namespace.
option(SWITCHFOLD_UNITY "Compile several sources as one unit" OFF)
# Large units take a tenth less time in all, small ones end sooner where there are many processors. A large one needs
# 3 GB of memory (build_jobs in scripts/build_lib.sh).
cmake_host_system_information(RESULT _processors QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT _memory QUERY TOTAL_PHYSICAL_MEMORY)
set(_batch 16)
if(_processors LESS_EQUAL 4 AND _memory GREATER 12000)
  set(_batch 64)
endif()
set(SWITCHFOLD_UNITY_BATCH ${_batch} CACHE STRING "Sources compiled as one unit")

# Headers that most of a folder's files include are precompiled; otherwise they take half of a cold build's time. Large
# units gain nothing by it.
set(_precompile ON)
if(SWITCHFOLD_UNITY AND SWITCHFOLD_UNITY_BATCH GREATER_EQUAL 64)
  set(_precompile OFF)
endif()
# Units still include what they use: the preset asan turns the option off and finds missing includes.
option(SWITCHFOLD_PRECOMPILE "Precompile the headers that many units include" ${_precompile})

# switchfold_precompile(TARGET HEADERS...): precompiles these headers for TARGET's units.
function(switchfold_precompile name)
  if(SWITCHFOLD_PRECOMPILE)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()

# switchfold_precompile_as(TARGET OTHER): reuses OTHER's precompiled headers. Both targets need the same language,
# macros and optimisation level: with g++ 12 a unit has the level of its precompiled headers, or the compiler crashes.
function(switchfold_precompile_as name other)
  if(SWITCHFOLD_PRECOMPILE)
    target_precompile_headers(${name} REUSE_FROM ${other})
  endif()
endfunction()

# switchfold_unity(TARGET [BATCH]): BATCH sources at a time.
function(switchfold_unity name)
  set(batch ${SWITCHFOLD_UNITY_BATCH})
  if(ARGC GREATER 1)
    set(batch ${ARGV1})
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${SWITCHFOLD_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# switchfold_library(NAME [COLD|WARM] SOURCES... LINK targets...): one static library per folder, include paths relative
# to the repository root. COLD: nothing in the library is worth optimising. WARM: it runs once an experiment, so that -O1,
# which takes two thirds of -O2's time to compile, is enough.
function(switchfold_library name)
  cmake_parse_arguments(ARG "COLD;WARM" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(switchfold_${name} STATIC ${ARG_SOURCES})
  target_include_directories(switchfold_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(switchfold_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
  if(ARG_COLD)
    switchfold_cold(switchfold_${name})
  elseif(ARG_WARM)
    target_compile_options(switchfold_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  switchfold_unity(switchfold_${name})
endfunction()

# switchfold_cold(TARGET): release builds optimise it less, to compile faster. -Og takes a sixth less time than -O1, most
# of it because it inlines little.
function(switchfold_cold name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# switchfold_test(NAME SOURCES... LINK targets... [LABEL label] [HEADERS_OF target] [BATCH n]): a GoogleTest binary
# with our own main. HEADERS_OF: reuses the precompiled headers of this target (NAME: has its own) instead of those of
# all tests. BATCH: see switchfold_unity. Debian's
# libsystemc exports main, so gtest_main must never be linked: no test would run and the exit code would be 0.
function(switchfold_test name)
  cmake_parse_arguments(ARG "" "LABEL;HEADERS_OF;BATCH" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  if(NOT ARG_HEADERS_OF)
    set(ARG_HEADERS_OF switchfold_test_main)
  endif()
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:switchfold_test_main>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest rapidcheck fmt::fmt)
  target_compile_definitions(${name} PRIVATE SWITCHFOLD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(NOT ARG_HEADERS_OF STREQUAL name)
    switchfold_precompile_as(${name} ${ARG_HEADERS_OF})
  endif()
  switchfold_cold(${name})
  switchfold_unity(${name} ${ARG_BATCH})
  gtest_discover_tests(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 600 DISCOVERY_TIMEOUT 300)
endfunction()

# switchfold_bench(NAME SOURCES... LINK targets...): a Google Benchmark binary with its own main.
function(switchfold_bench name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark)
endfunction()
