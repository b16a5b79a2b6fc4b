// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/input/json_stream.h"

#include "core/error.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace switchfold::json_stream {

constexpr std::size_t kMostOfJson = 16U << 20U;  // bytes of one text or part
constexpr std::size_t kDeepestPart = 64;
constexpr std::size_t kJsonBlock = 1U << 18U;

static std::vector<std::string> tokens_of(std::string_view pointer) {
    std::vector<std::string> tokens;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        const std::string_view token = pointer.substr(0, pointer.find('/'));
        tokens.emplace_back(token);
        pointer.remove_prefix(token.size());
    }
    return tokens;
}

/// The file's bytes, one by one.
class JsonBytes {
public:
    JsonBytes(const std::filesystem::path& path, std::uint64_t most) :
        path_(path), file_(path, most), block_(kJsonBlock) {
        fill();
    }
    [[nodiscard]] bool at_end() const { return size_ == 0; }
    [[nodiscard]] char peek() const { return block_[at_]; }
    void advance() {
        ++since_;
        if (since_ > kMostOfJson)
            fail("is in a string or an element of more than 16 MiB; expected shorter ones");
        if (++at_ == size_)
            fill();
    }
    /// What follows is a text or a part of its own.
    void begin_part() { since_ = 0; }
    [[noreturn]] void fail(std::string_view what) const {
        throw ConfigError(
            path_.string(), fmt::format("byte {}", file_.offset() - size_ + at_),
            std::string(what));
    }

private:
    void fill() {
        at_ = 0;
        size_ = file_.read(block_);
    }
    const std::filesystem::path& path_;
    InputFile file_;
    std::vector<char> block_;
    std::size_t at_ = 0;
    std::size_t size_ = 0;
    std::size_t since_ = 0;
};

/// As nlohmann's parser reads them. All copies share one position.
class JsonByteIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    explicit JsonByteIterator(JsonBytes* bytes) : bytes_(bytes) {}
    char operator*() const { return bytes_->peek(); }
    JsonByteIterator& operator++() {
        bytes_->advance();
        return *this;
    }
    bool operator==(const JsonByteIterator& other) const { return ended() == other.ended(); }
    bool operator!=(const JsonByteIterator& other) const { return !(*this == other); }

private:
    [[nodiscard]] bool ended() const { return bytes_ == nullptr || bytes_->at_end(); }
    JsonBytes* bytes_;
};

}  // namespace switchfold::json_stream

namespace switchfold {

/// Follows the parser through the file, and builds the values that are wanted.
class JsonStreamHandler : public nlohmann::json_sax<Json> {
public:
    JsonStreamHandler(JsonStream& stream, json_stream::JsonBytes& bytes) :
        stream_(stream), bytes_(bytes) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override {
        return add(value);
    }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return add(nullptr); }
    bool start_object(std::size_t /*elements*/) override { return start(Json::object()); }
    bool start_array(std::size_t /*elements*/) override { return start(Json::array()); }
    bool end_object() override { return end(); }
    bool end_array() override { return end(); }
    bool key(string_t& value) override {
        if (open_.empty()) {
            bytes_.begin_part();
            levels_.back().token = std::move(value);
        } else {
            key_ = std::move(value);
        }
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
        bytes_.fail(
            bytes_.at_end() ? "the JSON ends too early; expected a whole file"
                            : "is not JSON; expected a JSON file");
    }

private:
    /// An object or list that the parser is in, and that no wanted value holds.
    struct Level {
        bool list = false;
        std::string token;  ///< of the value being read
        std::size_t next = 0;
    };

    [[nodiscard]] bool fits(const std::vector<std::string>& place) const {
        if (place.size() != levels_.size())
            return false;
        for (std::size_t i = 0; i < place.size(); ++i)
            if (place[i] != "*" && place[i] != levels_[i].token)
                return false;
        return true;
    }

    /// Call at the beginning of each value outside of wanted ones. \returns who wants it.
    const JsonStream::Wanted* wanted() {
        bytes_.begin_part();
        if (!levels_.empty() && levels_.back().list)
            levels_.back().token = fmt::format("{}", levels_.back().next++);
        for (const JsonStream::Wanted& one : stream_.wanted_)
            if (fits(one.place))
                return &one;
        return nullptr;
    }

    [[nodiscard]] std::string pointer() const {
        std::string text;
        for (const Level& level : levels_)
            text += "/" + escape_token(level.token);
        return text;
    }

    /// Puts a value into the innermost open one.
    Json* put(Json value) {
        Json& in = *open_.back();
        if (in.is_array()) {
            in.push_back(std::move(value));
            return &in.back();
        }
        return &(in[key_] = std::move(value));
    }

    template <class T>
    bool add(T&& value) {
        if (!open_.empty())
            put(std::forward<T>(value));
        else if (const JsonStream::Wanted* const by = wanted())
            by->use(pointer(), Json(std::forward<T>(value)));
        return true;
    }

    bool start(Json empty) {
        if (!open_.empty()) {
            if (open_.size() == json_stream::kDeepestPart)
                bytes_.fail("is nested more than 64 deep; expected less");
            open_.push_back(put(std::move(empty)));
            return true;
        }
        const bool list = empty.is_array();
        by_ = wanted();
        if (by_ != nullptr) {
            value_ = std::move(empty);
            open_.push_back(&value_);
        } else {
            // Its position alone is remembered.
            constexpr std::size_t kDeepestFile = 10'000;
            if (levels_.size() == kDeepestFile)
                bytes_.fail("is nested more than 10,000 deep; expected less");
            levels_.push_back({list, {}, 0});
        }
        return true;
    }

    bool end() {
        if (open_.empty()) {
            levels_.pop_back();
            bytes_.begin_part();
            return true;
        }
        open_.pop_back();
        if (open_.empty()) {
            by_->use(pointer(), value_);
            value_ = nullptr;
            bytes_.begin_part();
        }
        return true;
    }

    JsonStream& stream_;
    json_stream::JsonBytes& bytes_;
    std::vector<Level> levels_;
    const JsonStream::Wanted* by_ = nullptr;
    Json value_;
    std::vector<Json*> open_;  ///< of value_, outermost first
    std::string key_;
};

void JsonStream::on(const std::string& place, OnValue use) {
    wanted_.push_back({json_stream::tokens_of(place), std::move(use)});
}

void JsonStream::run() {
    json_stream::JsonBytes bytes(path_, most_);
    JsonStreamHandler handler(*this, bytes);
    using json_stream::JsonByteIterator;
    static_cast<void>(
        Json::sax_parse(JsonByteIterator(&bytes), JsonByteIterator(nullptr), &handler));
}

}  // namespace switchfold
