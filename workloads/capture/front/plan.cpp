// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/front/plan.h"

#include "core/error.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace switchfold::capture {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTool = "switchfold-capture";
constexpr const char* kCuptiName = "libcupti.so";

Problem problem(const std::string& where, std::string what) {
    return {kTool, where, std::move(what)};
}

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

void need_library(const fs::path& path, const char* otherwise, std::vector<Problem>& problems) {
    if (!is_file(path))
        problems.push_back(
            problem(path.string(), fmt::format("does not exist; expected {}", otherwise)));
}

/// Reports another profiler: CUPTI serves one at a time, and each variable names one library.
void need_no_other(
    const Variables& ours, const Environment& current, std::vector<Problem>& problems) {
    for (const auto& [name, value] : ours) {
        const std::string other = current(name).value_or("");
        if (!name.starts_with("SWITCHFOLD_") && !other.empty() && other != value)
            problems.push_back(problem(
                name,
                fmt::format(
                    "is {} already; expected it unset, since only one profiler can run", other)));
    }
}

}  // namespace

Variables capture_variables(
    const FrontOptions& options, const fs::path& folder, const Environment& environment,
    bool counters_pass) {
    std::vector<Problem> problems;
    const fs::path library = folder / kLibrary;
    need_library(library, "the capture library beside the program", problems);
    Variables variables{
        {kDirectoryVariable, fs::absolute(options.out).lexically_normal().string()},
        {kCountersVariable, counters_pass ? "1" : "0"},
        {"NCCL_PROFILER_PLUGIN", library.string()}};
    if (!options.nccl_only) {
        need_library(
            folder / kCuptiLibrary,
            "the part that needs CUPTI beside the program (a build without the CUDA Toolkit has "
            "none: --nccl-only records without it)",
            problems);
        variables.emplace_back("CUDA_INJECTION64_PATH", library.string());
        variables.emplace_back("NVTX_INJECTION64_PATH", library.string());
        const fs::path cupti = find_cupti(options.cupti, environment);
        if (!cupti.empty())
            variables.emplace_back(kCuptiVariable, cupti.string());
        if (!options.cupti.empty() && cupti.empty())
            problems.push_back(problem("--cupti", "is not a file; expected libcupti.so.13"));
    }
    need_no_other(variables, environment, problems);
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    return variables;
}

fs::path find_cupti(const fs::path& given, const Environment& environment) {
    if (!given.empty())
        return is_file(given) ? fs::absolute(given) : fs::path();
    std::vector<fs::path> folders;
    std::istringstream list(environment("LD_LIBRARY_PATH").value_or(""));
    for (std::string folder; std::getline(list, folder, ':');)
        if (!folder.empty())
            folders.emplace_back(folder);
    for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const auto home = environment(variable); home && !home->empty())
            for (const char* const below : {"extras/CUPTI/lib64", "lib64", "lib"})
                folders.push_back(fs::path(*home) / below);
    for (const char* const usual :
         {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64", "/usr/local/cuda/lib"})
        folders.emplace_back(usual);
    for (const fs::path& folder : folders)
        if (is_file(folder / kCuptiName))
            return folder / kCuptiName;
    return {};
}

void prepare_output(const fs::path& out) {
    std::error_code error;
    fs::create_directories(out, error);
    if (error)
        throw IoError(out.string(), error.value(), "make the folder");
    const std::vector<fs::path> old = captures_in(out);
    if (!old.empty())
        throw ConfigError(
            out.string(), "",
            fmt::format(
                "holds {} already; expected a folder without captures",
                old[0].filename().string()));
}

std::vector<fs::path> captures_in(const fs::path& out) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(out))
        if (entry.path().extension() == kSuffix)
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace switchfold::capture
