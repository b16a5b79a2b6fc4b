// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/kept_suites.h"

#include "core/byte_codec.h"
#include "sim/config/load.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

namespace switchfold::validation {

std::string digest_of_inputs(const SuiteOptions& options) {
    std::string digests;
    for (const auto& path :
         {options.root / "configs", options.root / kShippedData / "reference",
          options.root / kShippedData / "traces", options.root / kShippedData / "models",
          options.root / kShippedData / "networks", options.root / "validation/maps",
          options.root / "validation/h200/data", options.measurements, options.data.value_or(""),
          options.map})
        digests += fmt::format("{}={}\n", path.string(), digest_of_files(path));
    // A system may be made of other files.
    if (!options.system.empty())
        digests += system_json(load_any_system(options.system, {})).dump();
    return digests;
}

SuiteResult
run_or_take(const Suite& suite, const SuiteOptions& options, const std::string& inputs) {
    if (suite.keeps_rows)
        return suite.run(options);
    const std::string key = fmt::format(
        "suite {}, {} s a row\n{}", suite.name,
        options.row_seconds ? fmt::format("{}", *options.row_seconds) : "any", inputs);
    if (const auto kept = options.kept.find(key)) {
        try {
            auto result = value_of_bytes<SuiteResult>(*kept);
            if (options.log)
                options.log("kept from an earlier run");
            return result;
        } catch (const InternalError&) {
            // A file that was cut: run it.
        }
    }
    SuiteResult result = suite.run(options);
    options.kept.keep(key, value_bytes(result));
    return result;
}

}  // namespace switchfold::validation
