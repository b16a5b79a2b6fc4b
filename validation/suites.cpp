// SPDX-License-Identifier: Apache-2.0
#include "validation/suite.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace switchfold::validation {

SuiteResult run_collectives(const SuiteOptions& options);
SuiteResult run_replay(const SuiteOptions& options);
SuiteResult run_overlap(const SuiteOptions& options);
SuiteResult run_step(const SuiteOptions& options);

std::span<const Suite> suites() {
    static constexpr std::array<Suite, 4> kSuites{
        {{"collectives",
          "all-reduce times against tables of nccl-tests and the like",
          DataKind::kFile,
          "../shared/reference/nccl_allreduce.csv",
          run_collectives},
         {"replay",
          "iteration time of traces' own schedules against the traced one",
          DataKind::kFolder,
          "../shared/traces",
          run_replay},
         {"overlap",
          "kernels beside collectives against the same kernels alone, from traces",
          DataKind::kFolder,
          "../shared/traces",
          run_overlap},
         {"step",
          "kernels and collectives of whole runs against the traced steps",
          DataKind::kFolder,
          "../shared/traces",
          run_step}}};
    return kSuites;
}

const Suite& suite_named(std::string_view name) {
    for (const Suite& suite : suites())
        if (suite.name == name)
            return suite;
    throw std::logic_error(fmt::format("no suite {}", name));
}

std::filesystem::path data_of(const Suite& suite, const SuiteOptions& options) {
    const bool given = options.data.has_value();
    const std::filesystem::path path =
        given ? *options.data : (options.root / suite.default_data).lexically_normal();
    const bool folder = suite.data_kind == DataKind::kFolder;
    std::error_code ignored;
    if (folder ? std::filesystem::is_directory(path, ignored)
               : std::filesystem::is_regular_file(path, ignored))
        return path;
    throw ConfigError(
        path.string(),
        "",
        fmt::format(
            "is {}; expected the {} that suite {} reads{}",
            std::filesystem::exists(path, ignored) ? "something else" : "not there",
            folder ? "folder of traces" : "file",
            suite.name,
            given ? "" : ", or another one named with --data"));
}

}  // namespace switchfold::validation
