// SPDX-License-Identifier: Apache-2.0
// Any bytes end in rows of a table or in an error of the user's: all else that is thrown, and what
// the sanitizers find, is a bug.
#include "core/error.h"
#include "validation/collectives/collective_tables.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace switchfold;  // NOLINT(google-build-using-namespace): the program itself
    try {
        const auto rows = validation::parse_collective_tables(
            {reinterpret_cast<const char*>(data), size}, "measured.csv");
        for (const validation::MeasuredRow& row : rows) {
            static_cast<void>(validation::measured_time(row));
            static_cast<void>(validation::algorithm_words(row));
            static_cast<void>(validation::library_version(row.library_version));
        }
    } catch (const ConfigError&) {
    }
    return 0;
}

// Debian's libsystemc has main and wants this one.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
