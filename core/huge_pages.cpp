// SPDX-License-Identifier: Apache-2.0
#include "core/huge_pages.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace switchfold {

#ifdef __GLIBC__

namespace {
// Reserves address space, not memory: pages are allocated on first touch. A larger heap continues
// in small pages.
constexpr int kHeap = 512 << 20;
// Smaller blocks come from the heap, not from mappings of their own; glibc's upper limit.
constexpr int kOwnMapping = 32 << 20;
constexpr std::uintptr_t kHugePage = 2U << 20U;
}  // namespace

void use_huge_pages() {
    const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
    mallopt(M_MMAP_THRESHOLD, kOwnMapping);
    mallopt(M_TRIM_THRESHOLD, 2 * kHeap);
    mallopt(M_TOP_PAD, kHeap);
    // More than the heap has left, so that it grows by this and by the padding.
    constexpr std::size_t kMoreThanLeft = 1U << 20U;
    void* volatile block = std::malloc(kMoreThanLeft);  // NOLINT(cppcoreguidelines-no-malloc)
    std::free(block);                                   // NOLINT(cppcoreguidelines-no-malloc)
    mallopt(M_TOP_PAD, 1 << 20);
    const auto after = reinterpret_cast<std::uintptr_t>(sbrk(0));
    const std::uintptr_t first = (before + kHugePage - 1) / kHugePage * kHugePage;
    const std::uintptr_t end = after / kHugePage * kHugePage;
    if (before < after && first < end)
        static_cast<void>(madvise(
            reinterpret_cast<void*>(first),  // NOLINT(performance-no-int-to-ptr)
            end - first, MADV_HUGEPAGE));
}

void give_back_reserve() {
    malloc_trim(0);
}

#else

void use_huge_pages() {}
void give_back_reserve() {}

#endif

}  // namespace switchfold
