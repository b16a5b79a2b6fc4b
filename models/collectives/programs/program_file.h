// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "models/collectives/choice/collective_config.h"
#include "models/collectives/programs/program.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace switchfold::programs {

/// A file with a collective: our own JSON, which is for any number of ranks, MSCCL's XML, which is
/// for those that it says, or Chakra's graphs as ASTRA-sim's custom collectives, one a rank.
class ProgramFile {
public:
    /// `written`: the path as it stands in the experiment. Throws ConfigError.
    ProgramFile(std::string written, std::filesystem::path file);

    [[nodiscard]] const std::string& written() const { return written_; }
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] CollectiveKind kind() const { return kind_; }
    [[nodiscard]] Protocol protocol() const { return protocol_; }
    [[nodiscard]] std::uint64_t digest() const { return digest_; }
    /// Why these ranks cannot run it; empty if they can.
    [[nodiscard]] std::string why_not(Shape shape) const;
    /// Instances on these ranks; 0: as many as rings have channels.
    [[nodiscard]] std::uint32_t instances(Shape shape) const;
    /// The program for these ranks, proved. Throws ConfigError with the first instruction that is
    /// wrong.
    [[nodiscard]] std::shared_ptr<const Proved> proved(Shape shape) const;

private:
    void prove_fixed();
    [[nodiscard]] Program program_for(const Shape& shape) const;

    std::string written_;
    std::filesystem::path file_;
    std::string name_;
    CollectiveKind kind_ = CollectiveKind::kAllReduce;
    Protocol protocol_ = Protocol::kAuto;
    std::uint64_t digest_ = 0;
    Json json_;                     ///< of our own form
    std::optional<Program> fixed_;  ///< of MSCCL's and Chakra's
    mutable std::map<Shape, std::shared_ptr<const Proved>> proved_;
};

/// The number of a file, which stays for as long as the process runs: of equal ones the first's.
[[nodiscard]] std::uint32_t number_of(const std::shared_ptr<const ProgramFile>& file);
[[nodiscard]] const std::shared_ptr<const ProgramFile>& file_of(std::uint32_t number);
/// A choice's program.
[[nodiscard]] const Proved& program_of(const ProgramConfig& choice);

}  // namespace switchfold::programs
