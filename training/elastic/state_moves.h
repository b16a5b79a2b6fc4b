// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/member_gpus.h"
#include "training/elastic/state_transfer.h"

#include <vector>

namespace switchfold::elastic {

/// State of a GPU of one of the pipeline's devices.
struct DeviceState {
    Bytes weights;  ///< that a replica's GPU holds alone; 0: replicas divide them
    Bytes each;     ///< of every replica: weights, and moments unless replicas divide them
    Bytes divided;  ///< on all GPUs that divide it
};

/// Moves of the state between the GPUs of members: each GPU gets what its own place needs.
class StateMoves {
public:
    /// `devices`: of the pipeline, in order. Both must outlive this object.
    StateMoves(const MemberGpus& gpus, const std::vector<DeviceState>& devices) :
        gpus_(gpus), devices_(devices) {}

    /// What every member holds, from the first of `from`, or from all, to `to`.
    void add_each(
        ExecutionGraph& graph, const Members& from, const Members& to, Transfer transfer) const;
    /// What members divide, when `after` divide it instead of `before`.
    void add_divided(ExecutionGraph& graph, const Members& before, const Members& after) const;
    /// Replicas' weights alone, from the first member to the others.
    void add_weights(ExecutionGraph& graph, const Members& members) const;

private:
    const MemberGpus& gpus_;
    const std::vector<DeviceState>& devices_;
};

}  // namespace switchfold::elastic
