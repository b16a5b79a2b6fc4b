// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// Places the heap in huge pages where the system grants them on request (Linux with glibc;
/// elsewhere no effect). Without them, a machine of thousands of GPUs spends a third of the time on
/// TLB misses. Call it first in main(), before other threads exist.
void use_huge_pages();

/// Returns the heap's reserve to the system. Call it before setting a memory limit, which does not
/// apply to memory already reserved.
void give_back_reserve();

}  // namespace switchfold
