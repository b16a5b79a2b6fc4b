// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/format/records.h"
#include "workloads/capture/runtime/record_sink.h"
#include "workloads/capture/runtime/settings.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace switchfold::capture {

/// The operating system's id of the calling thread.
[[nodiscard]] std::uint32_t thread_id();

/// One process's capture file. It is unbuffered: write() passes the data to the operating system
/// before it returns, so a killed process loses none of it. Thread-safe. Forked children write
/// nothing. On a write error, the recorder reports it once on standard error and stops; the program
/// continues.
class Recorder final : public RecordSink {
public:
    /// Null if the file cannot be created (reported on standard error). A second process of a rank
    /// gets a file with its process id in the name.
    [[nodiscard]] static std::unique_ptr<Recorder> open(const Settings& settings);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    Recorder(Recorder&&) = delete;
    Recorder& operator=(Recorder&&) = delete;
    ~Recorder() override;

    std::uint32_t name(std::string_view text) override;
    void write(std::string_view frames) override;
    void add(const Record& record);
    /// Writes the End record; nothing is written afterwards.
    void finish();

private:
    Recorder(int file, std::string path);
    [[nodiscard]] bool writes() const;

    int file_;
    std::string path_;
    std::int64_t process_;
    std::atomic<bool> open_ = true;
    std::mutex file_mutex_;
    std::mutex names_mutex_;
    std::map<std::string, std::uint32_t, std::less<>> names_;
};

}  // namespace switchfold::capture
