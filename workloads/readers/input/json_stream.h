// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "workloads/readers/input/input_file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Reads one JSON value from a file and passes on those parts of it that the caller names, one at a
/// time. Memory is bounded by the longest such part, not by the file.
class JsonStream {
public:
    /// `pointer` says where the value stands: "/entries/3".
    using OnValue = std::function<void(const std::string& pointer, const Json& value)>;

    explicit JsonStream(std::filesystem::path path, std::uint64_t most = kMostInflated) :
        path_(std::move(path)), most_(most) {}

    /// `place` is a JSON pointer in which * stands for every key and index.
    void on(const std::string& place, OnValue use);
    /// Throws ConfigError (byte after inflation) if the file is no JSON, ends early, or holds a
    /// text or a part of more than 16 MiB or nested more than 64 deep.
    void run();

private:
    friend class JsonStreamHandler;
    struct Wanted {
        std::vector<std::string> place;
        OnValue use;
    };
    std::filesystem::path path_;
    std::uint64_t most_;
    std::vector<Wanted> wanted_;
};

}  // namespace switchfold
