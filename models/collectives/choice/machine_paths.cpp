// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/machine_paths.h"

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold {

namespace {

/// The ring, cut in front of its member at `from`.
MachinePath cut_at(MachinePath ring, std::size_t from) {
    std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(from), ring.end());
    return ring;
}

std::size_t place_of(const MachinePath& ring, std::uint32_t member) {
    return static_cast<std::size_t>(std::find(ring.begin(), ring.end(), member) - ring.begin());
}

/// How often each member begins and ends paths.
class Ends {
public:
    explicit Ends(std::size_t most) : most_(most) {}
    bool add(std::uint32_t first, std::uint32_t last) {
        if (begins_[first] == most_ || ends_[last] == most_)
            return false;
        ++begins_[first];
        ++ends_[last];
        return true;
    }
    void remove(std::uint32_t first, std::uint32_t last) {
        --begins_[first];
        --ends_[last];
    }

private:
    std::size_t most_;
    std::map<std::uint32_t, std::size_t> begins_;
    std::map<std::uint32_t, std::size_t> ends_;
};

/// Cuts one ring after another, each first where `wanted` says.
class CutSearch {
public:
    CutSearch(const std::vector<MachinePath>& rings, std::vector<std::size_t> wanted) :
        rings_(rings),
        wanted_(std::move(wanted)),
        ends_((wanted_.size() + rings.front().size() - 1) / rings.front().size()) {}

    /// Where each path's ring is cut; empty if none was found within the bound.
    std::vector<std::size_t> run() { return search() ? cuts_ : std::vector<std::size_t>(); }

private:
    static constexpr std::uint32_t kSteps = 100'000;

    bool search() {
        const std::size_t path = cuts_.size();
        if (path == wanted_.size())
            return true;
        const MachinePath& ring = rings_[path % rings_.size()];
        const std::size_t n = ring.size();
        for (std::size_t i = 0; i < n && ++steps_ < kSteps; ++i) {
            const std::size_t cut = (wanted_[path] + i) % n;
            const std::uint32_t last = ring[(cut + n - 1) % n];
            if (!ends_.add(ring[cut], last))
                continue;
            cuts_.push_back(cut);
            if (search())
                return true;
            cuts_.pop_back();
            ends_.remove(ring[cut], last);
        }
        return false;
    }

    const std::vector<MachinePath>& rings_;
    std::vector<std::size_t> wanted_;
    std::vector<std::size_t> cuts_;
    Ends ends_;
    std::uint32_t steps_ = 0;
};

/// A path that takes one link out of every ring and passes every member once.
class LinkSearch {
public:
    explicit LinkSearch(const std::vector<MachinePath>& rings) :
        rings_(rings), taken_(rings.size(), false) {}

    /// Empty if none was found within the bound.
    MachinePath run() {
        for (const std::uint32_t member : rings_.front()) {
            path_.assign(1, member);
            if (search())
                return path_;
        }
        return {};
    }

private:
    static constexpr std::uint32_t kSteps = 100'000;

    bool search() {
        if (path_.size() == rings_.front().size())
            return true;
        for (std::size_t r = 0; r < rings_.size() && ++steps_ < kSteps; ++r) {
            if (taken_[r])
                continue;
            const MachinePath& ring = rings_[r];
            const std::uint32_t next = ring[(place_of(ring, path_.back()) + 1) % ring.size()];
            if (std::find(path_.begin(), path_.end(), next) != path_.end())
                continue;
            taken_[r] = true;
            path_.push_back(next);
            if (search())
                return true;
            path_.pop_back();
            taken_[r] = false;
        }
        return false;
    }

    const std::vector<MachinePath>& rings_;
    MachinePath path_;
    std::vector<bool> taken_;
    std::uint32_t steps_ = 0;
};

/// The rings without the links of `across`, and that path last. \pre it takes one of each
std::vector<MachinePath> without(const std::vector<MachinePath>& rings, const MachinePath& across) {
    std::vector<MachinePath> paths;
    for (const MachinePath& ring : rings)
        for (std::size_t i = 0; i + 1 < across.size(); ++i) {
            const std::size_t cut = (place_of(ring, across[i]) + 1) % ring.size();
            if (ring[cut] != across[i + 1])
                continue;
            paths.push_back(cut_at(ring, cut));
            break;
        }
    paths.push_back(across);
    return paths;
}

}  // namespace

std::vector<MachinePath>
paths_through(const std::vector<MachinePath>& rings, std::size_t count, std::size_t rails) {
    const std::size_t members = rings.front().size();
    if (rails == members && count == members && rings.size() + 1 == count) {
        const MachinePath across = LinkSearch(rings).run();
        if (!across.empty())
            return without(rings, across);
    }
    std::vector<std::size_t> cuts;
    for (std::size_t path = 0; path < count; ++path)
        cuts.push_back(path % rails * members / rails);
    if (rails == members) {
        std::vector<std::size_t> found = CutSearch(rings, cuts).run();
        if (!found.empty())
            cuts = std::move(found);
    }
    std::vector<MachinePath> paths;
    for (std::size_t path = 0; path < count; ++path)
        paths.push_back(cut_at(rings[path % rings.size()], cuts[path]));
    return paths;
}

}  // namespace switchfold
