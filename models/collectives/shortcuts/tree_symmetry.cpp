// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/tree_symmetry.h"

#include "interconnect/path_finder.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/shortcuts/flow_images.h"

#include <algorithm>
#include <cstddef>

namespace switchfold {

namespace {

using Parents = std::vector<std::uint32_t>;

/// Positions in a tree by their places: machine after machine, each along its chain.
Parents along_chains(const GroupLayout& layout, const Parents& parents) {
    constexpr std::uint32_t kLast = UINT32_MAX;
    Parents next(parents.size(), kLast);
    Parents heads(layout.machines.size());
    for (std::uint32_t position = 0; position < parents.size(); ++position) {
        const std::uint32_t above = parents[position];
        if (above != kNoParent && layout.machine_of[above] == layout.machine_of[position])
            next[above] = position;
        else
            heads[layout.machine_of[position]] = position;
    }
    Parents all;
    for (std::uint32_t position : heads)
        for (; position != kLast; position = next[position])
            all.push_back(position);
    return all;
}

}  // namespace

FoldedTrees
fold_members(const GroupLayout& layout, const std::vector<Parents>& trees, std::uint32_t kept) {
    FoldedTrees folded;
    for (std::uint32_t position = 0; position < layout.machine_of.size(); ++position) {
        const std::uint32_t machine = layout.machine_of[position];
        const auto& members = layout.machines[machine];
        const auto member = static_cast<std::uint32_t>(
            std::lower_bound(members.begin(), members.end(), position) - members.begin());
        folded.member_of.push_back(machine * kept + member % kept);
    }
    std::vector<Parents> by_place;
    for (std::uint32_t tree = 0; tree < trees.size(); ++tree) {
        const Parents& here = by_place.emplace_back(along_chains(layout, trees[tree]));
        std::uint32_t image = 0;
        Parents place(trees[tree].size());
        for (; image < tree; ++image) {
            const Parents& there = by_place[image];
            for (std::size_t i = 0; i < here.size(); ++i)
                place[here[i]] = there[i];
            const auto same = [&](std::uint32_t position) {
                const std::uint32_t above = trees[tree][position];
                const std::uint32_t other = trees[image][place[position]];
                return folded.member_of[position] == folded.member_of[place[position]] &&
                       (above == kNoParent ? other == kNoParent : other == place[above]);
            };
            if (std::all_of(here.begin(), here.end(), same))
                break;
        }
        if (image == tree)
            for (const std::uint32_t position : here)
                place[position] = position;
        folded.image.push_back(image);
        folded.place.push_back(std::move(place));
    }
    return folded;
}

namespace {

/// The fold onto the first `kept` members of each machine.
std::optional<RankSymmetry> fold_onto(
    const Topology& topology, PathFinder& finder, const GroupLayout& layout,
    const std::vector<Parents>& trees, std::uint32_t kept) {
    const auto ranks = static_cast<std::uint32_t>(layout.machine_of.size());
    RankSymmetry fold(topology, ranks);
    // Times step where one more packet no longer fits a window. A fold steps at another size: there
    // it is off by the step, 1.3 % at most in docs/notebook/performance.md. Where several NICs
    // serve a GPU, links inside machines are the limit, and channels fall out of step in another
    // way: 7.9 %.
    const bool one = one_nic_each(topology);
    fold.error = one ? 0.015 : 0.09;
    fold.typical = one ? 0.005 : 0.03;
    for (const auto& members : layout.machines)
        for (std::size_t member = 0; member < members.size(); ++member)
            fold.image_of_rank[members[member]] = members[member % kept];
    const FoldedTrees folded = fold_members(layout, trees, kept);
    FlowImages images(topology, fold);
    for (std::uint32_t tree = 0; tree < trees.size(); ++tree)
        for (std::uint32_t below = 0; below < ranks; ++below) {
            const std::uint32_t above = trees[tree][below];
            if (above == kNoParent)
                continue;
            const std::uint32_t from = fold.image_of_rank[folded.place[tree][below]];
            const std::uint32_t to = fold.image_of_rank[folded.place[tree][above]];
            // A flow's two ends must differ.
            if (from == to)
                return std::nullopt;
            const std::uint64_t key =
                2 * (std::uint64_t{folded.image[tree]} * ranks + folded.place[tree][below]);
            if (!images.add(finder.shortest(below, above), finder.shortest(from, to), key) ||
                !images.add(finder.shortest(above, below), finder.shortest(to, from), key + 1))
                return std::nullopt;
        }
    if (!images.finish())
        return std::nullopt;
    return fold;
}

}  // namespace

std::optional<RankSymmetry>
fold_trees(const Topology& topology, const GroupLayout& layout, const std::vector<Parents>& trees) {
    if (!layout.even())
        return std::nullopt;
    const auto members = static_cast<std::uint32_t>(layout.machines.front().size());
    PathFinder finder(topology);
    // A place of a chain, the one above it and the one below are three GPUs. On fewer, what comes
    // from two neighbours comes from one, in turn, and never meets on a link.
    constexpr std::uint32_t kFewest = 3;
    for (std::uint32_t kept = kFewest; kept <= members / 2; ++kept)
        if (members % kept == 0)
            if (auto fold = fold_onto(topology, finder, layout, trees, kept))
                return fold;
    return std::nullopt;
}

}  // namespace switchfold
