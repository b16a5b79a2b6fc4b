// SPDX-License-Identifier: Apache-2.0
#include "core/huge_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <ios>
#include <memory>
#include <sstream>
#include <string>

namespace switchfold::huge_pages_test {
namespace {

/// The VmFlags line of the mapping that holds the address ("hg": huge pages); empty if there is
/// none.
std::string flags_of_mapping(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        std::uintptr_t first = 0;
        std::uintptr_t end = 0;
        char dash = 0;
        if (words >> std::hex >> first >> dash >> end && dash == '-')
            inside = first <= wanted && wanted < end;
        else if (inside && line.rfind("VmFlags:", 0) == 0)
            return line;
    }
    return {};
}

TEST(HugePages, TheHeapAsksForThem) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the heap is not that of glibc";
#endif
    if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
        GTEST_SKIP() << "the system has no huge pages on request";
    use_huge_pages();
    // Larger than the heap's remaining small pages, so the heap grows to hold it.
    const auto block = std::make_unique<std::string>(8U << 20U, 'x');
    EXPECT_NE(flags_of_mapping(block->data() + (4U << 20U)).find(" hg"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::huge_pages_test
