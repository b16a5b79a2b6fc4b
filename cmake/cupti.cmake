# Finds the CUDA Toolkit's CUPTI, without requiring the toolkit. Sets CUPTI_FOUND and CUPTI_LIBRARY and defines the
# targets CUPTI::headers and CUPTI::cupti. Toolkits keep CUPTI in extras/CUPTI, in targets/*, or in include and lib.
option(SWITCHFOLD_CUDA "Use the CUDA Toolkit where it is installed" ON)
set(CUPTI_FOUND FALSE)
if(SWITCHFOLD_CUDA)
  set(_cuda_roots ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda /opt/cuda)
  find_path(CUPTI_INCLUDE_DIR cupti_range_profiler.h HINTS ${_cuda_roots}
    PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include targets/sbsa-linux/include)
  find_path(CUDA_INCLUDE_DIR cuda.h HINTS ${_cuda_roots}
    PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include)
  find_library(CUPTI_LIBRARY cupti HINTS ${_cuda_roots}
    PATH_SUFFIXES lib64 lib extras/CUPTI/lib64 targets/x86_64-linux/lib targets/sbsa-linux/lib)
  if(CUPTI_INCLUDE_DIR AND CUDA_INCLUDE_DIR AND CUPTI_LIBRARY)
    # switchfold reads the activity records of CUDA 13.0; those of older toolkits have fewer fields.
    file(STRINGS ${CUPTI_INCLUDE_DIR}/cupti_activity.h _kernel10 REGEX "CUpti_ActivityKernel10;" LIMIT_COUNT 1)
    if(_kernel10)
      set(CUPTI_FOUND TRUE)
    endif()
  endif()
endif()
if(CUPTI_FOUND AND NOT TARGET CUPTI::cupti)
  add_library(CUPTI::headers INTERFACE IMPORTED)
  target_include_directories(CUPTI::headers SYSTEM INTERFACE ${CUPTI_INCLUDE_DIR} ${CUDA_INCLUDE_DIR})
  add_library(CUPTI::cupti SHARED IMPORTED)
  set_target_properties(CUPTI::cupti PROPERTIES IMPORTED_LOCATION ${CUPTI_LIBRARY})
  target_link_libraries(CUPTI::cupti INTERFACE CUPTI::headers)
endif()
