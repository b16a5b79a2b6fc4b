// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/pool/progress.h"

#include <optional>
#include <string>

namespace switchfold {

/// Notices within a minute that a run will take many, and says what would make it shorter.
class LongRunNotice {
public:
    explicit LongRunNotice(const Experiment& experiment) : experiment_(experiment) {}
    /// A sentence, once; nothing as long as the run may end within minutes.
    [[nodiscard]] std::optional<std::string> of(const WorkerProgress& progress);

private:
    [[nodiscard]] std::string remedies() const;

    const Experiment& experiment_;
    bool said_ = false;
};

}  // namespace switchfold
