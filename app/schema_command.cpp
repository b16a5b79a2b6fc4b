// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "sim/config/load.h"
#include "sim/config/statistics_docs.h"
#include "sim/output/result_record.h"
#include "sim/sweep/plan.h"
#include "workloads/readers/trace_format/trace_file.h"

#include <cstdio>

namespace switchfold {

namespace {

std::string text_of(const std::string& kind, bool markdown) {
    if (kind == "statistics")
        return statistics_docs();
    if (kind == "result-types")
        return python_result_types();
    if (kind == "trace")
        return trace_record_schema();
    if (kind == "sweep")
        return markdown ? sweep_parameter_table() : sweep_schema_text();
    return markdown ? parameter_table(kind) : schema_text(kind);
}

}  // namespace

void add_schema(CLI::App& app, Chosen& chosen) {
    struct Arguments {
        std::string kind = "experiment";
        bool markdown = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "schema",
        "Print the JSON Schema of a configuration file.\n\nExample:\n  switchfold schema system > "
        "system.schema.json");
    command->add_option(
        "KIND", arguments->kind,
        "experiment, system, topology, collectives, gpu, processor, costs, launches, jitter, "
        "power, sweep, "
        "program (a collective's), trace (a line of switchfold's own format), "
        "statistics (a table), or result-types (Python's, of result.json)");
    command->add_flag("--markdown", arguments->markdown, "Print the parameters as a table instead");
    command->callback([arguments, &chosen] {
        chosen = [arguments] {
            const std::string text = text_of(arguments->kind, arguments->markdown);
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        };
    });
}

}  // namespace switchfold
