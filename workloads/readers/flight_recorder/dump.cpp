// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/flight_recorder/dump.h"

#include "core/error.h"
#include "core/text.h"
#include "workloads/profile/classify.h"
#include "workloads/readers/input/json_fields.h"
#include "workloads/readers/input/json_stream.h"
#include "workloads/readers/input/limits.h"
#include "workloads/readers/listed/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>
#include <utility>

namespace switchfold::flight_recorder {

namespace {

constexpr double kMostMs = 1e9;

/// Interns texts of a few kinds.
std::uint32_t index_in(std::vector<std::string>& texts, const std::string& text) {
    const auto found = std::find(texts.begin(), texts.end(), text);
    if (found != texts.end())
        return static_cast<std::uint32_t>(found - texts.begin());
    texts.push_back(text);
    return static_cast<std::uint32_t>(texts.size() - 1);
}

/// "0->1" of a send, "1<-0" of a receive: the own rank and the peer, in the group.
std::optional<std::pair<std::uint32_t, std::uint32_t>>
ranks_in(std::string_view text, std::string_view arrow) {
    const std::size_t at = text.find(arrow);
    if (at == std::string_view::npos)
        return std::nullopt;
    const auto number = [](std::string_view digits) -> std::optional<std::uint32_t> {
        std::uint32_t rank = 0;
        const auto [end, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), rank);
        if (code != std::errc{} || end != digits.data() + digits.size() || rank >= kMostTracedRanks)
            return std::nullopt;
        return rank;
    };
    const auto own = number(text.substr(0, at));
    const auto peer = number(text.substr(at + arrow.size()));
    if (!own || !peer)
        return std::nullopt;
    return std::pair(*own, *peer);
}

class DumpReader {
public:
    DumpReader(const std::filesystem::path& file, std::uint64_t most) :
        file_(file.string()), stream_(file, most) {}

    Dump run() {
        stream_.on("/entries/*", [this](const std::string& pointer, const Json& value) {
            ++dump_.all;
            read_entry(JsonFields(value, file_, pointer));
        });
        stream_.on("/pg_config/*", [this](const std::string& pointer, const Json& value) {
            read_group(pointer, JsonFields(value, file_, pointer));
        });
        stream_.run();
        if (dump_.all == 0)
            throw ConfigError(
                file_, "/entries",
                "is missing or empty; expected a dump of the flight recorder with its collectives "
                "(TORCH_NCCL_TRACE_BUFFER_SIZE)");
        return std::move(dump_);
    }

private:
    void read_group(const std::string& pointer, const JsonFields& group) {
        const std::string name = group.text("name");
        const Json* const ranks = group.find("ranks");
        Json list = ranks == nullptr ? Json() : *ranks;
        if (list.is_string())  // "[0, 1]"
            list = Json::parse(list.get<std::string>(), nullptr, false);
        std::vector<std::uint32_t> members;
        bool fine = list.is_array();
        for (const Json& rank : fine ? list : Json::array()) {
            fine =
                fine && rank.is_number_unsigned() && rank.get<std::uint64_t>() < kMostTracedRanks;
            if (fine)
                members.push_back(rank.get<std::uint32_t>());
        }
        if (!fine)
            throw ConfigError(
                file_, pointer + "/ranks",
                fmt::format(
                    "is {}; expected a list of ranks",
                    ranks == nullptr ? "missing" : shown(*ranks)));
        std::sort(members.begin(), members.end());
        members.erase(std::unique(members.begin(), members.end()), members.end());
        if (group.text_if_any("desc") == "default_pg" ||
            (name == "0" && dump_.default_group.empty()))
            dump_.default_group = name;
        dump_.members[name] = std::move(members);
    }

    void read_entry(const JsonFields& fields) {
        const std::string call = fields.text("profiling_name");
        const std::string library = call.substr(0, std::min(call.find(':'), call.size()));
        if (library == "gloo" || library == "mpi" || library == "ucc") {
            ++dump_.dropped["calls between hosts"];
            return;
        }
        Entry entry;
        if (!read_kind(call, fields, entry))
            return;
        entry.group = index_in(dump_.groups, group_name(fields));
        entry.created_ns = fields.whole("time_created_ns", UINT64_MAX / 2);
        const double ms = fields.number_if_any("duration_ms", kMostMs).value_or(0);
        entry.duration = Time(static_cast<std::uint64_t>(ms * 1e9));
        const bool lists =
            entry.what == Entry::What::kCollective && entry.kind == CollectiveKind::kAllToAll;
        entry.in = tensors(fields, "input_sizes", "input_dtypes", lists);
        entry.out = tensors(fields, "output_sizes", "output_dtypes", lists);
        const std::string state = fields.text_if_any("state");
        dump_.unfinished += !state.empty() && state != "completed" ? 1 : 0;
        dump_.entries.push_back(std::move(entry));
    }

