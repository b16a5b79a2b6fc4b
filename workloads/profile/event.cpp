// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/event.h"

namespace switchfold {

void TraceEvent::clear() {
    for (std::string* text :
         {&phase, &category, &name, &thread, &process, &stream, &collective_name, &datatype,
          &group_name, &group_ranks, &in_splits, &out_splits, &algorithm, &protocol, &input_dims,
          &input_types, &concrete_inputs})
        text->clear();
    for (std::optional<std::uint64_t>* number :
         {&correlation, &external_id, &device, &counted_read, &counted_written, &device_type,
          &to_rank, &from_rank, &sequence_number})
        number->reset();
    without_time = false;
    unusable = nullptr;
    grid.reset();
    block.reset();
    registers_per_thread = 0;
    for (std::uint64_t* number :
         {&start, &duration, &shared_memory, &bytes, &allocated, &reserved, &in_elements,
          &out_elements, &group_size})
        *number = 0;
}

}  // namespace switchfold
