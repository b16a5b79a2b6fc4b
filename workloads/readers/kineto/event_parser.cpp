// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/kineto/event_parser.h"

#include "workloads/profile/event_kind.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include <simdjson.h>

namespace switchfold {

namespace {

namespace od = simdjson::ondemand;

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' ||
                             text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

/// A scalar as text: strings without quotes, numbers as written. Valid until the next parse.
std::string_view scalar(od::value value) {
    if (value.type() == od::json_type::string)
        return value.get_string();
    return trim(value.raw_json_token());
}

/// An array as it is written.
std::string_view raw_array(od::value value) {
    return trim(value.get_array().value().raw_json().value());
}

/// The same, whether it stands there as an array or as text.
std::string_view list(od::value value) {
    return value.type() == od::json_type::array ? raw_array(value) : scalar(value);
}

std::uint64_t whole(std::string_view field, std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size())
        throw std::invalid_argument(
            fmt::format("\"{}\" is {}; expected a whole number that is not negative", field, text));
    return number;
}

std::optional<Dim3> dimensions(std::string_view field, od::value value) {
    if (value.type() != od::json_type::array)
        throw std::invalid_argument(
            fmt::format("\"{}\" is not a list; expected three numbers", field));
    Dim3 dims;
    std::uint32_t* const parts[] = {&dims.x, &dims.y, &dims.z};
    std::size_t i = 0;
    for (auto item : value.get_array()) {
        const std::uint64_t n = whole(field, trim(item.value().raw_json_token()));
        if (i == 3 || n > UINT32_MAX)
            throw std::invalid_argument(
                fmt::format("\"{}\" is not a grid; expected three numbers", field));
        *parts[i++] = static_cast<std::uint32_t>(n);
    }
    return launch_shape(dims);
}

void parse_argument(std::string_view key, od::value value, TraceEvent& event) {
    const auto number = [&] { return whole(key, scalar(value)); };
    const auto lenient = [&]() -> std::optional<std::uint64_t> {
        // Some versions fill these fields with -1, an empty string or a list.
        const std::string_view text = scalar(value);
        std::uint64_t n = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (code != std::errc{} || end != text.data() + text.size())
            return std::nullopt;
        return n;
    };
    if (key == "correlation")
        event.correlation = lenient();
    else if (key == "External id" || key == "external id")
        event.external_id = lenient();
    else if (key == "device" || key == "Device Id")
        event.device = lenient();
    else if (key == "Device Type")
        event.device_type = lenient();
    else if (key == "Total Allocated")
        event.allocated = lenient().value_or(0);
    else if (key == "Total Reserved")
        event.reserved = lenient().value_or(0);
    else if (key == "stream")
        event.stream = scalar(value);
    else if (key == "grid")
        event.grid = dimensions(key, value);
    else if (key == "block")
        event.block = dimensions(key, value);
    else if (key == "registers per thread")
        event.registers_per_thread =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(number(), 255));
    else if (key == "shared memory")
        event.shared_memory = number();
    else if (key == "bytes")
        event.bytes = number();
    else if (key == "dram read bytes")
        event.counted_read = number();
    else if (key == "dram write bytes")
        event.counted_written = number();
    else if (key == "Collective name")
        event.collective_name = scalar(value);
    else if (key == "dtype")
        event.datatype = scalar(value);
    else if (key == "In msg nelems")
        event.in_elements = lenient().value_or(0);
    else if (key == "Out msg nelems")
        event.out_elements = lenient().value_or(0);
    else if (key == "Group size")
        event.group_size = lenient().value_or(0);
    else if (key == "Process Group Name")
        event.group_name = scalar(value);
    else if (key == "Process Group Ranks")
        event.group_ranks = list(value);
    else if (key == "In split size")
        event.in_splits = list(value);
    else if (key == "Out split size")
        event.out_splits = list(value);
    else if (key == "Dst Rank")
        event.to_rank = lenient();
    else if (key == "Src Rank")
        event.from_rank = lenient();
    else if (key == "Sequence number")
        event.sequence_number = lenient();
    else if ((key == "Input Dims" || key == "Input dims") && value.type() == od::json_type::array)
        event.input_dims = raw_array(value);
    else if (key == "Concrete Inputs" && value.type() == od::json_type::array)
        event.concrete_inputs = raw_array(value);
    else if (key == "Input type" && value.type() == od::json_type::array)
        event.input_types = raw_array(value);
}

