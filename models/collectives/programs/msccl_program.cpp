// SPDX-License-Identifier: Apache-2.0
// MSCCL's programs: an algo of gpus, of thread blocks, of steps
// (github.com/microsoft/msccl-tools, msccl/language/ir.py writes them).
#include "core/error.h"
#include "core/text_cells.h"
#include "models/collectives/programs/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace switchfold::programs {

namespace {

constexpr std::array<std::pair<std::string_view, Op>, 9> kMscclOps{
    {{"nop", Op::kNothing},
     {"s", Op::kSend},
     {"r", Op::kReceive},
     {"rcs", Op::kReceiveCopySend},
     {"rrs", Op::kReceiveReduceSend},
     {"rrc", Op::kReceiveReduceCopy},
     {"rrcs", Op::kReceiveReduceCopySend},
     {"cpy", Op::kCopy},
     {"re", Op::kReduce}}};
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kMscclKinds{
    {{"allreduce", CollectiveKind::kAllReduce},
     {"allgather", CollectiveKind::kAllGather},
     {"reduce_scatter", CollectiveKind::kReduceScatter},
     {"reducescatter", CollectiveKind::kReduceScatter},
     {"alltoall", CollectiveKind::kAllToAll},
     {"broadcast", CollectiveKind::kBroadcast}}};

class MscclReader {
public:
    MscclReader(const XmlElement& root, const std::filesystem::path& file) :
        root_(root), file_(file.string()) {}

    Program run() {
        if (root_.name != "algo")
            fail(
                root_,
                fmt::format(
                    "has the root <{}>; expected <algo>, as msccl-tools writes it", root_.name));
        program_.shape.ranks = static_cast<std::uint32_t>(number(root_, "ngpus", 2, kMostRanks));
        program_.shape.per_machine = 0;
        program_.kind = word(root_, "coll", kMscclKinds);
        program_.protocol = protocol();
        program_.chunks =
            static_cast<std::uint32_t>(number(root_, "nchunksperloop", 1, kMostPlaces));
        if (program_.of_shares() && program_.chunks % program_.shape.ranks != 0)
            fail(
                root_, fmt::format(
                           "has nchunksperloop {}, which {} ranks do not divide; expected the same "
                           "number of chunks for each rank's share",
                           program_.chunks, program_.shape.ranks));
        // Where both are allowed, the input stays as it is.
        program_.in_place =
            number_or(root_, "inplace", 1) != 0 && number_or(root_, "outofplace", 1) == 0;
        if (root_.attribute("inplace") != nullptr && root_.attribute("outofplace") == nullptr)
            program_.in_place = number(root_, "inplace", 0, 1) != 0;
        if (program_.kind == CollectiveKind::kBroadcast)
            program_.root = static_cast<std::uint32_t>(number_or(root_, "root", 0));
        program_.ranks.resize(program_.shape.ranks);
        std::vector<bool> seen(program_.shape.ranks);
        for (const XmlElement& gpu : root_.children) {
            expect_name(gpu, "gpu");
            const auto id = static_cast<std::uint32_t>(
                number(gpu, "id", 0, std::int64_t{program_.shape.ranks} - 1));
            if (seen[id])
                fail(gpu, fmt::format("has the id {} again; expected each rank once", id));
            seen[id] = true;
            add_gpu(id, gpu);
        }
        if (const auto missing = std::ranges::find(seen, false); missing != seen.end())
            fail(
                root_, fmt::format(
                           "has no <gpu> of rank {}; expected one for each rank of ngpus",
                           missing - seen.begin()));
        return std::move(program_);
    }

private:
    [[noreturn]] void fail(const XmlElement& at, const std::string& what) const {
        throw ConfigError(file_, at.pointer, what);
    }
    void expect_name(const XmlElement& element, std::string_view name) const {
        if (element.name != name)
            fail(element, fmt::format("is <{}>; expected <{}>", element.name, name));
    }
    [[nodiscard]] const std::string&
    attribute(const XmlElement& element, std::string_view key) const {
        const std::string* value = element.attribute(key);
        if (value == nullptr)
            fail(element, fmt::format("has no attribute {}; expected one", key));
        return *value;
    }
    [[nodiscard]] std::int64_t number(
        const XmlElement& element, std::string_view key, std::int64_t least,
        std::int64_t most) const {
        const std::string& text = attribute(element, key);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < least ||
            value > most)
            fail(
                element, fmt::format(
                             "has {} \"{}\"; expected a whole number from {} to {}", key, text,
                             least, most));
        return value;
    }
    [[nodiscard]] std::int64_t
    number_or(const XmlElement& element, std::string_view key, std::int64_t other) const {
        return element.attribute(key) == nullptr ? other : number(element, key, 0, kMostPlaces);
    }
    template <class Value, std::size_t N>
    [[nodiscard]] Value word(
        const XmlElement& element, std::string_view key,
        const std::array<std::pair<std::string_view, Value>, N>& known) const {
        const std::string& text = attribute(element, key);
        std::vector<std::string_view> names;
        for (const auto& [name, value] : known) {
            if (text == name)
                return value;
            names.push_back(name);
        }
        fail(
            element, fmt::format(
                         "has {} \"{}\"{}; expected one of: {}", key, text,
                         did_you_mean(text, names), fmt::join(names, ", ")));
    }
    [[nodiscard]] Protocol protocol() const {
        const std::string* text = root_.attribute("proto");
        if (text == nullptr)
            return Protocol::kAuto;
        if (*text == "Simple")
            return Protocol::kSimple;
        if (*text == "LL")
            return Protocol::kLl;
        if (*text == "LL128")
            return Protocol::kLl128;
        fail(root_, fmt::format("has proto \"{}\"; expected Simple, LL or LL128", *text));
    }

