// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// Lets the heap lie in huge pages, where the system grants them on request (Linux with glibc;
/// elsewhere nothing happens). A machine of thousands of GPUs touches so many pages in turn that
/// looking up their addresses takes a third of the time. To be called first in main(), before
/// there are other threads.
void use_huge_pages();

/// Returns the heap's reserve to the system; call it before setting a limit of memory, which would
/// not count it.
void give_back_reserve();

}  // namespace switchfold