/// Fast path for the usual form of time stamps: up to 16 digits, optionally followed by a point and
/// more digits. Nothing for any other text, even if it is a number.
std::optional<std::uint64_t>
plain_microseconds_to_ps(std::string_view text, std::uint64_t base_us) {
    constexpr std::size_t kMostDigits = 16;  // fit 64 bits
    constexpr std::uint64_t kPsPerUs = 1'000'000;
    const auto digit = [&](std::size_t i) {
        return static_cast<unsigned>(static_cast<unsigned char>(text[i])) - '0';
    };
    std::uint64_t us = 0;
    std::size_t i = 0;
    for (; i < text.size() && digit(i) <= 9; ++i)
        us = us * 10 + digit(i);
    if (i == 0 || i > kMostDigits || us < base_us || us - base_us >= UINT64_MAX / kPsPerUs)
        return std::nullopt;
    std::uint64_t ps = 0;
    if (i < text.size()) {
        if (text[i] != '.' || i + 1 == text.size())
            return std::nullopt;
        std::uint64_t place = kPsPerUs / 10;
        for (++i; i < text.size() && digit(i) <= 9; ++i, place /= 10)
            ps += digit(i) * place;
    }
    if (i != text.size())
        return std::nullopt;
    return (us - base_us) * kPsPerUs + ps;
}

}  // namespace

