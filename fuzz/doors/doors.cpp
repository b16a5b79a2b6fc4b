// SPDX-License-Identifier: Apache-2.0
#include "fuzz/doors/doors.h"

#include "core/error.h"
#include "core/json.h"
#include "core/tests/temporary_folder.h"
#include "core/text_cells.h"
#include "sim/config/astra_sim.h"
#include "sim/config/described_machine.h"
#include "sim/config/load.h"
#include "sim/config/tried_files.h"
#include "sim/nccl_choices.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace switchfold::fuzz {

namespace {

/// The graphs of two ranks, one after the other: the second begins as the first does.
void try_custom_collective(std::string_view bytes) {
    const std::size_t head = bytes.empty() ? 0 : 1U + static_cast<unsigned char>(bytes.front());
    const std::size_t second = bytes.find(bytes.substr(0, head), std::max<std::size_t>(1, head));
    const std::size_t at = std::min(second, bytes.size());
    const test_data::TemporaryFile first("fuzzed.0.et", bytes.substr(0, at));
    std::string other = first.path().string();
    other.replace(other.size() - std::string_view("0.et").size(), std::string::npos, "1.et");
    std::ofstream(other, std::ios::binary) << bytes.substr(at);
    try_program(first.path());
}

/// Graphs' names for so many NPUs; only their number counts.
class Npus {
public:
    explicit Npus(std::uint32_t npus) {
        for (std::uint32_t i = 0; i < npus; ++i)
            std::ofstream(prefix().string() + fmt::format(".{}.et", i));
    }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
    [[nodiscard]] std::filesystem::path prefix() const { return folder_.path() / "work"; }

private:
    TemporaryFolder folder_;
};

/// What is written must be read, and its program run.
void try_astra_sim(AstraSimInputs inputs, const Npus& npus) {
    inputs.workload = npus.prefix();
    inputs.configs = std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs";
    inputs.folder = npus.folder();
    inputs.programs = npus.folder() / "along";
    const AstraSimExperiment made = experiment_of_astra_sim(inputs);
    try {
        for (const auto& [program, text] : made.programs) {
            std::ofstream(program) << text;
            try_program(program);
        }
        static_cast<void>(load_experiment(
            parse_json(made.text, "imported"), npus.folder() / "imported.json", {}));
    } catch (const ConfigError& error) {
        SWITCHFOLD_CHECK(false, "what was imported is refused: {}\n{}", error.what(), made.text);
    }
}

/// A system, a line ---, a network of four NPUs or six.
void try_astra_sim(std::string_view bytes) {
    static const Npus four(4);
    static const Npus six(6);
    constexpr std::string_view kCut = "\n---\n";
    const std::size_t cut = std::min(bytes.find(kCut), bytes.size());
    const test_data::TemporaryFile system("system.json", bytes.substr(0, cut));
    const test_data::TemporaryFile network("network.yml", bytes.substr(cut));
    AstraSimInputs inputs;
    inputs.system = system.path();
    inputs.network = network.path();
    try {
        try_astra_sim(inputs, four);
    } catch (const ConfigError&) {
        try_astra_sim(inputs, six);
    }
}

/// Lines NAME=VALUE, and what is chosen under them. A table lies beside; no other file is opened.
void try_nccl_environment(std::string_view bytes) {
    constexpr std::string_view kTable = "NCCL_TUNER_CONFIG_FILE";
    static const TemporaryFolder folder;
    static const auto kConfigs = std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs";
    std::ofstream(folder.path() / "table.csv")
        << "allreduce,0,1048576,tree,ll,2,-1,-1\nbroadcast,0,4294967295,ring,simple,-1,1,8\n";
    std::map<std::string, std::string> variables;
    for (const std::string& line : split_text(bytes, '\n')) {
        const std::size_t equals = std::min(line.find('='), line.size());
        const std::string name = line.substr(0, equals);
        const std::string value = line.substr(std::min(equals + 1, line.size()));
        if (name != kTable || value.find('/') == std::string::npos)
            variables[name] = value;
    }
    const NcclSetting setting =
        nccl_setting(kConfigs / "systems/hgx_h100.json", variables, folder.path());
    constexpr std::uint64_t kSmall = 4096;
    constexpr std::uint64_t kLarge = 64U << 20U;
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
          CollectiveKind::kBroadcast, CollectiveKind::kReduce})
        for (const std::uint64_t size : {kSmall, kLarge})
            static_cast<void>(nccl_choice(setting, {0, 1, 2, 3, 4, 5, 6, 7}, kind, size));
}

}  // namespace

bool try_door(std::string_view door, std::string_view bytes) {
    const test_data::TemporaryFile file(door == "msccl" ? "fuzzed.xml" : "fuzzed", bytes);
    try {
        if (door == "custom_collective") {
            try_custom_collective(bytes);
        } else if (door == "msccl" || door == "program") {
            try_program(file.path());
        } else if (door == "nccl_topology") {
            static_cast<void>(read_nccl_topology(file.path()));
        } else if (door == "nvidia_smi") {
            static_cast<void>(read_nvidia_smi_topology(file.path()));
        } else if (door == "astra_sim") {
            try_astra_sim(bytes);
        } else if (door == "lspci") {
            DescribedMachine machine;
            machine.gpus.resize(4);
            add_lspci(machine, file.path());
        } else if (door == "nccl_environment") {
            try_nccl_environment(bytes);
        } else if (door == "tuner_table") {
            try_tuner_table(file.path());
        } else {
            const NcclLog log = read_nccl_log(file.path());
            SWITCHFOLD_CHECK(!describe_nccl_log(log).empty(), "a log of nothing");
            return is_nccl_log(bytes);
        }
    } catch (const ConfigError&) {
        return false;
    }
    return true;
}

}  // namespace switchfold::fuzz
