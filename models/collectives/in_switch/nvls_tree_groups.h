// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/in_switch/domain_groups.h"
#include "models/collectives/running_collective.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// The groups in the switches of all machines, and of all rails where the network reduces. Gives
/// back at its end what nobody has taken.
class NvlsTreeGroups {
public:
    explicit NvlsTreeGroups(Fabric& fabric) : fabric_(fabric) {}
    ~NvlsTreeGroups();
    NvlsTreeGroups(const NvlsTreeGroups&) = delete;
    NvlsTreeGroups& operator=(const NvlsTreeGroups&) = delete;
    NvlsTreeGroups(NvlsTreeGroups&&) = delete;
    NvlsTreeGroups& operator=(NvlsTreeGroups&&) = delete;

    /// \returns whether the switches took all; else `refused` says why not.
    [[nodiscard]] bool
    create(const CollectiveParams& params, const CollectiveSpec& spec, std::string& refused);
    [[nodiscard]] std::vector<DomainGroups> take_machines() { return std::exchange(machines_, {}); }
    [[nodiscard]] std::vector<std::unique_ptr<ReductionGroup>> take_rails() {
        return std::exchange(rails_, {});
    }

private:
    [[nodiscard]] std::unique_ptr<ReductionGroup> create(
        const CollectiveSpec& spec, const std::vector<std::uint32_t>& positions,
        std::string& refused);
    /// Of a machine whose first member stands for all.
    [[nodiscard]] DomainGroups fold(
        const CollectiveParams& params, const CollectiveSpec& spec,
        const std::vector<std::uint32_t>& members, std::string& refused);

    Fabric& fabric_;
    std::vector<DomainGroups> machines_;
    std::vector<std::unique_ptr<ReductionGroup>> rails_;
};

}  // namespace switchfold
