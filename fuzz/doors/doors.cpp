// SPDX-License-Identifier: Apache-2.0
#include "fuzz/doors/doors.h"

#include "core/error.h"
#include "models/collectives/choice/tuner_table.h"
#include "models/collectives/programs/program_file.h"
#include "sim/config/described_machine.h"
#include "sim/nccl_choices.h"
#include "workloads/tests/temporary_file.h"

#include <string>

namespace switchfold::fuzz {

namespace {

void read_program(const std::filesystem::path& file) {
    const programs::ProgramFile program("fuzzed", file);
    for (const programs::Shape& shape :
         {programs::Shape{2, 2, 1}, programs::Shape{6, 3, 2}, programs::Shape{4, 1, 1}})
        if (program.why_not(shape).empty()) {
            static_cast<void>(program.instances(shape));
            static_cast<void>(program.proved(shape));
        }
}

}  // namespace

bool try_door(std::string_view door, std::string_view bytes) {
    const test_data::TemporaryFile file(door == "msccl" ? "fuzzed.xml" : "fuzzed", bytes);
    try {
        if (door == "msccl" || door == "program") {
            read_program(file.path());
        } else if (door == "nccl_topology") {
            static_cast<void>(read_nccl_topology(file.path()));
        } else if (door == "nvidia_smi") {
            static_cast<void>(read_nvidia_smi_topology(file.path()));
        } else if (door == "lspci") {
            DescribedMachine machine;
            machine.gpus.resize(4);
            add_lspci(machine, file.path());
        } else if (door == "tuner_table") {
            const TunerTable table(file.path());
            static_cast<void>(table.find(CollectiveKind::kAllReduce, 1 << 20U, 2, 16, false));
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
