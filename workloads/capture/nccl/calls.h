// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/format/records.h"
#include "workloads/capture/nccl/interface.h"

#include <optional>

namespace switchfold::capture::nccl {

/// An event description as a record without time and thread; empty if it is neither a collective
/// nor a point-to-point call. Version 4 omits the communicator, which init() reported.
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV1& description);
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV2& description);
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV3& description);
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV4& description);

/// The communicator's name if this version includes it in each event, else empty.
[[nodiscard]] const char* communicator_name(const DescriptionV1& description);
[[nodiscard]] const char* communicator_name(const DescriptionV2& description);
[[nodiscard]] const char* communicator_name(const DescriptionV3& description);
[[nodiscard]] const char* communicator_name(const DescriptionV4& description);

}  // namespace switchfold::capture::nccl
