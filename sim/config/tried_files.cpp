// SPDX-License-Identifier: Apache-2.0
#include "sim/config/tried_files.h"

#include "models/collectives/choice/tuner_table.h"
#include "models/collectives/programs/program_file.h"

namespace switchfold {

void try_program(const std::filesystem::path& file) {
    const programs::ProgramFile program(file.filename().string(), file);
    for (const programs::Shape& shape :
         {programs::Shape{2, 2, 1}, programs::Shape{6, 3, 2}, programs::Shape{4, 1, 1}})
        if (program.why_not(shape).empty()) {
            static_cast<void>(program.instances(shape));
            static_cast<void>(program.proved(shape));
        }
}

void try_tuner_table(const std::filesystem::path& file) {
    const TunerTable table(file);
    static_cast<void>(table.find(CollectiveKind::kAllReduce, 1 << 20U, 2, 16, false));
}

}  // namespace switchfold
