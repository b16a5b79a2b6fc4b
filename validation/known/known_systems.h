// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "validation/machines/machines.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace switchfold::validation {

/// Measurements of one kind.
struct KnownKind {
    std::size_t rows = 0;
    std::set<std::string> tables;
    std::set<std::uint32_t> gpus;      ///< that took part
    std::set<std::uint32_t> versions;  ///< of NCCL, as library_version() writes them
    std::set<std::string> dates;       ///< "2025-09", where a source states one
};

/// What was measured of all systems, by what the rows say of their machines.
class KnownSystems {
public:
    /// Reads the tables of the repository and of a folder of measurements, which may be empty.
    /// Throws ConfigError if one is wrong.
    KnownSystems(
        Machines machines, const std::filesystem::path& root,
        const std::filesystem::path& measurements);

    /// "collectives", "training steps", ...: in the order in which they are told.
    [[nodiscard]] static std::vector<std::string> kinds();
    /// Of the system of this name, by kind; kinds without any are left out.
    [[nodiscard]] const std::map<std::string, KnownKind>& of_system(const std::string& name) const;
    /// Kernels of a GPU of this name, whatever machine it is in.
    [[nodiscard]] const KnownKind& kernels_of(const std::string& gpu) const;
    /// All rows of a system.
    [[nodiscard]] std::size_t rows_of(const std::string& name) const;
    /// Systems that ship, in order of their files.
    [[nodiscard]] const std::vector<KnownMachine>& systems() const { return machines_.known(); }

private:
    void read(const std::filesystem::path& table, const std::string& kind, bool of_gpu);

    Machines machines_;
    std::map<std::string, std::map<std::string, KnownKind>> systems_;
    std::map<std::string, KnownKind> kernels_;  ///< by model
};

/// How well the system is known: a line a kind of measurement; if nothing was measured on it, where
/// its GPU was.
[[nodiscard]] std::string describe_known(const SystemParams& system, const KnownSystems& known);

/// All systems in one line, for an overview.
[[nodiscard]] std::string summary_of_known(const KnownSystems& known);

/// A line a system.
[[nodiscard]] std::string table_of_known(const KnownSystems& known);

}  // namespace switchfold::validation