    /// \returns false for an entry that moves nothing.
    bool read_kind(const std::string& call, const JsonFields& fields, Entry& entry) {
        const std::size_t colon = call.find(':');
        const std::string name = call.substr(colon == std::string::npos ? 0 : colon + 1);
        if (name.starts_with("send ") || name.starts_with("recv ")) {
            const bool sends = name.starts_with("send ");
            const auto ranks = ranks_in(std::string_view(name).substr(5), sends ? "->" : "<-");
            if (!ranks)
                fields.fail(
                    "profiling_name",
                    fmt::format("is {}; expected both ranks, as in \"nccl:send 0->1\"", call));
            entry.what = sends ? Entry::What::kSend : Entry::What::kReceive;
            std::tie(entry.own, entry.peer) = *ranks;
            entry.name = index_in(dump_.names, sends ? "send" : "recv");
            entry.number = fields.whole_if_any("p2p_seq_id", kMostJsonNumber).value_or(0);
            ++dump_.used["sends and receives"];
            return true;
        }
        if (name == "coalesced") {
            ++dump_.dropped["ends of coalesced calls, which are listed by themselves"];
            return false;
        }
        const auto kind = collective_named(call);
        if (!kind) {
            ++dump_.dropped["barriers and calls of unknown kind"];
            return false;
        }
        entry.kind = *kind;
        entry.name = index_in(dump_.names, name);
        entry.number = fields.whole("collective_seq_id", kMostJsonNumber);
        ++dump_.used["collectives"];
        return true;
    }

    /// "process_group" is a pair of name and description.
    static std::string group_name(const JsonFields& fields) {
        const Json* const group = fields.find("process_group");
        if (group == nullptr)
            return {};
        if (group->is_string())
            return group->get<std::string>();
        if (!group->is_array() || group->empty() || !(*group)[0].is_string())
            fields.fail(
                "process_group",
                fmt::format("is {}; expected a name and a description", shown(*group)));
        return (*group)[0].get<std::string>();
    }

    /// `lists`: whether a part for each tensor is asked for.
    static Tensors
    tensors(const JsonFields& fields, const char* sizes, const char* types, bool lists) {
        Tensors all;
        const Json* const shapes = fields.find(sizes);
        const Json* const names = fields.find(types);
        if (shapes == nullptr)
            return all;
        if (!shapes->is_array())
            fields.fail(sizes, fmt::format("is {}; expected a list of shapes", shown(*shapes)));
        std::uint64_t sum = 0;
        std::uint64_t first = 0;
        bool known = !shapes->empty();
        std::vector<std::uint64_t> parts;
        for (const Json& shape : *shapes) {
            const std::size_t i = parts.size();
            const bool typed = names != nullptr && names->is_array() && i < names->size() &&
                               (*names)[i].is_string();
            const auto type = typed ? element_width((*names)[i].get<std::string>()) : std::nullopt;
            const std::uint64_t bytes =
                bytes_of(fields, sizes, shape, type ? type->bytes(1).count() : 1);
            known = known && type;
            if (type && !all.datatype)
                all.datatype = type->type;
            first = i == 0 ? bytes : first;
            all.alike = all.alike && bytes == first;
            sum += bytes;
            parts.push_back(bytes);
            if (sum > kMostTracedBytes)
                fields.fail(sizes, "is of more than 256 TiB; expected less");
        }
        if (known)
            all.bytes = sum;
        if (known && lists)
            all.parts = std::move(parts);
        return all;
    }

    static std::uint64_t
    bytes_of(const JsonFields& fields, const char* key, const Json& shape, std::uint64_t element) {
        if (!shape.is_array())
            fields.fail(key, fmt::format("holds {}; expected shapes", shown(shape)));
        std::uint64_t bytes = element;
        for (const Json& size : shape) {
            if (!size.is_number_unsigned())
                fields.fail(key, fmt::format("holds {}; expected sizes", shown(size)));
            const auto count = size.get<std::uint64_t>();
            if (count != 0 && bytes > kMostTracedBytes / count)
                fields.fail(key, "is of more than 256 TiB; expected less");
            bytes *= count;
        }
        return bytes;
    }

    std::string file_;
    JsonStream stream_;
    Dump dump_;
};

}  // namespace

Dump read_dump(const std::filesystem::path& file, std::uint64_t most) {
    return DumpReader(file, most).run();
}

}  // namespace switchfold::flight_recorder
