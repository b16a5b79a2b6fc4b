// SPDX-License-Identifier: Apache-2.0
// Any bytes end in what a file says or in an error of the user's: all else that is thrown, and what
// the sanitizers find, is a bug.
#include "fuzz/doors/doors.h"
#include "fuzz/doors/text_mutation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static_cast<void>(switchfold::fuzz::try_door(
        SWITCHFOLD_FUZZ_DOOR, {reinterpret_cast<const char*>(data), size}));
    return 0;
}

// libFuzzer's own changes of bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Of programs and topologies every other copy is changed by elements; Chakra's graphs are no text.
extern "C" std::size_t
LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    constexpr std::string_view kDoor = SWITCHFOLD_FUZZ_DOOR;
    if (kDoor == "custom_collective" || seed % 2 == 0)
        return LLVMFuzzerMutate(data, size, most);
    const std::string made =
        switchfold::fuzz::mutated_text({reinterpret_cast<const char*>(data), size}, seed / 2 + 1);
    if (made.empty() || made.size() > most)
        return LLVMFuzzerMutate(data, size, most);
    std::copy(made.begin(), made.end(), data);
    return made.size();
}

// Debian's libsystemc has main and wants this one.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
