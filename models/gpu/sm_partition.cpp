// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm_partition.h"

#include "core/error.h"

namespace switchfold {

SmPartition::SmPartition(
    const SmParams& params, std::uint32_t sms, std::uint32_t communication, bool taken) :
    compute_(params, taken && communication < sms ? sms - communication : sms) {
    SWITCHFOLD_CHECK(communication < sms, "{} of {} SMs are set aside", communication, sms);
    if (communication > 0)
        own_.emplace(params, communication);
}

std::uint32_t SmPartition::busy_sms() const {
    return compute_.busy_sms() + (own_ ? own_->busy_sms() : 0);
}

}  // namespace switchfold
