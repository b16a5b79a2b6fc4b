// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/program_file.h"

#include "core/error.h"
#include "core/fnv.h"
#include "core/named_path.h"
#include "core/params_reader.h"
#include "core/text_cells.h"
#include "core/xml.h"
#include "models/collectives/choice/policy_algorithm.h"
#include "models/collectives/programs/proof.h"
#include "models/collectives/programs/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace programs {

namespace {

/// Chunks that a connection holds: with Simple half of its FIFO each, with lines a step each.
constexpr std::uint32_t kSimpleChunks = 2;
constexpr std::uint32_t kLineChunks = 8;
constexpr std::uintmax_t kMostBytes = 64U << 20U;

/// Proves an instance, which has memory of its own, and notes the chunks of its instructions.
void prove_instance(
    Program& all, std::uint32_t instance, std::uint32_t slots, const std::filesystem::path& file) {
    Program one = all;
    std::vector<std::vector<std::size_t>> taken(all.ranks.size());
    for (std::size_t r = 0; r < all.ranks.size(); ++r) {
        std::vector<Block> kept;
        std::vector<std::uint32_t> place(all.ranks[r].blocks.size());
        for (std::size_t b = 0; b < all.ranks[r].blocks.size(); ++b)
            if (all.ranks[r].blocks[b].channel % all.shape.instances == instance) {
                place[b] = static_cast<std::uint32_t>(kept.size());
                taken[r].push_back(b);
                kept.push_back(std::move(one.ranks[r].blocks[b]));
            }
        for (Block& block : kept)
            for (Instruction& step : block.steps)
                for (After& after : step.after)
                    after.block = place.at(after.block);
        one.ranks[r].blocks = std::move(kept);
    }
    if (const auto flaw = find_flaw(one, slots))
        throw ConfigError(
            file.string(), flaw->pointer,
            fmt::format(
                "{} (of {} ranks{})", flaw->what, all.shape.ranks,
                all.shape.instances > 1 ? fmt::format(", channel {}", instance) : std::string()));
    for (std::size_t r = 0; r < taken.size(); ++r)
        for (std::size_t b = 0; b < taken[r].size(); ++b)
            for (std::size_t s = 0; s < one.ranks[r].blocks[b].steps.size(); ++s)
                all.ranks[r].blocks[taken[r][b]].steps[s].chunks =
                    std::move(one.ranks[r].blocks[b].steps[s].chunks);
}

/// The proof keeps what each place holds, and of each instruction the chunks that it moves.
void check_size(const Program& all, const std::filesystem::path& file) {
    std::uint64_t places = 0;
    std::uint64_t moves = 0;
    for (std::uint32_t rank = 0; rank < all.ranks.size(); ++rank) {
        places += all.places(rank);
        for (const Block& block : all.ranks[rank].blocks)
            for (const Instruction& step : block.steps)
                moves += step.count;
    }
    const auto fail = [&](std::string_view what, std::uint64_t number, std::uint64_t most) {
        throw ConfigError(
            file.string(), "/",
            fmt::format("{} {} of all ranks; expected {} at most", what, number, most));
    };
    if (places > kMostPlacesOfAll)
        fail("has a memory of so many chunks:", places, kMostPlacesOfAll);
    if (moves > kMostMoves)
        fail("has instructions that move so many chunks:", moves, kMostMoves);
}

}  // namespace

ProgramFile::ProgramFile(std::string written, std::filesystem::path file) :
    written_(std::move(written)), file_(std::move(file)) {
    std::error_code ignored;
    name_ = file_.stem().string();
    if (const auto prefix = chakra_prefix(file_)) {
        name_ = prefix->filename().string();
        const ChakraGraphs graphs = read_chakra_graphs(*prefix);
        digest_ = Fnv().add(graphs.text).value();
        fixed_ = program_from_chakra(graphs, *prefix);
        prove_fixed();
        return;
    }
    if (!std::filesystem::is_regular_file(file_, ignored))
        throw ConfigError(
            file_.string(), "/",
            "does not exist; expected a program: our JSON, MSCCL's XML, or what stands before "
            ".0.et "
            "in the names of Chakra graphs");
    if (std::filesystem::file_size(file_, ignored) > kMostBytes)
        throw ConfigError(
            file_.string(), "/", "is larger than 64 MiB; expected the program of one collective");
    const std::string text = read_text(file_);
    digest_ = Fnv().add(text).value();
    if (const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
        first != std::string::npos && text[first] == '<') {
        fixed_ = program_from_msccl(parse_xml(text, file_), file_);
    } else {
        json_ = load_json(file_);
        const JsonHead head = head_of_json(json_, file_);
        kind_ = head.kind;
        protocol_ = head.protocol;
        if (!head.name.empty())
            name_ = head.name;
        // Mistakes that are there with any ranks are told before these are known.
        const Shape four{4, 4, 1};
        if (why_not_shape(json_, file_, four).empty())
            static_cast<void>(program_from_json(json_, file_, four));
    }
    if (fixed_)
        prove_fixed();
}

void ProgramFile::prove_fixed() {
    kind_ = fixed_->kind;
    protocol_ = fixed_->protocol;
    static_cast<void>(proved({fixed_->shape.ranks, 0, 1}));
}

