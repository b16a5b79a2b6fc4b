// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/measured_points.h"
#include "app/run_report.h"
#include "core/error.h"
#include "sim/output/html_report.h"
#include "sim/output/replaced_file.h"
#include "sim/output/result_reader.h"
#include "sim/output/writers.h"
#include "sim/runner.h"
#include "sim/sweep/sweep_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

namespace {

struct ReportArguments {
    std::vector<std::string> folders;
    std::string data;
    bool text = false;
};

/// One folder's report, as text and as a page.
struct WrittenReport {
    std::string text;
    std::string page;
};

WrittenReport report_of(const std::filesystem::path& folder, const ReportArguments& arguments) {
    WrittenReport report;
    OrderedJson data;
    std::string title;
    if (std::filesystem::exists(folder / "sweep.db")) {
        data = sweep_report_data(folder);
        title = data["name"].get<std::string>();
        report.text = fmt::format(
            "{}: {} points, {} done\n", title, data["points"].get<std::uint64_t>(),
            data["done"].get<std::uint64_t>());
        if (!arguments.data.empty()) {
            data["measured"] = measured_points(arguments.data);
            data["data_file"] = std::filesystem::path(arguments.data).filename().string();
        }
    } else {
        const ExperimentResult result = read_result(folder);
        title = result.experiment;
        report.text = to_table(result);
        if (!arguments.data.empty())
            throw ConfigError(
                "--data", "", "is for sweeps; " + folder.string() + " holds a single run");
        if (!arguments.text)
            data = run_report_data(folder);
    }
    if (!arguments.text)
        report.page = html_report(title, data);
    return report;
}

int report(const ReportArguments& arguments) {
    // Reads all folders before printing anything: a partial report would look complete.
    std::vector<WrittenReport> reports;
    for (const std::string& folder : arguments.folders)
        reports.push_back(report_of(folder, arguments));
    std::string text;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        text += (i == 0 ? "" : "\n") + reports[i].text;
        if (arguments.text)
            continue;
        const auto path = std::filesystem::path(arguments.folders[i]) / "report.html";
        replace_file(path, reports[i].page);
        text += fmt::format("\nreport: {}\n", path.string());
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<ReportArguments>();
    CLI::App* command = app.add_subcommand(
        "report",
        "Write DIR/report.html, a page with the charts of a finished run or a sweep, and print its "
        "table.\n\nExample:\n"
        "  switchfold report runs/example runs/sizes --data measured.csv");
    command->add_option("DIR", arguments->folders, "Folder of a finished run or of a sweep")
        ->required();
    command->add_option(
        "--data", arguments->data, "Table of measured all-reduces to draw over a sweep's curves");
    command->add_flag("--text", arguments->text, "Print the table only");
    command->callback(
        [arguments, &chosen] { chosen = [arguments] { return report(*arguments); }; });
}

}  // namespace switchfold
