// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/jump/past_motion.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {

constexpr std::size_t kMostPlaces = 64;
// Two motions are alike whose times differ by at most this share. The pace of NVLS trees wanders by
// 3 % over a few loops, and by less than 1 % over a whole one.
constexpr double kAlike = 0.05;

}  // namespace

void PastMotion::note(std::uint64_t at, std::vector<double> turns) {
    marks_.push_back({static_cast<double>(at), std::move(turns)});
    if (marks_.size() > kMostPlaces)
        thin();
}

void PastMotion::thin() {
    std::vector<Mark> kept;
    for (std::size_t i = 0; i < marks_.size(); ++i)
        if (i % 2 == 0 || i + 1 == marks_.size())
            kept.push_back(std::move(marks_[i]));
    marks_ = std::move(kept);
}

PastMotion::Mark PastMotion::at(double turns) const {
    const auto after =
        std::lower_bound(marks_.begin(), marks_.end(), turns, [](const Mark& mark, double wanted) {
            return mark.turns.front() < wanted;
        });
    if (after == marks_.begin())
        return marks_.front();
    const Mark& right = *after;
    const Mark& left = *(after - 1);
    const double share = (turns - left.turns.front()) / (right.turns.front() - left.turns.front());
    Mark between;
    between.at = left.at + share * (right.at - left.at);
    for (std::size_t lane = 0; lane < left.turns.size(); ++lane)
        between.turns.push_back(left.turns[lane] + share * (right.turns[lane] - left.turns[lane]));
    return between;
}

std::optional<PastMotion::Way> PastMotion::way(double from, double to) const {
    if (marks_.empty() || from < first() || to > last() || to <= from)
        return std::nullopt;
    const Mark begin = at(from);
    const Mark end = at(to);
    Way way{end.at - begin.at, {}};
    for (std::size_t lane = 0; lane < begin.turns.size(); ++lane)
        way.turns.push_back(end.turns[lane] - begin.turns[lane]);
    return way;
}

bool alike(const PastMotion& one, const PastMotion& other, double from) {
    if (one.empty() || other.empty())
        return false;
    const double begin = std::max({from, one.first(), other.first()});
    const double end = std::min(one.last(), other.last());
    const auto first = one.way(begin, end);
    const auto second = other.way(begin, end);
    return first && second && std::abs(first->time - second->time) <= kAlike * second->time;
}

}  // namespace switchfold
