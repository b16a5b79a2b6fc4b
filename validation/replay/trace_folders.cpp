// SPDX-License-Identifier: Apache-2.0
#include "validation/replay/trace_folders.h"

#include "sim/core/error.h"
#include "workloads/readers/kineto/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace switchfold::validation {

namespace {

bool may_be_trace(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return false;
    const std::string name = path.filename().string();
    const auto ends_with = [&](std::string_view end) {
        return name.size() > end.size() &&
               name.compare(name.size() - end.size(), end.size(), end) == 0;
    };
    return ends_with(".json") || ends_with(".json.gz");
}

std::optional<TraceFolder> folder_at(const std::filesystem::path& path) {
    TraceFolder folder;
    folder.path = path;
    folder.name = (path.has_filename() ? path : path.parent_path()).filename().string();
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path, error))
        if (may_be_trace(entry.path()))
            folder.files.push_back(entry.path());
    if (folder.files.empty())
        return std::nullopt;
    std::sort(folder.files.begin(), folder.files.end());
    return folder;
}

}  // namespace

std::vector<TraceFolder> trace_folders(const std::filesystem::path& data) {
    if (auto here = folder_at(data))
        return {std::move(*here)};
    std::vector<TraceFolder> folders;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(data, error))
        if (entry.is_directory(error))
            if (auto folder = folder_at(entry.path()))
                folders.push_back(std::move(*folder));
    std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    return folders;
}

FolderTrace read_folder(const TraceFolder& folder) {
    std::map<std::uint32_t, std::filesystem::path> by_rank;
    std::string reasons;
    FolderTrace trace;
    for (const auto& file : folder.files) {
        try {
            const TraceWorkload workload = read_kineto({{file}});
            const TraceFileReport& report = workload.files.front();
            if (report.synthetic)
                throw ConfigError(
                    file.string(), "", "is synthetic; expected a trace of a real run");
            if (by_rank.empty())
                trace.world = std::max(1U, report.world_size);
            by_rank.emplace(report.rank, file);
            trace.gpu_name = report.gpu_name;
        } catch (const ConfigError& error) {
            reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
        }
    }
    if (by_rank.empty())
        throw ConfigError(folder.path.string(), "", "holds no trace that can be read: " + reasons);
    if (trace.gpu_name.empty())
        throw ConfigError(folder.path.string(), "", "does not name the GPU");
    if (by_rank.size() == trace.world && trace.world > 1) {
        for (const auto& [rank, file] : by_rank)
            trace.files.push_back(file);
        trace.id = folder.name + "/all ranks";
    } else {
        trace.files.push_back(by_rank.begin()->second);
        trace.id = fmt::format("{}/rank{}", folder.name, by_rank.begin()->first);
    }
    return trace;
}

}  // namespace switchfold::validation