std::optional<std::uint64_t> microseconds_to_ps(std::string_view text, std::uint64_t base_us) {
    if (const std::optional<std::uint64_t> ps = plain_microseconds_to_ps(text, base_us))
        return ps;
    // All digits as one number, and how many of them precede the point after shifting it six places
    // to the right.
    unsigned __int128 ps = 0;
    constexpr std::size_t kMostDigits = 36;  // fit 128 bits
    std::size_t i = 0;
    const auto is_digit = [&] { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    std::string digits;
    for (; is_digit(); ++i)
        digits += text[i];
    if (digits.empty())
        return std::nullopt;
    std::int64_t whole = static_cast<std::int64_t>(digits.size()) + 6;
    if (i < text.size() && text[i] == '.') {
        const std::size_t fraction = ++i;
        for (; is_digit(); ++i)
            digits += text[i];
        if (i == fraction)
            return std::nullopt;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        i += i + 1 < text.size() && text[i + 1] == '+' ? 2 : 1;
        int exponent = 0;
        const auto [end, code] =
            std::from_chars(text.data() + i, text.data() + text.size(), exponent);
        if (code != std::errc{} || exponent > 100 || exponent < -100)
            return std::nullopt;
        i = static_cast<std::size_t>(end - text.data());
        whole += exponent;
    }
    if (i != text.size())
        return std::nullopt;
    // The first `whole` digits, padded with zeros; digits below a picosecond are dropped.
    for (std::int64_t d = 0; d < whole; ++d) {
        const auto at = static_cast<std::size_t>(d);
        ps = ps * 10 + (at < digits.size() ? static_cast<unsigned>(digits[at] - '0') : 0U);
        if (d >= static_cast<std::int64_t>(kMostDigits))
            return std::nullopt;
    }
    const unsigned __int128 base = static_cast<unsigned __int128>(base_us) * 1'000'000U;
    if (ps < base || ps - base > UINT64_MAX)
        return std::nullopt;
    return static_cast<std::uint64_t>(ps - base);
}

namespace {

constexpr std::string_view kInstant = "i";
constexpr const char* kNoTime = "events without a time";
constexpr const char* kBadTime = "events with a time or duration below zero, or none";

bool runs_on_gpu(const TraceEvent& event) {
    const EventKind kind = kind_of_category(event.category);
    return kind == EventKind::kKernel || kind == EventKind::kCopy;
}

/// An argument of another type than it has on kernels is remembered: only kernels need it.
void try_argument(
    std::string_view key, od::value value, TraceEvent& event, std::string& malformed) {
    try {
        parse_argument(key, value, event);
    } catch (const std::invalid_argument& error) {
        malformed = error.what();
    } catch (const simdjson::simdjson_error& error) {
        malformed = fmt::format("\"{}\" is of another type ({})", key, error.what());
    }
}

/// A day before the time stamp. Nothing if it is no usable one.
std::optional<std::uint64_t> base_of(std::string_view start) {
    constexpr std::uint64_t kDayUs = 86'400'000'000;
    constexpr std::uint64_t kLatestStampUs = 10'000'000'000'000'000;  // 317 years after 1970
    std::uint64_t first = 0;
    const auto parsed = std::from_chars(start.data(), start.data() + start.size(), first);
    if (parsed.ec != std::errc{} || first > kLatestStampUs)
        return std::nullopt;
    return first > kDayUs ? first - kDayUs : 0;
}

}  // namespace

struct EventParser::Implementation {
    od::parser parser;
};

EventParser::EventParser() : implementation_(std::make_unique<Implementation>()) {}
EventParser::~EventParser() = default;

void EventParser::parse(std::string& text, TraceEvent& event) {
    event.clear();
    std::string_view start;
    std::string_view duration;
    std::string malformed;
    const std::size_t size = text.size();
    text.resize(size + simdjson::SIMDJSON_PADDING);
    try {
        od::document document = implementation_->parser.iterate(text.data(), size, text.size());
        for (auto field : document.get_object()) {
            const std::string_view key = field.unescaped_key();
            od::value value = field.value();
            if (key == "ph") {
                event.phase = scalar(value);
                if (event.phase != "X" && event.phase != kInstant)
                    return;  // no later code uses more of it
            } else if (key == "cat") {
                event.category = scalar(value);
                if (event.category == "python_function" && event.phase == "X")
                    return;  // dropped; these are half of the events in many traces
            } else if (key == "name") {
                event.name = scalar(value);
                if (event.phase == kInstant && event.name != kAllocatorEvent)
                    return;
            } else if (key == "tid") {
                event.thread = scalar(value);
            } else if (key == "pid") {
                event.process = scalar(value);
            } else if (key == "ts") {
                start = scalar(value);
            } else if (key == "dur") {
                duration = scalar(value);
            } else if (key == "args" && value.type() == od::json_type::object) {
                for (auto argument : value.get_object())
                    try_argument(argument.unescaped_key(), argument.value(), event, malformed);
            }
        }
    } catch (const simdjson::simdjson_error& error) {
        throw std::invalid_argument(
            fmt::format("is malformed ({}); expected an event object", error.what()));
    }
    if (event.phase != "X")
        return;
    const bool on_gpu = runs_on_gpu(event);
    if (on_gpu && !malformed.empty())
        throw std::invalid_argument(malformed);
    if (start == "0" || start == "0.0") {
        // Before the first other time stamp it may be the clock's own beginning.
        const bool nothing = on_gpu && (duration == "0" || duration == "0.0");
        if (base_us_.value_or(0) > 0 || nothing) {
            event.without_time = on_gpu;
            event.unusable = on_gpu ? nullptr : kNoTime;
            return;
        }
    } else if (!base_us_) {
        base_us_ = base_of(start);
    }
    try {
        read_times(start, duration, event);
    } catch (const std::invalid_argument&) {
        if (on_gpu)
            throw;
        event.unusable = kBadTime;
    }
}

void EventParser::read_times(std::string_view start, std::string_view duration, TraceEvent& event) {
    const auto read = [](std::string_view key, std::string_view token, std::uint64_t base) {
        const std::optional<std::uint64_t> ps = microseconds_to_ps(token, base);
        if (!ps)
            throw std::invalid_argument(fmt::format(
                "\"{}\" is {}; expected microseconds that are not negative, within 213 days", key,
                token.empty() ? "missing" : token));
        return *ps;
    };
    // A first event with a wrong time may have set a base that no other event fits: the next sets
    // it anew, and the wrong one then lies far outside.
    if (base_us_ && *base_us_ == 0 && !microseconds_to_ps(start, 0))
        base_us_ = base_of(start);
    event.start = read("ts", start, base_us_.value_or(0));
    event.duration = read("dur", duration, 0);
    if (event.duration > UINT64_MAX / 2 || event.start > UINT64_MAX / 2)
        throw std::invalid_argument(
            "\"dur\" is more than the clock holds; expected less than 106 days");
}

}  // namespace switchfold
