// SPDX-License-Identifier: Apache-2.0
// Any bytes end in what a file says or in an error of the user's: all else that is thrown, and what
// the sanitizers find, is a bug.
#include "fuzz/doors/doors.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static_cast<void>(switchfold::fuzz::try_door(
        SWITCHFOLD_FUZZ_DOOR, {reinterpret_cast<const char*>(data), size}));
    return 0;
}

// Debian's libsystemc has main and wants this one.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