    void add_gpu(std::uint32_t rank, const XmlElement& gpu) {
        RankProgram& own = program_.ranks[rank];
        own.scratch = static_cast<std::uint32_t>(number_or(gpu, "s_chunks", 0));
        check_chunks(gpu, "i_chunks", program_.inputs());
        check_chunks(
            gpu, "o_chunks",
            program_.kind == CollectiveKind::kReduceScatter ? program_.chunks_of_share()
                                                            : program_.chunks);
        // Other blocks name a block by its id.
        std::map<std::int64_t, std::uint32_t> place_of;
        for (const XmlElement& tb : gpu.children) {
            expect_name(tb, "tb");
            const std::int64_t id = number(tb, "id", 0, kMostBlocks - 1);
            if (!place_of.emplace(id, place_of.size()).second)
                fail(tb, fmt::format("has the id {} again; expected each block once", id));
        }
        for (const XmlElement& tb : gpu.children)
            add_block(rank, tb, place_of);
    }

    /// A program may leave its output to the input, and then says 0.
    void check_chunks(const XmlElement& gpu, std::string_view key, std::uint32_t expected) const {
        const std::int64_t given = number_or(gpu, key, expected);
        if (given != 0 && given != expected && !(program_.in_place && given == program_.chunks))
            fail(
                gpu, fmt::format(
                         "has {} {}; expected {}, which follows from nchunksperloop, or 0", key,
                         given, expected));
    }

