// SPDX-License-Identifier: Apache-2.0
#include "fuzz/doors/doors.h"

#include "core/error.h"
#include "sim/config/described_machine.h"
#include "sim/config/tried_files.h"
#include "sim/nccl_choices.h"
#include "workloads/tests/temporary_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
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
        } else if (door == "lspci") {
            DescribedMachine machine;
            machine.gpus.resize(4);
            add_lspci(machine, file.path());
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
