// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "micro.cuh"

/// usage: h200_micro bandwidth|latency|residency
int main(int argc, char** argv) {
    struct Part {
        const char* name;
        void (*run)();
    };
    constexpr Part kParts[] = {
        {"bandwidth", measure_bandwidth},
        {"latency", measure_latency},
        {"residency", measure_residency}};
    try {
        for (const Part& part : kParts)
            if (argc == 2 && std::strcmp(argv[1], part.name) == 0) {
                part.run();
                return 0;
            }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "h200_micro: %s\n", error.what());
        return 3;
    }
    std::fprintf(stderr, "h200_micro: expected one of bandwidth, latency, residency\n");
    return 2;
}
