// SPDX-License-Identifier: Apache-2.0
#include "app/slurm_arguments.h"

#include "core/error.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

namespace switchfold {

void SlurmArguments::add_to(CLI::App& command) {
    command
        .add_option(
            "--executor", executor,
            "local: processes of this machine; slurm: job arrays of a cluster")
        ->check(CLI::IsMember({"local", "slurm"}));
    command.add_option("--tasks", tasks, "slurm: tasks that share the points")
        ->check(CLI::Range(1U, 1000U));
    command.add_option("--sbatch", sbatch, "slurm: an argument of sbatch, such as --time=60")
        ->allow_extra_args(false);
    command.add_option(
        "--prologue", prologue, "slurm: shell file that a task reads first (modules)");
    command.add_option("--points", points, "File with the digests of the only points to run");
}

unsigned SlurmArguments::jobs(unsigned asked) const {
    if (asked > 0)
        return asked;
    return slurm() ? 1 : std::max(1U, std::thread::hardware_concurrency());
}

SlurmOptions SlurmArguments::options() const {
    SlurmOptions slurm;
    slurm.tasks = tasks;
    slurm.prologue = prologue;
    slurm.arguments = sbatch;
    std::error_code error;
    slurm.program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        throw IoError("/proc/self/exe", error.value(), "find this program");
    if (!prologue.empty() && !std::filesystem::exists(prologue))
        throw ConfigError("--prologue", "", "names " + prologue + ", which does not exist");
    return slurm;
}

std::optional<std::set<std::string>> SlurmArguments::only() const {
    if (points.empty())
        return std::nullopt;
    std::ifstream lines(points);
    std::set<std::string> digests;
    for (std::string line; std::getline(lines, line);)
        digests.insert(line);
    if (digests.empty())
        throw ConfigError(points, "", "names no points; expected a digest a line");
    return digests;
}

}  // namespace switchfold
