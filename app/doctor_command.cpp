// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "core/error.h"
#include "core/version.h"
#include "sim/output/report_assets.h"
#include "validation/harness/data.h"
#include "validation/harness/root.h"
#include "validation/known/known_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace switchfold {

namespace {

std::vector<std::filesystem::path> folders_of(const char* variable) {
    std::vector<std::filesystem::path> folders;
    const char* value = std::getenv(variable);
    std::istringstream all(value == nullptr ? "" : value);
    for (std::string folder; std::getline(all, folder, ':');)
        if (!folder.empty())
            folders.emplace_back(folder);
    return folders;
}

std::optional<std::filesystem::path> program(const char* name) {
    std::error_code ignored;
    for (const auto& folder : folders_of("PATH"))
        if (std::filesystem::is_regular_file(folder / name, ignored))
            return folder / name;
    return std::nullopt;
}

/// Finds a shared library by the beginning of its name, in the loader's folders and CUDA's.
std::optional<std::filesystem::path> library(std::string_view begins) {
    std::vector<std::filesystem::path> folders = folders_of("LD_LIBRARY_PATH");
    for (const char* usual :
         {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/lib",
          "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"})
        folders.emplace_back(usual);
    std::error_code ignored;
    for (const auto& folder : folders)
        for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
            if (entry.path().filename().string().starts_with(begins))
                return entry.path();
    return std::nullopt;
}

std::uint64_t memory_free_kb() {
    std::ifstream file("/proc/meminfo");
    for (std::string word; file >> word;)
        if (word == "MemAvailable:") {
            std::uint64_t kilobytes = 0;
            file >> kilobytes;
            return kilobytes;
        }
    return 0;
}

/// Something found, or else what it is needed for and how to get it.
struct Finding {
    std::string_view what;
    std::optional<std::string> found;
    std::string_view without;
};

std::optional<std::string> told(const std::optional<std::filesystem::path>& path) {
    return path ? std::optional(path->string()) : std::nullopt;
}

std::optional<std::string> configs() {
    try {
        return (validation::find_root({}) / "configs").string();
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::optional<std::string> measurements() {
    if (const std::filesystem::path named = validation::named_measurements(); !named.empty())
        return std::filesystem::is_directory(named) ? std::optional(named.string()) : std::nullopt;
    if (const auto found = configs())
        if (const auto shipped =
                std::filesystem::path(*found).parent_path() / validation::kShippedData;
            std::filesystem::is_directory(shipped))
            return shipped.string() + " (what ships)";
    return std::nullopt;
}

std::optional<std::string> gpu() {
    std::error_code ignored;
    if (std::filesystem::exists("/dev/nvidia0", ignored))
        return "/dev/nvidia0";
    if (std::filesystem::exists("/dev/kfd", ignored))
        return "/dev/kfd (AMD)";
    return std::nullopt;
}

std::optional<std::string> charts() {
    return report_assets_missing().empty() ? std::optional<std::string>("in this program")
                                           : std::nullopt;
}

std::vector<Finding> findings() {
    return {
        {"configurations", configs(),
         "no systems and examples; run from the repository, or install"},
        {"measurements", measurements(),
         "nothing to validate with; set SWITCHFOLD_DATA or give --data"},
        {"GPU", gpu(), "only switchfold-capture needs one; simulations do not"},
        {"CUPTI", told(library("libcupti.so")),
         "no switchfold-capture; it comes with the CUDA Toolkit"},
        {"NCCL", told(library("libnccl.so")), "no capture of collectives"},
        {"Slurm", told(program("sbatch")), "no sweeps with --executor slurm; package slurm-wlm"},
        {"Python", told(program("python3")), "no Python package, no scripts/plot"},
        {"charts", charts(),
         "no pages of reports, only report --text; build again with npm and its registry"},
        {"browser", told(program("chromium")),
         "none of the tests' own; any browser opens a report"}};
}

/// What is known of the systems, or why that cannot be said.
std::string known_systems(bool all) {
    try {
        const std::filesystem::path root = validation::find_root({});
        const validation::KnownSystems known(
            validation::Machines(root), root, validation::named_measurements());
        return fmt::format("  {:<16} {}\n", "measured", validation::summary_of_known(known)) +
               (all ? validation::table_of_known(known) : "");
    } catch (const ConfigError& error) {
        return fmt::format("  {:<16} missing: {}\n", "measured", error.what());
    }
}

}  // namespace

void add_doctor(CLI::App& app, Chosen& chosen) {
    auto systems = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand(
        "doctor",
        "Say what is installed, what is missing for what, and how well systems are known.\n\n"
        "Example:\n  switchfold doctor");
    command->add_flag("--systems", *systems, "List what was measured on every system");
    command->callback([systems, &chosen] {
        chosen = [systems] {
            fmt::print(
                "switchfold {}\n{} cores, {:.1f} GiB of memory free\n", version(),
                std::max(1U, std::thread::hardware_concurrency()),
                static_cast<double>(memory_free_kb()) / (1024.0 * 1024.0));
            for (const Finding& finding : findings())
                if (finding.found)
                    fmt::print("  {:<16} {}\n", finding.what, *finding.found);
                else
                    fmt::print("  {:<16} missing: {}\n", finding.what, finding.without);
            fmt::print("{}", known_systems(*systems));
            return 0;
        };
    });
}

}  // namespace switchfold
