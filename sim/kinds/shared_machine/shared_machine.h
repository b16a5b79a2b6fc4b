// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

class WorkloadKind;

/// The kind of several workloads that share a machine.
[[nodiscard]] const WorkloadKind& shared_machine_kind();

}  // namespace switchfold
