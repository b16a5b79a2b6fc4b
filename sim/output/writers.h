// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/partial_folder.h"
#include "sim/output/result.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Content of result.json: equal results give equal bytes, except for "host".
[[nodiscard]] std::string to_result_json(const ExperimentResult& result);
/// Header line of kernels.csv, and one line.
[[nodiscard]] std::string kernel_csv_header();
[[nodiscard]] std::string kernel_csv_line(std::string_view scenario, const KernelRow& row);
/// Header line of passes.csv, and one line.
[[nodiscard]] std::string pass_csv_header();
[[nodiscard]] std::string pass_csv_line(std::string_view scenario, const PassRow& row);
/// Header line of memory.csv, and one line.
[[nodiscard]] std::string memory_csv_header();
[[nodiscard]] std::string memory_csv_line(std::string_view scenario, const MemoryRow& row);
/// Header line of learning.csv, and one line.
[[nodiscard]] std::string learning_csv_header();
[[nodiscard]] std::string learning_csv_line(std::string_view scenario, const LossRow& row);
/// Header line of versions.csv, and one line.
[[nodiscard]] std::string version_csv_header();
[[nodiscard]] std::string version_csv_line(std::string_view scenario, const VersionRow& row);
/// Header line of counters.csv, and one line.
[[nodiscard]] std::string counter_csv_header();
[[nodiscard]] std::string counter_csv_line(std::string_view scenario, const CounterSample& sample);

/// Writes a run's files so that a killed run leaves nothing that looks complete: files are written
/// into a PartialFolder, and commit() moves them out, result.json last. An old result.json is
/// removed first.
class ResultFolder {
public:
    /// Creates the folder and checks that it is writable. Throws IoError.
    explicit ResultFolder(std::filesystem::path folder);
    ~ResultFolder() = default;
    ResultFolder(const ResultFolder&) = delete;
    ResultFolder& operator=(const ResultFolder&) = delete;
    ResultFolder(ResultFolder&&) = delete;
    ResultFolder& operator=(ResultFolder&&) = delete;

    /// Path at which to write the file that will be named `name`.
    [[nodiscard]] std::filesystem::path stage(const std::string& name);
    void write(const std::string& name, std::string_view text);
    /// A folder that takes the place of one of the same name, with all that it holds.
    [[nodiscard]] std::filesystem::path stage_folder(const std::string& name);
    void commit();

private:
    std::filesystem::path folder_;
    std::optional<PartialFolder> partial_;
    std::vector<std::string> staged_;
};

/// Creates the folder and its parents. Throws IoError.
void make_folder(const std::filesystem::path& folder);

/// Streams a text file and checks every write. Throws IoError.
class TextFile {
public:
    explicit TextFile(std::filesystem::path path);
    void write(std::string_view text);
    void close();

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::filesystem::path path_;
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace switchfold
