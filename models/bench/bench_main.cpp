// SPDX-License-Identifier: Apache-2.0
#include "core/huge_pages.h"

#include <benchmark/benchmark.h>

int main(int argc, char** argv) {
    switchfold::use_huge_pages();  // as the main program does
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

// libsystemc leaves sc_main undefined; it is never called, because this program has its own main.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
