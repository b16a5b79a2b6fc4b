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

/// The system's id of the calling thread.
[[nodiscard]] std::uint32_t thread_id();

/// One process's capture file. There is no buffer in the process: what write() was given is the
/// kernel's when it returns, so a process that is killed loses nothing of it. Safe for several
/// threads. A child that the process forks writes nothing. When the disk refuses, the recorder says
/// so once on standard error and writes no more; the program runs on.
class Recorder final : public RecordSink {
public:
    /// Null if the file cannot be made (said on standard error). A second process of a rank gets a
    /// file with its process id in the name.
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
