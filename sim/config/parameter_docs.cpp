// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/schema_table.h"
#include "models/collectives/programs/program_schema.h"
#include "sim/config/host_costs_params.h"
#include "sim/config/launch_params.h"
#include "sim/config/load.h"
#include "sim/config/parameter_units.h"
#include "sim/energy/power_params.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace switchfold {

namespace {

struct Kind {
    std::string_view name;
    OrderedJson (*schema)(std::string_view title);
};

template <class P>
constexpr Kind kind_of(std::string_view name) {
    return {name, &schema_of<P>};
}

const Kind& find_kind(std::string_view name) {
    static constexpr std::array kKinds{
        kind_of<Experiment>("experiment"),   kind_of<SystemParams>("system"),
        kind_of<TopologyParams>("topology"), kind_of<CollectiveParams>("collectives"),
        kind_of<GpuParams>("gpu"),           kind_of<ProcessorParams>("processor"),
        kind_of<HostCostsParams>("costs"),   kind_of<LaunchParams>("launches"),
        kind_of<JitterParams>("jitter"),     kind_of<PowerParams>("power")};
    std::string known;
    for (const Kind& kind : kKinds) {
        if (kind.name == name)
            return kind;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.name);
    }
    throw ConfigError(
        "schema", "",
        fmt::format(
            "unknown kind \"{}\"; expected one of: {}, sweep, program, statistics", name, known));
}

OrderedJson schema_of_kind(const std::string& kind) {
    const Kind& found = find_kind(kind);
    const std::string_view title = found.name == "gpu" ? "GPU" : found.name;
    return found.schema(fmt::format("switchfold {}", title));
}

}  // namespace

std::string schema_text(const std::string& kind) {
    if (kind == "program")
        return programs::program_schema().dump(2) + "\n";
    return schema_of_kind(kind).dump(2) + "\n";
}

std::string parameter_table(const std::string& kind) {
    if (kind == "program")
        throw ConfigError(
            "schema", "--markdown", "has no table of programs; expected docs/programs.md");
    return schema_table(schema_of_kind(kind), kind);
}

}  // namespace switchfold
