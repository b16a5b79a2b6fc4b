// SPDX-License-Identifier: Apache-2.0
// Any bytes end in a workload or in an error of the user's: all else that is thrown, and what the
// sanitizers find, is a bug.
#include "fuzz/readers/readers.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static_cast<void>(switchfold::fuzz::try_reader(
        SWITCHFOLD_FUZZ_READER, {reinterpret_cast<const char*>(data), size}));
    return 0;
}
