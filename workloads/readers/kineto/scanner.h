// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace switchfold {

/// Streams a Chrome trace: passes each object of the "traceEvents" array (or another array that the
/// caller names) on as text, in order, and keeps the other top-level values that are short. Memory
/// is bounded by the longest event, not by the file.
class TraceScanner {
public:
    struct Limits {
        std::uint64_t inflated = kMostInflated;  ///< bytes after decompression
        std::size_t event = 16U << 20U;          ///< bytes of one event
        std::size_t value = 1U << 20U;           ///< longer top-level values are dropped
    };
    using OnEvent = std::function<void(std::string& event, std::uint64_t offset)>;

    TraceScanner(std::filesystem::path path, Limits limits, std::string array = "traceEvents") :
        path_(std::move(path)), limits_(limits), array_(std::move(array)) {}

    /// Throws ConfigError (file, byte offset after decompression, what was expected) if the file
    /// cannot be read to its end, is not a JSON object, or has no such array. Also accepts a file
    /// that is a bare array of events.
    void run(const OnEvent& on_event);

    /// Raw JSON text of the short top-level values, by key.
    [[nodiscard]] const std::map<std::string, std::string>& values() const { return values_; }
    [[nodiscard]] std::uint64_t bytes() const { return offset_; }

private:
    enum class State : std::uint8_t {
        kStart,
        kKeyOrEnd,
        kColon,
        kValue,
        kAfterValue,
        kEvents,
        kEvent,
        kDone,
    };
    void feed(std::string_view block, const OnEvent& on_event);
    [[noreturn]] void fail(std::string_view what) const;
    /// Tracks strings and nesting of the value being read. \returns true when it is complete.
    bool track(char c);
    /// The next position from `at` on that `track` must see: most characters are plain.
    [[nodiscard]] std::size_t skip_plain(std::string_view block, std::size_t at) const;
    /// Appends to the event's text and moves `at` past it. \returns true when the event is
    /// complete.
    bool take_event(std::string_view block, std::size_t& at);

    std::filesystem::path path_;
    Limits limits_;
    std::string array_;
    std::map<std::string, std::string> values_;
    std::uint64_t offset_ = 0;
    State state_ = State::kStart;
    bool bare_array_ = false;
    bool seen_events_ = false;
    bool in_string_ = false;
    bool escaped_ = false;
    bool dropping_ = false;
    int depth_ = 0;
    std::string key_;
    std::string text_;
};

}  // namespace switchfold
