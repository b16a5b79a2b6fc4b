// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/running_program.h"

#include "models/collectives/fifo/block_network.h"
#include "models/collectives/programs/program_file.h"
#include "models/collectives/programs/switch_steps.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace programs {

namespace {

ChunkShape shape_of_kind(CollectiveKind kind) {
    return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kAllToAll ? kStepShape
                                                                                   : kRingShape;
}

/// A file's program on the thread blocks that rings run on.
class RunningProgram final : public RunningCollective, public Functional {
public:
    RunningProgram(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        spec_(spec),
        program_(program_of(spec_.choice.of<ProgramConfig>()).program),
        layout_(
            program_, spec.bytes.count(), spec.share(),
            piece_of(environment.params, spec, program_), 1),
        switches_(environment, spec_, program_, memory_),
        network_(
            environment, spec_, spec.choice.protocol, shape_of_kind(spec.kind),
            std::max(std::min(layout_.chunk_bytes(), most_of(environment.params, spec)), kGrain), 1,
            listener) {
        if (environment.functional) {
            buffers_.resize(spec.ranks.size());
            results_.resize(spec.ranks.size());
            memory_.resize(spec.ranks.size());
            network_.use_buffers(memory_, memory_);
        }
        add_blocks();
        const std::uint64_t connections = std::min<std::uint64_t>(
            BlockNetwork::buffer_bytes(environment.params, spec.choice.protocol) *
                spec.choice.channels,
            2 * network_.wire(1024) * spec.bytes.count() / 1024);
        footprint_ = Bytes(connections);
    }

    [[nodiscard]] bool reserve(std::string& refused) { return switches_.reserve(refused); }

    void join(std::uint32_t position, Time start) override {
        if (!memory_.empty())
            fill(position);
        network_.join(position, start, start);
    }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override {
        return network_.blocked(limit);
    }
    [[nodiscard]] Bytes footprint() const override { return footprint_; }
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return buffers_; }
    [[nodiscard]] std::vector<std::vector<float>>& results() override {
        for (std::size_t p = 0; p < results_.size(); ++p)
            results_[p].assign(
                memory_[p].begin(),
                memory_[p].begin() + static_cast<std::ptrdiff_t>(buffers_[p].size()));
        return results_;
    }

private:
    static std::uint64_t most_of(const CollectiveParams& params, const CollectiveSpec& spec) {
        return BlockNetwork::max_chunk(params, spec.choice.protocol, shape_of_kind(spec.kind));
    }
    /// What goes through connections does so in pieces; multimem loads and stores take a chunk in
    /// one go, as NVLS does with registered buffers.
    static std::uint64_t
    piece_of(const CollectiveParams& params, const CollectiveSpec& spec, const Program& program) {
        const bool connected = std::ranges::any_of(program.ranks, [](const RankProgram& rank) {
            return std::ranges::any_of(rank.blocks, [](const Block& block) {
                return block.receive != kNobody || block.send != kNobody;
            });
        });
        return connected ? most_of(params, spec) : UINT64_MAX / 2;
    }

    void add_blocks() {
        std::vector<std::vector<BlockPlan>> of_channel;
        for (const RankProgram& rank : program_.ranks)
            progress_.push_back(std::make_unique<RankProgress>(rank));
        const std::uint32_t sms = std::max(1U, spec_.choice.channels);
        for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
            const std::vector<Block>& blocks = program_.ranks[r].blocks;
            for (std::uint32_t b = 0; b < blocks.size(); ++b) {
                BlockPlan plan;
                plan.rank = r;
                plan.channel = 0;
                plan.sm = blocks.size() > sms ? b % sms : kOwnSm;
                if (blocks[b].receive != kNobody)
                    plan.receive_from = {blocks[b].receive};
                if (blocks[b].send != kNobody)
                    plan.send_to = {blocks[b].send};
                plan.program = std::make_unique<ProgramBlock>(
                    program_, layout_, r, b, blocks[b].channel % program_.shape.instances,
                    *progress_[r], switches_);
                if (of_channel.size() <= blocks[b].channel)
                    of_channel.resize(blocks[b].channel + 1U);
                of_channel[blocks[b].channel].push_back(std::move(plan));
            }
        }
        for (std::vector<BlockPlan>& plans : of_channel)
            network_.add_channel(std::move(plans));
    }

    /// Functional mode: the member's numbers lie where its program expects them.
    void fill(std::uint32_t position) {
        std::vector<float>& memory = memory_[position];
        memory.assign(layout_.memory(position) / spec_.element_bytes + 1, 0.0F);
        const std::vector<float>& own = buffers_[position];
        const bool gathers = program_.kind == CollectiveKind::kAllGather;
        const std::size_t share = spec_.share() / spec_.element_bytes;
        const std::size_t first = gathers ? position * share : 0;
        const std::size_t count = gathers ? share : own.size();
        const std::size_t to = program_.in_place ? first : layout_.input() / spec_.element_bytes;
        std::copy_n(
            own.begin() + static_cast<std::ptrdiff_t>(first), count,
            memory.begin() + static_cast<std::ptrdiff_t>(to));
    }

    CollectiveSpec spec_;
    const Program& program_;
    DataLayout layout_;
    std::vector<std::vector<float>> memory_;
    std::vector<std::vector<float>> buffers_;
    std::vector<std::vector<float>> results_;
    std::vector<std::unique_ptr<RankProgress>> progress_;
    SwitchSteps switches_;
    BlockNetwork network_;
    Bytes footprint_;
};

}  // namespace

}  // namespace programs

std::unique_ptr<RunningCollective> make_program(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    auto running = std::make_unique<programs::RunningProgram>(environment, spec, listener);
    if (!running->reserve(refused))
        return nullptr;
    return running;
}

}  // namespace switchfold
