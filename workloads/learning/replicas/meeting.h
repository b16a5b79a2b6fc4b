// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/optimizer/optimizer.h"
#include "workloads/learning/replicas/batch_parts.h"
#include "workloads/learning/task/task.h"

#include <vector>

namespace switchfold::learning {

/// What replicas do to each other's weights when they meet, and the centre that they may have.
class Meeting {
public:
    /// `parts`: of a batch, by replica.
    Meeting(const AveragingSpec& rule, const std::vector<BatchPart>& parts, const Vector& initial);

    /// `before`: weights before the step that has just been made. Pulls are by those: gradient and
    /// pull belong to the same point.
    void all(std::vector<Version>& own, const std::vector<Vector>& before);
    /// One alone with the centre (elastic).
    void one(Version& own);
    /// What is trained: the centre, or the mean.
    [[nodiscard]] Vector model(const std::vector<Version>& own) const;

private:
    [[nodiscard]] Vector mean(const std::vector<Version>& own) const;
    void go_on_from(const Vector& weights, std::vector<Version>& own) const;

    const AveragingSpec& rule_;
    std::vector<double> weight_;  ///< samples of a replica over those of all
    double pull_ = 0;
    Vector centre_;
    Vector last_;   ///< the centre one exchange ago (model averaging)
    Vector shift_;  ///< block momentum's last step
    Vector ahead_;  ///< where replicas went on from (block momentum)
};

}  // namespace switchfold::learning
