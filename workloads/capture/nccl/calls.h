// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/format/records.h"
#include "workloads/capture/nccl/interface.h"

#include <optional>

namespace switchfold::capture::nccl {

/// What NCCL tells of an event, as a record without time and thread; empty if it is neither a
/// collective nor a point-to-point call. Version 4 leaves out the communicator, which its
/// communicator's init() told.
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV1& description);
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV2& description);
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV3& description);
[[nodiscard]] std::optional<NcclCall> call_of(const DescriptionV4& description);

/// The communicator's name where the version tells it with each event, else empty.
[[nodiscard]] const char* communicator_name(const DescriptionV1& description);
[[nodiscard]] const char* communicator_name(const DescriptionV2& description);
[[nodiscard]] const char* communicator_name(const DescriptionV3& description);
[[nodiscard]] const char* communicator_name(const DescriptionV4& description);

}  // namespace switchfold::capture::nccl
