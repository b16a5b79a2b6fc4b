// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/kineto/scanner.h"

#include "core/error.h"
#include "workloads/readers/input/input_file.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace switchfold {

namespace {

constexpr std::size_t kBlock = 1U << 18U;

/// Characters that change the nesting outside strings.
constexpr std::array<bool, 256> kStructural = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {'"', '{', '}', '[', ']'})
        table[c] = true;
    return table;
}();

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

void TraceScanner::fail(std::string_view what) const {
    throw ConfigError(path_.string(), fmt::format("byte {}", offset_), std::string(what));
}

bool TraceScanner::track(char c) {
    if (in_string_) {
        if (escaped_)
            escaped_ = false;
        else if (c == '\\')
            escaped_ = true;
        else if (c == '"')
            in_string_ = false;
        return !in_string_ && depth_ == 0;
    }
    if (c == '"') {
        in_string_ = true;
    } else if (c == '{' || c == '[') {
        ++depth_;
    } else if (c == '}' || c == ']') {
        --depth_;
        return depth_ == 0;
    }
    return false;
}

std::size_t TraceScanner::skip_plain(std::string_view block, std::size_t at) const {
    if (escaped_)
        return at;
    const char* const end = block.data() + block.size();
    const char* p = block.data() + at;
    if (in_string_)
        while (p != end && *p != '"' && *p != '\\')
            ++p;
    else
        while (p != end && !kStructural[static_cast<unsigned char>(*p)])
            ++p;
    return static_cast<std::size_t>(p - block.data());
}

bool TraceScanner::take_event(std::string_view block, std::size_t& at) {
    const std::size_t begin = at;
    bool whole = false;
    while (!whole && (at = skip_plain(block, at)) < block.size())
        whole = track(block[at++]);
    text_.append(block.substr(begin, at - begin));
    return whole;
}

void TraceScanner::feed(std::string_view block, const OnEvent& on_event) {
    for (std::size_t i = 0; i < block.size(); ++i, ++offset_) {
        const char c = block[i];
        switch (state_) {
        case State::kStart:
            if (is_space(c))
                break;
            if (c == '[') {
                bare_array_ = seen_events_ = true;
                state_ = State::kEvents;
            } else if (c == '{') {
                state_ = State::kKeyOrEnd;
            } else {
                fail("does not begin with an object; expected a Chrome trace in JSON");
            }
            break;
        case State::kKeyOrEnd:
            if (is_space(c) || c == ',')
                break;
            if (c == '}') {
                state_ = State::kDone;
            } else if (c == '"') {
                text_.clear();
                in_string_ = true;
                state_ = State::kColon;
            } else {
                fail(fmt::format("found '{}'; expected a key or '}}'", c));
            }
            break;
        case State::kColon:
            if (in_string_) {
                if (c == '"')
                    in_string_ = false;
                else
                    text_ += c;
                if (text_.size() > limits_.value)
                    fail("has an endless key; expected a string");
            } else if (c == ':') {
                key_ = std::move(text_);
                text_.clear();
                dropping_ = false;
                depth_ = 0;
                state_ = State::kValue;
            } else if (!is_space(c)) {
                fail(fmt::format("found '{}' after a key; expected ':'", c));
            }
            break;
        case State::kValue:
            if (text_.empty() && !dropping_ && is_space(c))
                break;
            if (text_.empty() && !dropping_ && key_ == array_) {
                if (c != '[')
                    fail(fmt::format(
                        "\"{}\" is not an array; expected an array of objects", array_));
                seen_events_ = true;
                state_ = State::kEvents;
                break;
            }
            // A number or a word ends at the comma or the brace after it.
            if (depth_ == 0 && !in_string_ && (c == ',' || c == '}')) {
                if (!dropping_)
                    values_[key_] = std::move(text_);
                text_.clear();
                state_ = c == '}' ? State::kDone : State::kKeyOrEnd;
                break;
            }
            if (!dropping_)
                text_ += c;
            if (text_.size() > limits_.value) {
                dropping_ = true;
                text_.clear();
            }
            if (track(c)) {
                if (!dropping_)
                    values_[key_] = std::move(text_);
                text_.clear();
                state_ = State::kAfterValue;
            }
            break;
        case State::kAfterValue:
            if (c == ',')
                state_ = State::kKeyOrEnd;
            else if (c == '}')
                state_ = State::kDone;
            else if (!is_space(c))
                fail(fmt::format("found '{}' after a value; expected ',' or '}}'", c));
            break;
        case State::kEvents:
            if (is_space(c) || c == ',')
                break;
            if (c == ']') {
                state_ = bare_array_ ? State::kDone : State::kAfterValue;
                text_.clear();
            } else if (c == '{') {
                text_.assign(1, c);
                depth_ = 1;
                state_ = State::kEvent;
            } else {
                fail(fmt::format("found '{}' between events; expected an object", c));
            }
            break;
        case State::kEvent: {
            std::size_t end = i;
            const bool whole = take_event(block, end);
            offset_ += end - i - 1;
            i = end - 1;
            if (text_.size() > limits_.event)
                fail("has an endless event; expected an object of a few kilobytes");
            if (whole) {
                state_ = State::kEvents;
                on_event(text_, offset_ + 1 - text_.size());
                text_.clear();
            }
            break;
        }
        case State::kDone:
            if (!is_space(c) && c != '\0')
                fail("has text after the end; expected nothing more");
            break;
        }
    }
}

void TraceScanner::run(const OnEvent& on_event) {
    InputFile source(path_, limits_.inflated);
    std::vector<char> block(kBlock);
    while (const std::size_t count = source.read(block))
        feed({block.data(), count}, on_event);
    if (state_ != State::kDone)
        fail("the JSON ends too early; expected a whole trace");
    if (!seen_events_)
        fail(fmt::format("there is no \"{}\"; expected a Kineto trace", array_));
}

}  // namespace switchfold
