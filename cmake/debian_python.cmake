# SWITCHFOLD_DEBIAN_PYTHON: Debian's own Python, which has pandas, matplotlib, nbconvert, build and mkdocs. Another
# Python may come first in PATH.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(SWITCHFOLD_DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT SWITCHFOLD_DEBIAN_PYTHON)
  set(SWITCHFOLD_DEBIAN_PYTHON ${Python3_EXECUTABLE})
endif()
