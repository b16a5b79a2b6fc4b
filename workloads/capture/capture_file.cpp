// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/capture_file.h"

#include "core/big_sort.h"
#include "core/error.h"
#include "core/json_text.h"
#include "workloads/capture/format/frame.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include <simdjson.h>

namespace switchfold::capture {

namespace {

constexpr std::uint32_t kMostCapturedRanks = 65'536;  // as in our own format

std::string contents(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw IoError(path.string(), errno, "open");
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (in.bad())
        throw IoError(path.string(), errno, "read");
    return bytes;
}

template <class T>
void make_readable(T& /*field*/) {}
/// Converts to UTF-8: programs use any encoding for names.
void make_readable(std::string& text) {
    if (!simdjson::validate_utf8(text))
        text = Json::parse(json_text(text)).get<std::string>();
}

void make_texts_readable(Record& record) {
    std::visit(
        [](auto& r) {
            std::apply([](auto&... field) { (make_readable(field), ...); }, r.fields());
        },
        record);
}

/// Sorts records by kind and joins the two ends of ranges.
class Collector {
public:
    explicit Collector(CaptureFile& file) : file_(file) { file_.names.emplace_back(); }

    void operator()(const Session& record) {
        if (file_.records != 1)
            throw std::invalid_argument("is a second session");
        if (record.world_size > kMostCapturedRanks || record.rank >= record.world_size)
            throw std::invalid_argument(fmt::format(
                "is rank {} of {}; expected less than the number of ranks, {} at most", record.rank,
                record.world_size, kMostCapturedRanks));
        file_.session = record;
    }
    void operator()(Name& record) {
        if (record.id != file_.names.size())
            throw std::invalid_argument("a name is out of order");
        file_.names.push_back(std::move(record.text));
    }
    void operator()(const Device& record) { file_.devices.push_back(record); }
    void operator()(const Kernel& record) { timed(record, file_.kernels); }
    void operator()(const Copy& record) { timed(record, file_.copies); }
    void operator()(const Call& record) { timed(record, file_.calls); }
    void operator()(const ExternalCorrelation& record) { file_.external.push_back(record); }
    void operator()(const Marker& record) {
        if (record.edge == Marker::Edge::kStart) {
            if (!open_.insert_or_assign(record.id, record).second)
                ++file_.open_ranges;  // the earlier range with this id
            return;
        }
        const auto start = open_.find(record.id);
        if (record.edge != Marker::Edge::kEnd || start == open_.end()) {
            ++file_.marks;
            return;
        }
        const Marker& first = start->second;
        file_.ranges.push_back(
            {first.time, std::max(first.time, record.time), first.thread, first.name});
        open_.erase(start);
    }
    void operator()(const Synchronization& record) { timed(record, file_.synchronizations); }
    void operator()(const EventRecord& record) { file_.event_records.push_back(record); }
    void operator()(const StreamInfo& record) { file_.streams.push_back(record); }
    void operator()(const Communicator& record) {
        if (record.ranks > kMostCapturedRanks)
            throw std::invalid_argument(
                fmt::format("has {} ranks; expected {} at most", record.ranks, kMostCapturedRanks));
        file_.communicators.push_back(record);
    }
    void operator()(const NcclCall& record) { file_.nccl_calls.push_back(record); }
    void operator()(const Counters& record) { file_.counters.push_back(record); }
    void operator()(const Lost& record) { file_.lost.push_back(record); }
    void operator()(const End&) { file_.ended = true; }

    void finish() {
        file_.open_ranges += open_.size();
        big_sort(file_.ranges, [](const Range& a, const Range& b) {
            return std::tuple(a.start, b.end) < std::tuple(b.start, a.end);
        });
    }

private:
    template <class R>
    void timed(const R& record, BigVector<R>& into) {
        if (record.end < record.start)
            throw std::invalid_argument("a record ends before it starts");
        into.push_back(record);
    }
    CaptureFile& file_;
    std::unordered_map<std::uint32_t, Marker> open_;
};

void check_session(const CaptureFile& file, const Record& first) {
    const auto* session = std::get_if<Session>(&first);
    if (session == nullptr)
        throw ConfigError(
            file.path.string(), "", "does not begin with its session; expected a whole capture");
    if (session->version != kFormatVersion)
        throw ConfigError(
            file.path.string(), "",
            fmt::format(
                "is a capture of version {}; expected version {}", session->version,
                kFormatVersion));
}

}  // namespace

bool is_capture(std::string_view beginning) {
    return beginning.starts_with(kMagic);
}

CaptureFile read_capture(const std::filesystem::path& path) {
    const std::string bytes = contents(path);
    CaptureFile file;
    file.path = path;
    file.bytes = bytes.size();
    if (!is_capture(bytes))
        throw ConfigError(path.string(), "", "is not a capture of switchfold-capture");
    Collector collector(file);
    std::size_t at = kMagic.size();
    for (std::optional<Frame> frame; (frame = frame_at(bytes, at)); at = frame->next) {
        try {
            std::optional<Record> record = decode(*frame);
            if (file.records++ == 0)
                check_session(file, record.value_or(End{}));
            if (record) {
                make_texts_readable(*record);
                std::visit(collector, *record);
            } else {
                ++file.unknown_records;
            }
        } catch (const std::invalid_argument& error) {
            throw ConfigError(path.string(), fmt::format("byte {}", at), error.what());
        }
    }
    if (file.records == 0)
        throw ConfigError(path.string(), "", "holds no whole record; expected a session at least");
    file.torn_bytes = bytes.size() - at;
    collector.finish();
    return file;
}

std::vector<std::string> losses(const CaptureFile& file) {
    std::vector<std::string> lines;
    if (!file.ended)
        lines.emplace_back("the program did not end in order: CUPTI's last records are lost");
    if (file.torn_bytes != 0)
        lines.push_back(
            fmt::format("{} bytes after the last whole record were incomplete", file.torn_bytes));
    for (const Lost& lost : file.lost)
        lines.push_back(
            lost.count == 0 ? lost.what : fmt::format("{} lost: {}", lost.count, lost.what));
    if (file.unknown_records != 0)
        lines.push_back(
            fmt::format("{} records of an unknown kind were passed over", file.unknown_records));
    if (file.open_ranges != 0)
        lines.push_back(fmt::format("{} NVTX ranges have no end", file.open_ranges));
    return lines;
}

}  // namespace switchfold::capture
