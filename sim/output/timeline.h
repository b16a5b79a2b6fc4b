// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/gzip_file.h"
#include "sim/output/result.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// One bar of the timeline.
struct TimelineSlice {
    std::uint32_t rank = 0;
    std::uint32_t stream = 0;
    std::string_view stream_name;
    std::string_view name;
    std::string_view category;  ///< kernel, gpu_memcpy
    std::uint64_t start_ps = 0;
    std::uint64_t end_ps = 0;
    std::uint64_t isolated_ps = 0;
    std::uint64_t correlation = 0;
    bool communication = false;
};

/// An end of an arrow: a time within a slice of a track.
struct TimelinePoint {
    std::uint32_t pid = 0;
    std::uint32_t track = 0;
    std::uint64_t ps = 0;
};

/// Exceeds the ranks of any run; a round number keeps pids readable.
inline constexpr std::uint32_t kPidsOfScenario = 100'000;

/// Writes timeline.json.gz: a Chrome trace in Kineto's conventions, with one process per rank and
/// scenario, and counter tracks. The same slices give the same bytes. Throws IoError.
class TimelineWriter {
public:
    TimelineWriter(
        const std::filesystem::path& path, std::string_view gpu_name, std::uint32_t ranks,
        std::uint32_t sms);

    /// Creates the process for a scenario's rank. \returns its pid: kPidsOfScenario times the
    /// scenario's index (by first use), plus the rank.
    std::uint32_t add_process(std::string_view scenario, std::uint32_t rank);
    /// Omits slices of zero length, which viewers draw as endless.
    void add(std::uint32_t pid, const TimelineSlice& slice);
    /// A bar above the streams, for example "ProfilerStep#0", by which tools find training steps.
    /// `track` must be a stream number that the process does not use.
    void add_annotation(
        std::uint32_t pid, std::uint32_t track, std::string_view track_name, std::string_view name,
        std::uint64_t start_ps, std::uint64_t end_ps);
    /// Creates a process that is not a rank, for example a scenario's switches. \returns its pid,
    /// above those of all ranks.
    std::uint32_t add_others(std::string_view scenario, std::string_view what);
    /// A bar that is neither a kernel nor an annotation, on any track.
    void add_span(
        std::uint32_t pid, std::uint32_t track, std::string_view track_name, std::string_view name,
        std::uint64_t start_ps, std::uint64_t end_ps);
    /// An arrow between two slices, of Kineto's kind "ac2g".
    void add_flow(const TimelinePoint& from, const TimelinePoint& to);
    /// A counter track in GiB, with one series per memory class that is ever non-zero.
    void add(std::uint32_t pid, const std::vector<MemoryRow>& rows);
    /// Omits non-finite samples, which JSON cannot express.
    void add(std::uint32_t pid, const CounterSample& sample);
    void close();

private:
    void event(const std::string& text_of_event);
    std::uint32_t
    add_named(std::string_view scenario, std::uint32_t number, const std::string& name);
    /// \returns whether this was the first use of the track, which names it.
    bool name_track(std::uint32_t pid, std::uint32_t track, std::string_view name);
    GzipFile file_;
    std::vector<std::string> scenarios_;
    bool first_ = true;
    std::uint64_t flows_ = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> named_;  ///< process and stream
};

}  // namespace switchfold
