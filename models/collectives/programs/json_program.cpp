// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/text_cells.h"
#include "models/collectives/programs/expression.h"
#include "models/collectives/programs/program_words.h"
#include "models/collectives/programs/readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace switchfold::programs {

namespace {

/// Walks the file for one shape.
class JsonProgram {
public:
    JsonProgram(const Json& json, const std::filesystem::path& file, const Shape& shape) :
        json_(json), file_(file.string()), shape_(shape) {}

    JsonHead head() {
        known_keys(
            json_, "",
            {{"$schema", "name", "description", "collective", "chunks", "scratch", "let",
              "protocol", "channels", "needs", "blocks"}});
        JsonHead head;
        head.name = text_if(json_, "", "name");
        const std::string kind = text(json_, "", "collective");
        const auto* const found = std::ranges::find(
            kProgramKinds, kind, [](CollectiveKind k) { return std::string(to_string(k)); });
        if (found == kProgramKinds.end()) {
            std::vector<std::string_view> known;
            for (const CollectiveKind k : kProgramKinds)
                known.push_back(to_string(k));
            unknown_word("/collective", kind, known);
        }
        head.kind = *found;
        const std::string protocol = text_if(json_, "", "protocol");
        head.protocol = Protocol::kAuto;
        bool is_known = protocol.empty();
        std::vector<std::string_view> known;
        for (const auto& [value, name] : EnumNames<Protocol>::kNames) {
            known.push_back(name);
            if (name == protocol) {
                head.protocol = value;
                is_known = true;
            }
        }
        if (!is_known)
            unknown_word("/protocol", protocol, known);
        if (!json_.contains("blocks") || !json_["blocks"].is_array())
            fail(
                "/blocks", "is not an array; expected thread blocks, such as [{\"send\": ..., "
                           "\"receive\": ..., \"steps\": [...]}]");
        return head;
    }

    std::uint32_t instances() {
        if (!json_.contains("channels"))
            return 0;
        place_at(0, 0);
        return static_cast<std::uint32_t>(number(json_["channels"], "/channels", 1, 64));
    }

    std::string why_not() {
        if (!json_.contains("needs"))
            return {};
        place_at(0, 0);
        if (number(json_["needs"], "/needs", -kAny, kAny) != 0)
            return {};
        return fmt::format(
            "it needs {}, and here n (ranks) is {}, g (GPUs of a machine) {}, m (machines) {}",
            json_["needs"].dump(), shape_.ranks, shape_.per_machine, shape_.machines());
    }

    Program run() {
        const JsonHead head_there = head();
        program_.kind = head_there.kind;
        program_.protocol = head_there.protocol;
        program_.shape = shape_;
        program_.in_place = head_there.kind != CollectiveKind::kAllToAll;
        place_at(0, 0);
        if (!json_.contains("chunks"))
            fail("/chunks", "is missing; expected the chunks of a rank's buffer");
        program_.chunks =
            static_cast<std::uint32_t>(number(json_["chunks"], "/chunks", 1, kMostPlaces));
        if (program_.of_shares() && program_.chunks % shape_.ranks != 0)
            fail(
                "/chunks", fmt::format(
                               "is {}, which {} ranks do not divide; expected the same number of "
                               "chunks for each rank's share",
                               program_.chunks, shape_.ranks));
        program_.ranks.resize(shape_.ranks);
        for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank)
            for (std::uint32_t c = 0; c < shape_.instances; ++c)
                add_rank(rank, c);
        return std::move(program_);
    }

private:
    static constexpr std::int64_t kAny = 1LL << 40;
    /// A step that waits for a block that may come later in the file.
    struct Wait {
        std::uint32_t block;
        std::uint32_t step;
        const Json* json;
        std::string pointer;
        Variables variables;
    };

