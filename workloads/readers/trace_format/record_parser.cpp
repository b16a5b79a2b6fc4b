// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/trace_format/record_parser.h"

#include "core/json_text.h"
#include "workloads/readers/trace_format/record_writer.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include <simdjson.h>

namespace switchfold::trace_format {

void write_text(fmt::memory_buffer& out, std::string_view text) {
    out.append(json_text(text));
}

namespace {

namespace od = simdjson::ondemand;

/// Thrown for a value of the wrong kind; says what was expected.
struct Wrong {
    std::string expected;
};

// What reads a value stays a function of its own: in some hundred fields, simdjson's parsers of
// numbers and texts would take g++ ten seconds.
template <class T>
[[gnu::noinline]] T get(od::value value, const char* expected) {
    T out;
    if (value.get(out) != simdjson::SUCCESS)
        throw Wrong{expected};
    return out;
}

void read_json(od::value value, bool& out) {
    out = get<bool>(value, "true or false");
}
void read_json(od::value value, double& out) {
    out = get<double>(value, "a number");
}
void read_json(od::value value, std::uint64_t& out) {
    out = get<std::uint64_t>(value, "a whole number below 2^64 that is not negative");
}
void read_json(od::value value, std::uint32_t& out) {
    const auto number = get<std::uint64_t>(value, "a whole number that is not negative");
    if (number > UINT32_MAX)
        throw Wrong{"a number below 2^32"};
    out = static_cast<std::uint32_t>(number);
}
void read_json(od::value value, std::int32_t& out) {
    const auto number = get<std::int64_t>(value, "a whole number");
    if (number > INT32_MAX || number < INT32_MIN)
        throw Wrong{"a number that 32 bits hold"};
    out = static_cast<std::int32_t>(number);
}
void read_json(od::value value, std::string& out) {
    out = std::string(get<std::string_view>(value, "a text"));
}
template <class E>
void read_json(od::value value, Word<E>& out) {
    const auto word = get<std::string_view>(value, "a word");
    std::vector<std::string_view> words;
    for (const E candidate : AllOf<E>::kValues) {
        words.push_back(to_string(candidate));
        if (word == words.back()) {
            out.value = candidate;
            return;
        }
    }
    throw Wrong{fmt::format("one of: {}", fmt::join(words, ", "))};
}
template <class T>
void read_json(od::value value, std::optional<T>& out) {
    read_json(value, out.emplace());
}
template <class T>
void read_json(od::value value, std::vector<T>& out) {
    for (od::value item : get<od::array>(value, "an array"))
        read_json(item, out.emplace_back());
}
void read_json(od::value value, std::map<std::string, std::uint64_t>& out) {
    for (auto entry : get<od::object>(value, "an object")) {
        const std::string key(std::string_view(entry.unescaped_key()));
        read_json(entry.value(), out[key]);
    }
}

std::string pointer_to(std::string_view key) {
    return fmt::format("/{}", escape_token(key));
}

template <class R>
[[noreturn]] void fail_unknown_key(std::string_view key) {
    std::vector<std::string_view> known;
    for_each_of(R::fields(), [&](const auto& f) { known.push_back(f.name); });
    const std::string near = nearest(key, known);
    throw RecordError(
        pointer_to(key),
        fmt::format(
            "is not a key of a {} record; {}", R::kType,
            near.empty() ? fmt::format("expected one of: {}", fmt::join(known, ", "))
                         : fmt::format("did you mean \"{}\"?", near)));
}

/// Reads the field with this key. \returns its bit, or 0 if there is no such field.
template <class R>
std::uint64_t read_field(std::string_view key, od::value value, R& record) {
    std::uint64_t bit = 1;
    std::uint64_t found = 0;
    const auto read = [&](const auto& f) {
        if (found == 0 && key == f.name) {
            found = bit;
            read_json(value, record.*(f.member));
        }
        bit <<= 1U;
    };
    try {
        for_each_of(R::fields(), read);
    } catch (const Wrong& wrong) {
        throw RecordError(
            pointer_to(key), fmt::format("is something else; expected {}", wrong.expected));
    }
    return found;
}

template <class R>
void check_required(std::uint64_t seen) {
    std::uint64_t bit = 1;
    const auto check = [&](const auto& f) {
        if (f.is_required && (seen & bit) == 0)
            throw RecordError(
                pointer_to(f.name), fmt::format("is missing; a {} record needs it", R::kType));
        bit <<= 1U;
    };
    for_each_of(R::fields(), check);
}

template <class R>
R read_record(od::object object) {
    R record;
    std::uint64_t seen = 0;
    bool seen_type = false;
    for (auto entry : object) {
        const std::string_view key = entry.unescaped_key();
        if (key == "type" && !seen_type) {
            seen_type = true;
            continue;
        }
        const std::string copy(key);
        const std::uint64_t bit = read_field(copy, entry.value(), record);
        if (bit == 0 && copy != "type")
            fail_unknown_key<R>(copy);
        if (bit == 0 || (seen & bit) != 0)
            throw RecordError(pointer_to(copy), "appears twice; expected it once");
        seen |= bit;
    }
    check_required<R>(seen);
    return record;
}

template <std::size_t I = 0>
Record read_type(std::string_view type, od::object object) {
    if constexpr (I == std::variant_size_v<Record>) {
        throw RecordError(
            "/type", fmt::format(
                         "is {}, which names no record; expected trace, name, group, exchange, "
                         "rank, stream, kernel, collective, send, receive, copy, host or end",
                         json_text(type)));
    } else {
        using R = std::variant_alternative_t<I, Record>;
        if (type == R::kType)
            return read_record<R>(object);
        return read_type<I + 1>(type, object);
    }
}

}  // namespace

struct RecordParser::Implementation {
    od::parser parser;
};

RecordParser::RecordParser() : implementation_(std::make_unique<Implementation>()) {}
RecordParser::~RecordParser() = default;

Record RecordParser::parse(std::string& line) {
    const std::size_t size = line.size();
    line.resize(size + simdjson::SIMDJSON_PADDING);
    try {
        od::document document = implementation_->parser.iterate(line.data(), size, line.size());
        od::object object = document.get_object();
        std::string_view found;
        if (object.find_field_unordered("type").get(found) != simdjson::SUCCESS)
            throw RecordError(
                "/type", "is missing or not a string; expected the kind of the record");
        const std::string type(found);
        object.reset();
        Record record = read_type(type, object);
        if (document.current_location().error() == simdjson::SUCCESS)
            throw RecordError("", "has text after its end; expected one object a line");
        return record;
    } catch (const simdjson::simdjson_error& error) {
        throw RecordError("", fmt::format("is malformed ({}); expected a record", error.what()));
    }
}

}  // namespace switchfold::trace_format
