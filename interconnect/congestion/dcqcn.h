// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/congestion/parameters.h"

#include <cstdint>

namespace switchfold {

/// The rate of one pair's sender (the paper's reaction point). Times never decrease from call to
/// call.
class DcqcnRate {
public:
    /// `line`: the rate of the sender's own link, at which it begins.
    DcqcnRate(const DcqcnParams& params, Bandwidth line);

    /// A notification arrives.
    void notified(Time now);
    /// It has sent so many bytes.
    void sent(std::uint64_t bytes, Time now);
    /// Bytes per second.
    [[nodiscard]] double rate(Time now);
    [[nodiscard]] bool at_line_rate(Time now) { return rate(now) >= line_; }
    /// Estimate of congestion, 0 to 1.
    [[nodiscard]] double congestion(Time now);

private:
    void advance(Time now);
    void rise();

    const DcqcnParams* params_;
    double line_;
    double rate_;
    double target_;
    double alpha_ = 1;
    Time alpha_due_;           ///< the estimate's next fall
    Time rise_due_;            ///< the timer's next rise
    std::uint64_t bytes_ = 0;  ///< since the last rise by bytes
    std::uint32_t by_timer_ = 0;
    std::uint32_t by_bytes_ = 0;
};

}  // namespace switchfold
