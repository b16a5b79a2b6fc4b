// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/machine_paths.h"

#include "interconnect/rings.h"
#include "interconnect/topologies/direct.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace switchfold::machine_paths_test {
namespace {

std::vector<MachinePath> rings_of_mesh(std::uint32_t gpus) {
    FullMeshTopology mesh;
    mesh.gpus = gpus;
    mesh.lanes = 1;
    std::vector<std::uint32_t> ranks(gpus);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return find_rings(mesh.build(), ranks);
}

/// By member: paths that begin and that end there.
std::map<std::uint32_t, std::pair<std::size_t, std::size_t>>
ends_of(const std::vector<MachinePath>& paths) {
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> ends;
    for (const MachinePath& path : paths) {
        ++ends[path.front()].first;
        ++ends[path.back()].second;
    }
    return ends;
}

TEST(PathsThrough, EightGpusInAMeshShareTheirNicsAndLinksAlike) {
    const auto paths = paths_through(rings_of_mesh(8), 8, 8);
    ASSERT_EQ(paths.size(), 8U);
    for (const auto& [member, ends] : ends_of(paths))
        EXPECT_EQ(ends, std::make_pair(std::size_t{1}, std::size_t{1})) << member;
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (const MachinePath& path : paths) {
        EXPECT_EQ(std::set<std::uint32_t>(path.begin(), path.end()).size(), 8U);
        for (std::size_t i = 0; i + 1 < path.size(); ++i)
            EXPECT_TRUE(links.insert({path[i], path[i + 1]}).second);
    }
    EXPECT_EQ(links.size(), 56U) << "every link of the mesh, each way";
}

TEST(PathsThrough, OneRingIsCutAtOneMemberAfterAnother) {
    const auto paths = paths_through({{0, 1, 2, 3}}, 4, 4);
    EXPECT_EQ(
        paths, (std::vector<MachinePath>{{0, 1, 2, 3}, {1, 2, 3, 0}, {2, 3, 0, 1}, {3, 0, 1, 2}}));
    EXPECT_EQ(paths_through({{0, 1, 2, 3}}, 2, 2)[1], (MachinePath{2, 3, 0, 1}))
        << "two NICs for four GPUs";
}

RC_GTEST_PROP(PathsThrough, NicOfEachMemberIsUsedAlike, ()) {
    const auto gpus = *rc::gen::inRange<std::uint32_t>(2, 9);
    std::vector<MachinePath> rings(*rc::gen::inRange<std::size_t>(1, 9));
    for (MachinePath& ring : rings) {
        ring.resize(gpus);
        std::iota(ring.begin(), ring.end(), 0U);
        for (std::size_t i = gpus - 1; i > 0; --i)
            std::swap(ring[i], ring[*rc::gen::inRange<std::size_t>(0, i + 1)]);
    }
    const std::size_t count = std::max<std::size_t>(rings.size(), gpus);
    const auto paths = paths_through(rings, count, gpus);
    RC_ASSERT(paths.size() == count);
    for (std::size_t path = 0; path < rings.size(); ++path) {
        MachinePath turned = paths[path];
        std::rotate(
            turned.begin(), std::find(turned.begin(), turned.end(), rings[path].front()),
            turned.end());
        RC_ASSERT(turned == rings[path]);
    }
    if (rings.size() > 1)
        return;  // with several, an equal share may not exist
    for (const auto& [member, ends] : ends_of(paths))
        RC_ASSERT(ends == std::make_pair(count / gpus, count / gpus));
}

}  // namespace
}  // namespace switchfold::machine_paths_test