std::string ProgramFile::why_not(Shape shape) const {
    if (fixed_)
        return shape.ranks == fixed_->shape.ranks
                   ? std::string()
                   : fmt::format(
                         "it is made for {} ranks, but the group has {}", fixed_->shape.ranks,
                         shape.ranks);
    if (shape.ranks > kMostRanks)
        return fmt::format(
            "it has {} ranks, and programs run on {} at most", shape.ranks, kMostRanks);
    return why_not_shape(json_, file_, shape);
}

std::uint32_t ProgramFile::instances(Shape shape) const {
    return fixed_ ? 1 : instances_of_json(json_, file_, shape);
}

Program ProgramFile::program_for(const Shape& shape) const {
    return fixed_ ? *fixed_ : program_from_json(json_, file_, shape);
}

std::shared_ptr<const Proved> ProgramFile::proved(Shape shape) const {
    if (fixed_)
        shape = {shape.ranks, 0, 1};
    auto& known = proved_[shape];
    if (known)
        return known;
    auto made = std::make_shared<Proved>();
    made->program = program_for(shape);
    const bool lines =
        made->program.protocol == Protocol::kLl || made->program.protocol == Protocol::kLl128;
    Program& all = made->program;
    check_size(all, file_);
    for (std::uint32_t instance = 0; instance < shape.instances; ++instance)
        prove_instance(all, instance, lines ? kLineChunks : kSimpleChunks, file_);
    made->name = name_;
    made->digest = digest_;
    for (const RankProgram& rank : all.ranks) {
        made->blocks = std::max(made->blocks, static_cast<std::uint32_t>(rank.blocks.size()));
        for (const Block& block : rank.blocks)
            for (const Instruction& step : block.steps)
                made->uses_switches = made->uses_switches || in_switch(step.op);
    }
    known = std::move(made);
    return known;
}

namespace {

/// Files by number. Jobs are forked after experiments are read, so that numbers mean the same in
/// them.
std::vector<std::shared_ptr<const ProgramFile>>& numbered_files() {
    static std::vector<std::shared_ptr<const ProgramFile>> files;
    return files;
}

}  // namespace

std::uint32_t number_of(const std::shared_ptr<const ProgramFile>& file) {
    auto& files = numbered_files();
    const auto at = std::ranges::find_if(files, [&](const auto& known) {
        return known == file ||
               (known->digest() == file->digest() && known->written() == file->written() &&
                known->file() == file->file());
    });
    if (at == files.end()) {
        files.push_back(file);
        return static_cast<std::uint32_t>(files.size() - 1);
    }
    return static_cast<std::uint32_t>(at - files.begin());
}

const std::shared_ptr<const ProgramFile>& file_of(std::uint32_t number) {
    return numbered_files().at(number);
}

const Proved& program_of(const ProgramConfig& choice) {
    return *file_of(choice.file)->proved({choice.ranks, choice.per_machine, choice.instances});
}

}  // namespace programs

bool operator==(const PolicyAlgorithm& a, const PolicyAlgorithm& b) {
    if (a.word != b.word || (a.program == nullptr) != (b.program == nullptr))
        return false;
    return a.program == nullptr || (a.program->written() == b.program->written() &&
                                    a.program->digest() == b.program->digest());
}

void read_value(const Cursor& c, PolicyAlgorithm& out) {
    static constexpr std::string_view kKey = "program";
    if (!c.value->is_object()) {
        Algorithm word = Algorithm::kAuto;
        read_value(c, word);
        if (word == Algorithm::kProgram)
            c.fail("is \"program\" without a file; expected {\"program\": FILE}, or another word");
        out = word;
        return;
    }
    report_unknown_keys(c, {&kKey, 1});
    const auto found = c.value->find(std::string(kKey));
    if (found == c.value->end() || !found->is_string()) {
        fail_type(c, "a word, or {\"program\": FILE}");
        return;
    }
    const Cursor at = c.child(kKey, *found);
    const std::filesystem::path written(found->get_ref<const std::string&>());
    try {
        out = Algorithm::kProgram;
        // What was read and proved before is not proved again.
        out.program =
            programs::file_of(programs::number_of(std::make_shared<const programs::ProgramFile>(
                written.string(), path_named_in(c.file, written))));
    } catch (const ConfigError& error) {
        out = Algorithm::kAuto;
        // The file's own pointers say more than this one's.
        c.state->problems.insert(
            c.state->problems.end(), error.problems().begin(), error.problems().end());
    }
}

OrderedJson write_value(const PolicyAlgorithm& value) {
    if (value.program != nullptr)
        return {{"program", value.program->written()}};
    return std::string(enum_name(value.word));
}

OrderedJson SchemaOf<PolicyAlgorithm>::make() {
    OrderedJson names = OrderedJson::array();
    std::string words;
    for (const auto& [value, name] : EnumNames<Algorithm>::kNames)
        if (value != Algorithm::kProgram) {
            names.push_back(std::string(name));
            words += fmt::format("`{}`, ", name);
        }
    return {
        {"title", words + "or an object with `program`"},
        {"anyOf", OrderedJson::array(
                      {{{"enum", names}},
                       {{"type", "object"},
                        {"properties", {{"program", {{"type", "string"}}}}},
                        {"required", OrderedJson::array({"program"})},
                        {"additionalProperties", false}}})}};
}

}  // namespace switchfold
