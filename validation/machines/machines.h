// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/experiment.h"
#include "validation/machines/machine_words.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A system of configs/systems and the words by which tables describe it.
struct KnownMachine {
    std::filesystem::path file;
    std::string name;
    std::vector<MachineWords> words;  ///< one for each wording in measured_as
    std::uint32_t gpus = 0;
    std::uint32_t nodes = 1;
    std::uint32_t nics = 0;           ///< per node
    std::uint32_t pcie_switches = 0;  ///< per node, between GPUs and NICs
    bool several_nodes = false;       ///< the number of nodes is a parameter
};

/// What a table or trace states about the machine it was measured on.
struct WantedMachine {
    std::string gpu;           ///< column or device name
    std::string interconnect;  ///< free text
    std::uint32_t gpus = 0;    ///< number used
    std::optional<std::uint32_t> nodes;
};

/// The system to simulate, adapted to the measured number of nodes and GPUs per node.
struct MatchedMachine {
    std::filesystem::path file;
    std::string name;
    std::uint32_t nodes = 1;
    std::vector<Override> overrides;
    SystemParams system;
};
/// The same machine without reduction in switches, as NCCL runs with NVLS disabled.
[[nodiscard]] SystemParams without_reduction(const MatchedMachine& machine);
/// A machine, or the reason why there is none.
struct MachineMatch {
    std::optional<MatchedMachine> machine;
    std::string why;
};

/// Uses a named system as the measured machine, whatever the measurement says about it.
[[nodiscard]] MachineMatch
fit_machine(const std::filesystem::path& system, const WantedMachine& wanted);

/// All systems of a folder.
class Machines {
public:
    /// Reads root/configs/systems/*.json. Throws ConfigError if one is invalid or there is none.
    explicit Machines(const std::filesystem::path& root);
    /// Of each machine once: the match lives as long as this.
    [[nodiscard]] const MachineMatch& find(const WantedMachine& wanted) const;
    /// The name of the system that find() would adapt; empty if there is none.
    [[nodiscard]] std::string name_of(const WantedMachine& wanted) const;
    /// Whether a parameter of any system or GPU was fitted to this table: a $source text with the
    /// word "fitted" counts for every table that it names.
    [[nodiscard]] bool fitted_on(std::string_view table) const;
    [[nodiscard]] const std::vector<KnownMachine>& known() const { return known_; }

private:
    /// The known machine that fits best, null if none does, and why not.
    struct Found {
        const KnownMachine* machine = nullptr;
        std::uint32_t nodes = 1;
        std::string why;
    };
    [[nodiscard]] Found best_of(const WantedMachine& wanted) const;

    std::vector<KnownMachine> known_;
    std::vector<std::string> fitted_sources_;
    mutable std::map<std::string, MachineMatch> found_;  ///< by what was wanted
};

/// All texts below "$source" keys that contain the word "fitted".
[[nodiscard]] std::vector<std::string> fitted_sources(const Json& configuration);
/// Whether a text names a table: by its whole id, not as part of a longer word, or by a prefix and
/// a star.
[[nodiscard]] bool names_table(std::string_view text, std::string_view table);

}  // namespace switchfold::validation
