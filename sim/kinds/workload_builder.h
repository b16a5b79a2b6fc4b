// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/workload_context.h"

namespace switchfold {

/// Makes a workload's graph and its report: five calls in this order, of which a kind has those
/// that it needs. They throw ConfigError.
class WorkloadBuilder {
public:
    WorkloadBuilder(const WorkloadContext& context, PreparedWorkload& out) :
        context_(context), out_(out) {}
    virtual ~WorkloadBuilder() = default;
    WorkloadBuilder(const WorkloadBuilder&) = delete;
    WorkloadBuilder& operator=(const WorkloadBuilder&) = delete;
    WorkloadBuilder(WorkloadBuilder&&) = delete;
    WorkloadBuilder& operator=(WorkloadBuilder&&) = delete;

    /// What is computed and communicated: layers, or what was traced.
    virtual void network() {}
    /// Who does it: ranks, and how they share it.
    virtual void plan() {}
    /// What each of them runs and holds.
    virtual void tasks() {}
    /// All that as operations of ranks.
    virtual void graph() = 0;
    /// What the machine says: whether it fits, and what its GPUs make of it.
    virtual void machine() {}

protected:
    [[nodiscard]] const WorkloadContext& context() const { return context_; }
    [[nodiscard]] PreparedWorkload& out() const { return out_; }

private:
    const WorkloadContext& context_;
    PreparedWorkload& out_;
};

}  // namespace switchfold
