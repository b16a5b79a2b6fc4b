# Flags shared by every target. No -march=native and no fused multiply-add: results must not depend on the host.
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -ffp-contract=off)
# g++ 12 sees uninitialised reads in moved std::variants where there are none.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(SWITCHFOLD_WERROR)
  add_compile_options(-Werror)
endif()
if(SWITCHFOLD_SANITIZE)
  add_compile_options(-fsanitize=${SWITCHFOLD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SWITCHFOLD_SANITIZE})
endif()