    void add_block(
        std::uint32_t rank, const XmlElement& tb,
        const std::map<std::int64_t, std::uint32_t>& place_of) {
        Block block;
        block.channel = static_cast<std::uint32_t>(number(tb, "chan", 0, 4095));
        const std::int64_t last = std::int64_t{program_.shape.ranks} - 1;
        for (const auto& [key, peer] :
             {std::pair("recv", &block.receive), std::pair("send", &block.send)})
            if (const std::int64_t to = number(tb, key, -1, last); to >= 0) {
                if (to == rank)
                    fail(
                        tb,
                        fmt::format("has {} {}, the rank itself; expected another rank", key, to));
                *peer = static_cast<std::uint32_t>(to);
            }
        std::int64_t before = -1;
        // A step's place in the block, by its number: those that wait name the number.
        for (const XmlElement& step : tb.children) {
            expect_name(step, "step");
            const std::int64_t s = number(step, "s", 0, kMostInstructions);
            if (s != before + 1)
                fail(
                    step, fmt::format(
                              "has the number {} after {}; expected numbers that grow", s, before));
            before = s;
            if (++instructions_ > kMostInstructions)
                fail(
                    step, fmt::format(
                              "is instruction {} of all ranks; expected {} at most", instructions_,
                              kMostInstructions));
            block.steps.push_back(instruction(rank, step, place_of));
        }
        program_.ranks[rank].blocks.push_back(std::move(block));
    }

    Instruction instruction(
        std::uint32_t rank, const XmlElement& step,
        const std::map<std::int64_t, std::uint32_t>& place_of) {
        Instruction made;
        made.op = word(step, "type", kMscclOps);
        made.source = static_cast<std::uint32_t>(program_.sources.size());
        program_.sources.push_back(step.pointer);
        made.count = static_cast<std::uint32_t>(std::max<std::int64_t>(
            1, step.attribute("cnt") == nullptr ? 1 : number(step, "cnt", 0, kMostPlaces)));
        if (loads(made.op))
            made.from = place(rank, step, "srcbuf", "srcoff");
        if (stores(made.op))
            made.to = place(rank, step, "dstbuf", "dstoff");
        const std::int64_t block =
            step.attribute("depid") == nullptr ? -1 : number(step, "depid", -1, kMostBlocks - 1);
        if (block >= 0) {
            const auto at = place_of.find(block);
            if (at == place_of.end())
                fail(
                    step, fmt::format(
                              "waits for block {} (depid), which the rank does not have; expected "
                              "the id of a "
                              "block of this rank",
                              block));
            made.after.push_back(
                {at->second,
                 static_cast<std::uint32_t>(number(step, "deps", 0, kMostInstructions))});
        }
        return made;
    }

    [[nodiscard]] std::uint32_t place(
        std::uint32_t rank, const XmlElement& step, std::string_view buffer,
        std::string_view offset) const {
        const std::string& name = attribute(step, buffer);
        const auto at = static_cast<std::uint32_t>(number(step, offset, 0, kMostPlaces));
        std::uint32_t begin = 0;
        std::uint32_t places = 0;
        if (name == "i") {
            begin = program_.input_at(rank);
            places = program_.in_place ? program_.chunks - begin : program_.inputs();
        } else if (name == "o") {
            const bool shares = program_.kind == CollectiveKind::kReduceScatter;
            places = shares ? program_.chunks_of_share() : program_.chunks;
            begin = shares ? rank * program_.chunks_of_share() : 0;
        } else if (name == "s") {
            begin = program_.scratch_at();
            places = program_.ranks[rank].scratch;
        } else {
            fail(step, fmt::format("has {} \"{}\"; expected i, o or s", buffer, name));
        }
        if (places == 0)
            fail(
                step, fmt::format(
                          "has {} \"s\", but rank {} has no scratch; expected its <gpu> to say how "
                          "many chunks it has (s_chunks)",
                          buffer, rank));
        if (at >= places)
            fail(
                step, fmt::format(
                          "has {} {}, but {} has {} chunks; expected a number below that", offset,
                          at, name, places));
        return begin + at;
    }

    const XmlElement& root_;
    std::string file_;
    Program program_;
    std::uint64_t instructions_ = 0;
};

}  // namespace

Program program_from_msccl(const XmlElement& root, const std::filesystem::path& file) {
    return MscclReader(root, file).run();
}

}  // namespace switchfold::programs
