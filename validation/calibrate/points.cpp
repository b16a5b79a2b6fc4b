// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/points.h"

#include <algorithm>
#include <map>
#include <set>

namespace switchfold::validation {

namespace {

constexpr std::size_t kMostSizes = 16;  ///< of a group and half
constexpr std::size_t kLeastSizes = 2;  ///< the smallest and the largest

/// At most `most` of the sizes, the first and the last among them.
std::set<double> spread_of(const std::vector<double>& sizes, std::size_t most) {
    if (sizes.size() <= most)
        return {sizes.begin(), sizes.end()};
    std::set<double> chosen;
    for (std::size_t i = 0; i < most; ++i)
        chosen.insert(sizes[i * (sizes.size() - 1) / (most - 1)]);
    return chosen;
}

}  // namespace

Told CalibrationPoint::told() const {
    if (std::holds_alternative<CollectivePoint>(what))
        return Told::kCollectives;
    return std::holds_alternative<CopyPoint>(what) ? Told::kCopies : Told::kKernels;
}

void divide(std::vector<CalibrationPoint>& points, std::size_t most) {
    std::map<std::string, std::set<double>> sizes;
    std::map<std::string, std::size_t> counts;
    for (const CalibrationPoint& point : points) {
        sizes[point.group].insert(point.size);
        ++counts[point.group];
    }
    // Several points of one size, of other types or algorithms, stay together.
    double at_a_size = 0;
    for (const auto& [group, count] : counts)
        at_a_size += static_cast<double>(count) / static_cast<double>(sizes.at(group).size());
    const auto each = std::clamp(
        static_cast<std::size_t>(static_cast<double>(most) / std::max(1.0, at_a_size)), kLeastSizes,
        kMostSizes);
    std::map<std::string, std::set<double>> fitted;
    std::map<std::string, std::set<double>> checked;
    for (const auto& [group, all] : sizes) {
        std::vector<double> halves[2];
        std::size_t i = 0;
        for (const double size : all)
            halves[i++ % 2].push_back(size);
        fitted[group] = spread_of(halves[0], each);
        checked[group] = spread_of(halves[1], each);
    }
    std::erase_if(points, [&](CalibrationPoint& point) {
        point.fitted = fitted.at(point.group).contains(point.size);
        return !point.fitted && !checked.at(point.group).contains(point.size);
    });
}

}  // namespace switchfold::validation
