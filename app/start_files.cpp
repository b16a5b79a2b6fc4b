// SPDX-License-Identifier: Apache-2.0
#include "app/start_files.h"

#include "core/json.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

std::string quoted(const std::string& text) {
    return Json(text).dump();
}

std::string named(const StartChoice& choice, const std::string& kind) {
    return quoted(choice.name.empty() ? "my_" + kind : choice.name);
}

std::string schema_of(const StartChoice& choice, const std::string& kind) {
    return quoted((choice.schemas / (kind + ".schema.json")).string());
}

std::string workload_of(const StartChoice& choice) {
    if (choice.workload == "trace")
        return fmt::format(
            R"(  // One trace a rank, or one that stands for all of `ranks`; `switchfold trace check` says what a trace holds.
{}  "workload": {{"type": "trace", "files": {}, "ranks": {}}},)",
            choice.traced_on.empty()
                ? ""
                : fmt::format(
                      "  // The traces are of {}: the system above should be like that machine.\n",
                      choice.traced_on),
            Json(choice.traces).dump(), choice.ranks);
    if (choice.workload == "training")
        return fmt::format(
            R"(  // A training step by a network's shape. The plan says how ranks share it (docs/plans.md).
{}  "workload": {{
    "type": "training",
    "network": {},
    "bucket": "25 MiB",
    "plan": {}
  }},)",
            choice.plan.lack.empty()
                ? "  // This is the first of a few common plans that fits the GPUs' memory; "
                  "`switchfold plan` finds the fastest.\n"
                  "  // \"fold\": true simulates one rank for all that do the same.\n"
                : fmt::format(
                      "  // No common plan fits the GPUs' memory; this one's micro_batch {}.\n"
                      "  // Larger systems have more: --system dgx_h100_ndr, and pipeline in the "
                      "plan.\n",
                      choice.plan.lack),
            quoted(choice.network), choice.plan.plan);
    if (choice.workload == "kernel_beside_collective")
        return R"(  // A loop of kernels beside a loop of collectives: by how much each slows the other (docs/contention.md).
  "workload": {
    "type": "kernel_beside_collective",
    // Or a kernel of your own: {"type": "launch", "grid": [1056], "block": [256], "bytes_read": "1 GiB", "time": "400 us"}.
    "kernel": {"type": "matrix_product", "m": 8192, "n": 8192, "k": 8192, "datatype": "bfloat16"},
    "collective": "all_reduce", "size": "256 MiB", "datatype": "bfloat16", "ranks": 8
  },)";
    return R"(  // One collective and nothing beside it. Others: all_gather, reduce_scatter, all_to_all, ... (docs/collectives.md).
  "workload": {"type": "collective", "collective": "all_reduce", "size": "256 MiB", "datatype": "bfloat16", "ranks": 8},)";
}

std::string experiment(const StartChoice& choice) {
    const bool alone =
        choice.workload == "collective" || choice.workload == "kernel_beside_collective";
    return fmt::format(
        R"({{
  "$schema": {},
  "name": {},
  // The machine: a file, or the object itself. `switchfold describe FILE` says what one is.
  "system": {},
{}
  // Ways to run it; the first without overlap is what the others are compared with (docs/scenarios.md).
  "scenarios": [
{}    {{"name": "ring", "all_reduce": {{"algorithm": "ring"}}}},
    // What the library would choose.
    {{"name": "auto", "all_reduce": {{"algorithm": "auto"}}}}
    // Switches that add in flight, where the machine has them:
    // , {{"name": "in_switch", "all_reduce": {{"algorithm": "in_switch"}}}}
  ]
}}
)",
        schema_of(choice, "experiment"), named(choice, "experiment"),
        quoted(choice.system.string()), workload_of(choice),
        alone ? "" : "    {\"name\": \"serial\", \"overlap\": false},\n");
}

std::string system(const StartChoice& choice) {
    return fmt::format(
        R"({{
  "$schema": {},
  // Everything that is not said here is the base's.
  "$base": {},
  "name": {},
  // What is different, field by field, each number with its source beside it (docs/systems.md).
  // "gpu": "gpus/h200.json",
  "topology": {{
    // "gpus": 8,
    // "link": {{"lane_bandwidth": "25 GB/s", "$source": {{"lane_bandwidth": "where the number is from"}}}}
  }},
  // The words in which tables of measurements describe it: `switchfold validate --system FILE` compares.
  "measured_as": []
}}
)",
        schema_of(choice, "system"), quoted(choice.system.string()), named(choice, "system"));
}

std::string sweep(const StartChoice& choice) {
    const std::string of = choice.experiment.empty() ? fmt::format(
                                                           R"({{
    "name": "all_reduce",
    "system": {},
    "workload": {{"type": "collective", "size": "1 MiB", "ranks": 8}},
    "scenarios": [{{"name": "all_reduce", "all_reduce": {{"algorithm": "ring"}}}}]
  }})",
                                                           quoted(choice.system.string()))
                                                     : quoted(choice.experiment.string());
    return fmt::format(
        R"({{
  "$schema": {},
  "name": {},
  // What is run at every point: a file, or the object itself.
  "experiment": {},
  // Every value of each axis with every value of the others. A pointer is one that --set takes (docs/scenarios.md).
  "axes": [
    {}
  ]
}}
)",
        schema_of(choice, "sweep"), named(choice, "sweep"), of,
        choice.experiment.empty()
            ? R"({"name": "algorithm", "pointer": "/scenarios/0/all_reduce/algorithm", "values": ["ring", "auto"]},
    {"name": "size", "pointer": "/workload/size", "range": "1 MiB..256 MiB x4"})"
            : R"({"name": "seed", "pointer": "/seed", "values": [1, 2]})");
}

struct Kind {
    const char* name;
    std::string (*write)(const StartChoice& choice);
};
constexpr Kind kKinds[] = {{"experiment", experiment}, {"system", system}, {"sweep", sweep}};

}  // namespace

std::vector<std::string> start_kinds() {
    std::vector<std::string> names;
    for (const Kind& kind : kKinds)
        names.emplace_back(kind.name);
    return names;
}

std::string start_file(const std::string& kind, const StartChoice& choice) {
    for (const Kind& known : kKinds)
        if (kind == known.name)
            return known.write(choice);
    return {};
}

}  // namespace switchfold
