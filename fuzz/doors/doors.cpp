// SPDX-License-Identifier: Apache-2.0
#include "fuzz/doors/doors.h"

#include "core/error.h"
#include "sim/config/described_machine.h"
#include "sim/config/tried_files.h"
#include "sim/nccl_choices.h"
#include "workloads/tests/temporary_file.h"

#include <string>

namespace switchfold::fuzz {

bool try_door(std::string_view door, std::string_view bytes) {
    const test_data::TemporaryFile file(door == "msccl" ? "fuzzed.xml" : "fuzzed", bytes);
    try {
        if (door == "msccl" || door == "program") {
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
