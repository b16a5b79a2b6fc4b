// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/digest.h"

#include "core/error.h"
#include "core/fnv.h"
#include "core/named_path.h"
#include "sim/kinds/kinds.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

namespace switchfold {

namespace {

std::string text_of(const Fnv& hash) {
    return fmt::format("{:016x}", hash.value());
}

std::string file_digest(const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    Fnv hash;
    std::array<char, 1U << 16U> block{};
    while (file.read(block.data(), block.size()) || file.gcount() > 0)
        hash.add({block.data(), static_cast<std::size_t>(file.gcount())});
    if (!file.is_open() || file.bad())
        throw IoError(path.string(), errno, "read the file");
    return text_of(hash);
}

/// Files that workloads read and that the effective configuration only names.
std::vector<std::string> paths_of(const Experiment& experiment) {
    std::vector<std::string> paths;
    for (const WorkloadAt& at : workloads_of(experiment))
        for (NamedFile& file : kind_of(at.workload).files(at.workload))
            paths.push_back(std::move(file.path));
    return paths;
}

}  // namespace

std::string DigestMaker::of(const LoadedExperiment& loaded) {
    std::vector<std::string> files = paths_of(loaded.experiment);
    for (const Variant& variant : variants_of(loaded))
        if (variant.experiment != &loaded.experiment)
            for (std::string& file : paths_of(*variant.experiment))
                files.push_back(std::move(file));
    if (files.empty())
        return loaded.digest;
    Fnv hash;
    hash.add(loaded.digest);
    for (const std::string& written : files) {
        const auto full = path_named_in(loaded.file, written);
        std::string& known = files_[full.string()];
        if (known.empty())
            known = file_digest(full);
        hash.add(known);
    }
    return text_of(hash);
}

}  // namespace switchfold