    [[noreturn]] void fail(const std::string& pointer, const std::string& what) const {
        throw ConfigError(file_, pointer, what);
    }
    [[noreturn]] void unknown_word(
        const std::string& pointer, const std::string& word,
        std::span<const std::string_view> known) const {
        fail(
            pointer, fmt::format(
                         "is \"{}\"{}; expected one of: {}", word, did_you_mean(word, known),
                         fmt::join(known, ", ")));
    }
    void known_keys(
        const Json& json, const std::string& pointer,
        std::span<const std::string_view> keys) const {
        if (!json.is_object())
            fail(pointer, fmt::format("is {}; expected an object", shown(json)));
        for (const auto& [key, value] : json.items())
            if (std::ranges::find(keys, key) == keys.end()) {
                fail(
                    pointer + "/" + escape_token(key),
                    fmt::format(
                        "unknown key{}; expected one of: {}", did_you_mean(key, keys),
                        fmt::join(keys, ", ")));
            }
    }
    void known_keys(
        const Json& json, const std::string& pointer,
        std::initializer_list<std::string_view> keys) const {
        known_keys(json, pointer, std::span(keys.begin(), keys.size()));
    }
    [[nodiscard]] std::string
    text_if(const Json& json, const std::string& pointer, const char* key) const {
        const auto found = json.find(key);
        if (found == json.end())
            return {};
        if (!found->is_string())
            fail(pointer + "/" + key, fmt::format("is {}; expected a string", shown(*found)));
        return found->get<std::string>();
    }
    [[nodiscard]] std::string
    text(const Json& json, const std::string& pointer, const char* key) const {
        if (!json.contains(key))
            fail(pointer + "/" + key, fmt::format("is missing; expected a {}", key));
        return text_if(json, pointer, key);
    }
    [[nodiscard]] std::int64_t number(
        const Json& json, const std::string& pointer, std::int64_t least, std::int64_t most) const {
        std::int64_t value = 0;
        if (json.is_string()) {
            try {
                value = evaluate(json.get_ref<const std::string&>(), variables_);
            } catch (const std::invalid_argument& error) {
                fail(pointer, error.what());
            }
        } else if (json.is_number_integer() && json <= kAny && json >= -kAny) {
            value = json.get<std::int64_t>();
        } else {
            fail(
                pointer,
                fmt::format("is {}; expected a whole number or an expression", shown(json)));
        }
        if (value < least || value > most)
            fail(pointer, fmt::format("is {}{}; expected {} to {}", value, here(), least, most));
        return value;
    }
    /// Where in the loops.
    [[nodiscard]] std::string here() const {
        std::string words;
        for (const auto& [name, value] : variables_)
            words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", name, value);
        return words.empty() ? words : " where " + words;
    }

