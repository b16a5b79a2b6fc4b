// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

namespace switchfold::learning {

/// Who waits for a training: told the share of it that is done, from 0 to 1; may throw to end it.
class Watch {
public:
    Watch() = default;
    explicit Watch(std::function<void(double share)> told) : told_(std::move(told)) {}

    void reached(double share) {
        share_ = share;
        look();
    }
    /// Within a long part of it.
    void look() const {
        if (told_)
            told_(share_);
    }

private:
    std::function<void(double share)> told_;
    double share_ = 0;
};

}  // namespace switchfold::learning
