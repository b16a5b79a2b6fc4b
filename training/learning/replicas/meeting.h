// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/optimizer/optimizer.h"
#include "training/learning/replicas/batch_parts.h"
#include "training/learning/task/task.h"

#include <vector>

namespace switchfold::learning {

/// Exchange of weights among replicas, with a centre for some rules.
class Meeting {
public:
    /// `parts`: of a batch, by replica.
    Meeting(const AveragingSpec& rule, const std::vector<BatchPart>& parts, const Vector& initial);

    /// `before`: weights before the step just taken. Pulls are computed from them, so that gradient
    /// and pull refer to the same point.
    void all(std::vector<Version>& own, const std::vector<Vector>& before);
    /// Exchanges one replica with the centre (elastic).
    void one(Version& own);
    /// The trained model: the centre, or the mean.
    [[nodiscard]] Vector model(const std::vector<Version>& own) const;

private:
    [[nodiscard]] Vector mean(const std::vector<Version>& own) const;
    void go_on_from(const Vector& weights, std::vector<Version>& own) const;

    const AveragingSpec& rule_;
    std::vector<double> weight_;  ///< samples of a replica over samples of all
    double pull_ = 0;
    Vector centre_;
    Vector last_;   ///< previous centre (model averaging)
    Vector shift_;  ///< block momentum's last step
    Vector ahead_;  ///< weights from which replicas continued (block momentum)
};

}  // namespace switchfold::learning