    void place_at(std::uint32_t rank, std::uint32_t instance) {
        variables_ = {
            {"n", shape_.ranks},
            {"g", shape_.per_machine},
            {"m", shape_.machines()},
            {"r", rank},
            {"l", rank % std::max(1U, shape_.per_machine)},
            {"h", rank / std::max(1U, shape_.per_machine)},
            {"c", instance}};
        if (!json_.contains("let"))
            return;
        if (!json_["let"].is_array())
            fail(
                "/let", "is not an array; expected objects of one name and its value, such as "
                        "[{\"w\": \"side(n)\"}]");
        std::size_t i = 0;
        for (const Json& entry : json_["let"]) {
            const std::string pointer = fmt::format("/let/{}", i++);
            if (!entry.is_object() || entry.size() != 1)
                fail(
                    pointer,
                    "is not an object with one name; expected one such as {\"w\": \"side(n)\"}");
            for (const auto& [name, value] : entry.items())
                set(name, number(value, pointer + "/" + escape_token(name), -kAny, kAny), pointer);
        }
    }
    void set(const std::string& name, std::int64_t value, const std::string& pointer) {
        if (name.empty() || !std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; }))
            fail(pointer, fmt::format("names \"{}\"; expected lower-case letters only", name));
        variables_[name] = value;
    }

    /// Calls `each` for every value of the loop, or once.
    void loop(const Json& json, const std::string& pointer, const std::function<void()>& each) {
        const auto holds = [&] {
            return !json.contains("if") || number(json["if"], pointer + "/if", -kAny, kAny) != 0;
        };
        if (!json.contains("for")) {
            if (holds())
                each();
            return;
        }
        const Json& over = json["for"];
        const std::string at = pointer + "/for";
        if (!over.is_object() || over.size() != 1 || !over.begin()->is_array() ||
            over.begin()->size() != 2)
            fail(at, "is not a loop; expected {\"k\": [FIRST, END]}");
        const std::string name = over.begin().key();
        const std::int64_t first =
            number(over.begin().value()[0], at + "/" + name + "/0", -kAny, kAny);
        const std::int64_t end =
            number(over.begin().value()[1], at + "/" + name + "/1", -kAny, kAny);
        const Variables before = variables_;
        const std::optional<std::int64_t> turn = turn_;
        for (std::int64_t k = first; k < end; ++k) {
            // Loops in loops may run for days without an instruction.
            if (++turns_of_loops_ > kMostTurns)
                fail(
                    at, fmt::format(
                            "is in turn {} of all loops and ranks; expected {} at most",
                            turns_of_loops_, kMostTurns));
            set(name, k, at);
            turn_ = k;
            if (holds())
                each();
        }
        variables_ = before;
        turn_ = turn;
    }

    void add_rank(std::uint32_t rank, std::uint32_t instance) {
        place_at(rank, instance);
        RankProgram& own = program_.ranks[rank];
        if (json_.contains("scratch"))
            own.scratch =
                static_cast<std::uint32_t>(number(json_["scratch"], "/scratch", 0, kMostPlaces));
        names_.clear();
        turns_.clear();
        waits_.clear();
        const Json& blocks = json_["blocks"];
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::string pointer = fmt::format("/blocks/{}", i);
            known_keys(
                blocks[i], pointer, {{"name", "for", "if", "channel", "receive", "send", "steps"}});
            loop(blocks[i], pointer, [&] { add_block(own, blocks[i], pointer, instance); });
        }
        for (const Wait& wait : waits_)
            resolve(own, wait);
    }

    void add_block(
        RankProgram& own, const Json& json, const std::string& pointer, std::uint32_t instance) {
        if (own.blocks.size() == kMostBlocks)
            fail(
                pointer,
                fmt::format(
                    "is a rank's block {}; expected {} at most", kMostBlocks + 1, kMostBlocks));
        Block block;
        const auto channel = static_cast<std::uint32_t>(
            json.contains("channel") ? number(json["channel"], pointer + "/channel", 0, 4095) : 0);
        block.channel = channel * shape_.instances + instance;
        const std::int64_t last = std::int64_t{shape_.ranks} - 1;
        for (const auto& [key, peer] :
             {std::pair("receive", &block.receive), std::pair("send", &block.send)})
            if (json.contains(key)) {
                const std::string at = pointer + "/" + key;
                *peer = static_cast<std::uint32_t>(number(json[key], at, 0, last));
                if (*peer == variables_.find("r")->second)
                    fail(at, fmt::format("is the rank itself{}; expected another rank", here()));
            }
        own.blocks.push_back(std::move(block));
        const std::string name = text_if(json, pointer, "name");
        const std::int64_t at = json.contains("for") ? variables_[json["for"].begin().key()] : 0;
        current_ = {name, at};
        turn_.reset();
        if (!json.contains("steps") || !json["steps"].is_array())
            fail(
                pointer + "/steps", "is not an array; expected instructions, such as [{\"do\": "
                                    "\"send\", \"chunk\": 0}]");
        add_steps(own, json["steps"], pointer + "/steps", 0);
    }

    void add_steps(
        RankProgram& own, const Json& steps, const std::string& pointer, std::uint32_t depth) {
        constexpr std::uint32_t kDeepestLoops = 8;
        if (depth == kDeepestLoops)
            fail(pointer, "is a loop inside eight others; expected eight levels at most");
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Json& step = steps[i];
            const std::string at = fmt::format("{}/{}", pointer, i);
            known_keys(
                step, at,
                {{"do", "name", "for", "if", "chunk", "from", "to", "count", "after", "steps"}});
            loop(step, at, [&] {
                if (!step.contains("steps"))
                    add_step(own, step, at);
                else if (step.contains("do") || !step["steps"].is_array())
                    fail(
                        at, "has both do and steps, or steps that are not an array; expected one "
                            "of the two");
                else
                    add_steps(own, step["steps"], at + "/steps", depth + 1);
            });
        }
    }

    void add_step(RankProgram& own, const Json& json, const std::string& pointer) {
        if (++instructions_ > kMostInstructions)
            fail(
                pointer, fmt::format(
                             "is instruction {} of all ranks; expected {} at most", instructions_,
                             kMostInstructions));
        const std::string word = text(json, pointer, "do");
        const auto* const op =
            std::ranges::find(kOps, word, [](Op o) { return std::string(name_of(o)); });
        if (op == kOps.end()) {
            std::vector<std::string_view> known;
            for (const Op o : kOps)
                known.push_back(name_of(o));
            unknown_word(pointer + "/do", word, known);
        }
        Instruction step;
        step.op = *op;
        step.count = static_cast<std::uint32_t>(
            json.contains("count") ? number(json["count"], pointer + "/count", 1, kMostPlaces) : 1);
        const bool moves = step.op != Op::kNothing && step.op != Op::kBarrier;
        if (json.contains("chunk") && (json.contains("from") || json.contains("to")))
            fail(
                pointer + "/chunk",
                "is given beside from or to; expected either chunk, or from and to");
        if (json.contains("chunk"))
            step.from = step.to = place(json["chunk"], pointer + "/chunk");
        if (json.contains("from"))
            step.from = step.to = place(json["from"], pointer + "/from");
        if (json.contains("to"))
            step.to = place(json["to"], pointer + "/to");
        if (json.contains("to") && !json.contains("from"))
            step.from = step.to;
        if (moves && !json.contains("chunk") && !json.contains("from") && !json.contains("to"))
            fail(
                pointer + "/chunk",
                "is missing; expected a place of the buffer here, or from and to");
        step.source = static_cast<std::uint32_t>(program_.sources.size());
        program_.sources.push_back(pointer);
        auto& block = own.blocks.back();
        const auto b = static_cast<std::uint32_t>(own.blocks.size() - 1);
        const auto s = static_cast<std::uint32_t>(block.steps.size());
        if (const std::string name = text_if(json, pointer, "name"); !name.empty()) {
            names_[{current_.first, current_.second, name}] = {b, s};
            if (turn_)
                turns_[{current_.first, current_.second, name, *turn_}] = {b, s};
        }
        block.steps.push_back(std::move(step));
        if (!json.contains("after"))
            return;
        const Json& after = json["after"];
        if (after.is_array())
            for (std::size_t i = 0; i < after.size(); ++i)
                waits_.push_back(
                    {b, s, &after[i], fmt::format("{}/after/{}", pointer, i), variables_});
        else
            waits_.push_back({b, s, &after, pointer + "/after", variables_});
    }

    [[nodiscard]] std::uint32_t place(const Json& json, const std::string& pointer) const {
        if (!json.is_object())
            return static_cast<std::uint32_t>(
                number(json, pointer, 0, std::int64_t{program_.chunks} - 1));
        known_keys(json, pointer, {{"scratch", "input", "buffer"}});
        if (json.size() != 1)
            fail(
                pointer,
                fmt::format(
                    "names {} memories; expected one of buffer, input and scratch", json.size()));
        const std::string memory = json.begin().key();
        const std::string at = pointer + "/" + memory;
        const auto rank = static_cast<std::uint32_t>(variables_.find("r")->second);
        if (memory == "buffer")
            return static_cast<std::uint32_t>(
                number(json.begin().value(), at, 0, std::int64_t{program_.chunks} - 1));
        if (memory == "input")
            return program_.input_at(rank) +
                   static_cast<std::uint32_t>(
                       number(json.begin().value(), at, 0, std::int64_t{program_.inputs()} - 1));
        const std::uint32_t places = program_.ranks[rank].scratch;
        if (places == 0)
            fail(
                at, fmt::format(
                        "is a place in the scratch of rank {}, which has none; expected the "
                        "program to say how many chunks it has, such as \"scratch\": 1",
                        rank));
        return program_.scratch_at() + static_cast<std::uint32_t>(number(
                                           json.begin().value(), at, 0, std::int64_t{places} - 1));
    }

    void resolve(RankProgram& own, const Wait& wait) {
        variables_ = wait.variables;
        known_keys(*wait.json, wait.pointer, {{"block", "at", "step", "turn"}});
        const std::string block = text(*wait.json, wait.pointer, "block");
        const std::string step = text(*wait.json, wait.pointer, "step");
        const std::int64_t at = wait.json->contains("at")
                                    ? number((*wait.json)["at"], wait.pointer + "/at", -kAny, kAny)
                                    : 0;
        const std::optional<After> found = found_step(*wait.json, wait.pointer, block, at, step);
        if (!found)
            fail(
                wait.pointer,
                fmt::format(
                    "waits for step \"{}\" of block \"{}\" at {}, which the rank does not have{}; "
                    "expected the names of a block and of a step in it",
                    step, block, at, here()));
        if (found->block == wait.block && found->step >= wait.step)
            fail(
                wait.pointer,
                "waits for a later step of its own block; expected a step of another block");
        if (found->block != wait.block)
            own.blocks[wait.block].steps[wait.step].after.push_back(*found);
    }

    /// A named step: the one of a turn of the loop that it is in, or the last of them.
    std::optional<After> found_step(
        const Json& json, const std::string& pointer, const std::string& block, std::int64_t at,
        const std::string& step) const {
        if (json.contains("turn")) {
            const auto found = turns_.find(
                {block, at, step, number(json["turn"], pointer + "/turn", -kAny, kAny)});
            return found == turns_.end() ? std::nullopt : std::optional(found->second);
        }
        const auto found = names_.find({block, at, step});
        return found == names_.end() ? std::nullopt : std::optional(found->second);
    }

    const Json& json_;
    std::string file_;
    Shape shape_;
    Program program_;
    Variables variables_;
    std::pair<std::string, std::int64_t> current_;  ///< name and loop of the block
    std::optional<std::int64_t> turn_;              ///< of the innermost loop of steps
    std::map<std::tuple<std::string, std::int64_t, std::string>, After> names_;
    std::map<std::tuple<std::string, std::int64_t, std::string, std::int64_t>, After> turns_;
    std::vector<Wait> waits_;
    std::uint64_t instructions_ = 0;
    std::uint64_t turns_of_loops_ = 0;
};

}  // namespace

JsonHead head_of_json(const Json& json, const std::filesystem::path& file) {
    if (!json.is_object())
        throw ConfigError(
            file.string(), "/",
            "is not a JSON object; expected a program (switchfold schema program)");
    return JsonProgram(json, file, {2, 2, 1}).head();
}

std::uint32_t
instances_of_json(const Json& json, const std::filesystem::path& file, const Shape& shape) {
    return JsonProgram(json, file, shape).instances();
}

std::string why_not_shape(const Json& json, const std::filesystem::path& file, const Shape& shape) {
    return JsonProgram(json, file, shape).why_not();
}

Program program_from_json(const Json& json, const std::filesystem::path& file, const Shape& shape) {
    return JsonProgram(json, file, shape).run();
}

}  // namespace switchfold::programs
