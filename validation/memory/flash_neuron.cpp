// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/flash_neuron.h"

#include "validation/memory/g10_step.h"
#include "validation/memory/page_memory.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// When a schedule's items are used, by item.
struct Uses {
    explicit Uses(const AccessSchedule& schedule) :
        first(schedule.items.size(), kNever),
        last_read(schedule.items.size(), kNever),
        steps(schedule.items.size()) {
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
            if (schedule.steps[i].kind == StepKind::kBackward)
                backward = std::min(backward, i);
            for (const ItemAccess& access : schedule.steps[i].open)
                use(schedule, access, i);
        }
    }
    /// Whether it has its place from its first step to its last reader.
    [[nodiscard]] bool lives(const AccessSchedule& schedule, std::uint32_t item) const {
        return !schedule.items[item].persistent && !schedule.items[item].scratch &&
               last_read[item] != kNever;
    }

    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> last_read;
    std::vector<std::vector<std::uint32_t>> steps;
    std::uint32_t backward = kNever;  ///< its first step

private:
    void use(const AccessSchedule& schedule, const ItemAccess& access, std::uint32_t step) {
        first[access.item] = std::min(first[access.item], step);
        steps[access.item].push_back(step);
        // A step that makes an item does not read it.
        const bool makes = access.writes && first[access.item] == step;
        if (!makes || schedule.items[access.item].persistent)
            last_read[access.item] = step;
    }
};

std::uint64_t pages_of(const MemoryItem& item) {
    return (item.bytes + kPage - 1) / kPage;
}

/// Pages of the fullest step.
std::uint64_t fullest(const AccessSchedule& schedule, bool with_weights) {
    std::uint64_t most = 0;
    for (const AccessStep& step : schedule.steps) {
        std::uint64_t open = 0;
        for (const ItemAccess& access : step.open)
            if (with_weights || !schedule.items[access.item].persistent)
                open += pages_of(schedule.items[access.item]);
        most = std::max(most, open);
    }
    return most;
}

/// The last step of the forward pass at whose begin the item has been closed; kNever: none.
std::uint32_t closed_at(const Uses& uses, std::uint32_t item) {
    std::uint32_t at = kNever;
    const std::vector<std::uint32_t>& steps = uses.steps[item];
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
        if (steps[i + 1] > steps[i] + 1 && steps[i] + 1 <= uses.backward)
            at = steps[i] + 1;
    return at;
}

class Run {
public:
    Run(const AccessSchedule& schedule,
        const FlashNeuronChoice& choice,
        std::uint64_t pages,
        double rate) :
        schedule_(schedule),
        choice_(choice),
        rate_(rate),
        uses_(schedule),
        beside_(fullest(schedule, false)),
        memory_(pages),
        place_(schedule.items.size()),
        coming_(schedule.items.size()) {}

    std::optional<FlashNeuronTimes> take() {
        if (!place_what_stays())
            return {};
        for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) {
            if (i < uses_.backward)
                copy_out(i);
            else
                while (!out_.empty())
                    (void)advance();
            if (!open(i))
                return {};
            compute(i);
            close(i);
            if (i >= uses_.backward)
                fetch_ahead(i + 1);
        }
        times_.seconds = now_;
        return times_;
    }

private:
    /// Weights, and room for the largest item that no step reads.
    bool place_what_stays() {
        std::uint64_t space = 0;
        for (std::uint32_t i = 0; i < schedule_.items.size(); ++i) {
            const MemoryItem& item = schedule_.items[i];
            if (item.persistent && !memory_.take_low(pages_of(item)))
                return false;
            if (!item.persistent && !uses_.lives(schedule_, i))
                space = std::max(space, pages_of(item));
        }
        return space == 0 || memory_.take_low(space).has_value();
    }

    void copy_out(std::uint32_t step) {
        for (std::uint32_t item = 0; item < schedule_.items.size(); ++item)
            if (choice_.travels[item] && choice_.begin[item] == step)
                out_.push_back(item);
        begin_copies();
    }

    bool open(std::uint32_t step) {
        for (const ItemAccess& access : schedule_.steps[step].open) {
            const std::uint32_t item = access.item;
            if (!uses_.lives(schedule_, item))
                continue;
            if (!place_[item]) {
                while (!place(item))
                    if (!advance())
                        return false;
                if (uses_.first[item] != step)
                    fetch(item);
            }
            while (coming_[item])
                (void)advance();
        }
        return true;
    }

    bool place(std::uint32_t item) {
        const std::uint64_t pages = pages_of(schedule_.items[item]);
        place_[item] = choice_.travels[item] ? memory_.take_high(pages) : memory_.take_low(pages);
        return place_[item].has_value();
    }

    void free(std::uint32_t item) {
        memory_.give_back(*place_[item]);
        place_[item].reset();
    }

    void compute(std::uint32_t step) {
        times_.compute += schedule_.steps[step].seconds;
        const double end = now_ + schedule_.steps[step].seconds;
        while (next_copy() <= end)
            (void)advance();
        go_to(end);
    }

    void close(std::uint32_t step) {
        for (const ItemAccess& access : schedule_.steps[step].open)
            if (uses_.last_read[access.item] == step && place_[access.item])
                free(access.item);
    }

    void fetch_ahead(std::uint32_t from) {
        const std::uint64_t hole = memory_.largest_hole();
        std::uint64_t room = hole > beside_ ? hole - beside_ : 0;
        for (std::uint32_t step = from; step < schedule_.steps.size(); ++step)
            for (const ItemAccess& access : schedule_.steps[step].open) {
                const std::uint32_t item = access.item;
                if (!choice_.travels[item] || place_[item])
                    continue;
                const std::uint64_t pages = pages_of(schedule_.items[item]);
                if (pages >= room || !place(item))
                    return;
                room -= pages;
                fetch(item);
            }
    }

    void fetch(std::uint32_t item) {
        coming_[item] = true;
        in_.push_back(item);
        begin_copies();
    }

    void begin_copies() {
        const auto begin = [&](const std::deque<std::uint32_t>& queue, double& end) {
            if (!queue.empty() && end == kIdle)
                end = now_ +
                      static_cast<double>(pages_of(schedule_.items[queue.front()]) * kPage) / rate_;
        };
        begin(out_, out_end_);
        begin(in_, in_end_);
    }

    [[nodiscard]] double next_copy() const { return std::min(out_end_, in_end_); }

    void go_to(double time) {
        if (next_copy() != kIdle)
            times_.copying += time - now_;
        now_ = time;
    }

    /// To the end of the next copy. \returns whether one was on its way.
    bool advance() {
        const double end = next_copy();
        if (end == kIdle)
            return false;
        go_to(end);
        if (out_end_ == end) {
            free(out_.front());
            out_.pop_front();
            out_end_ = kIdle;
        } else {
            coming_[in_.front()] = false;
            in_.pop_front();
            in_end_ = kIdle;
        }
        begin_copies();
        return true;
    }

    static constexpr double kIdle = std::numeric_limits<double>::infinity();
    const AccessSchedule& schedule_;
    const FlashNeuronChoice& choice_;
    double rate_;
    Uses uses_;
    std::uint64_t beside_;  ///< pages of the fullest step without weights
    PageMemory memory_;
    std::vector<std::optional<PageRange>> place_;  ///< by item
    std::vector<bool> coming_;                     ///< by item
    std::deque<std::uint32_t> out_;
    std::deque<std::uint32_t> in_;
    double out_end_ = kIdle;
    double in_end_ = kIdle;
    double now_ = 0;
    FlashNeuronTimes times_;
};

}  // namespace

std::optional<FlashNeuronChoice>
choose_for_flash_neuron(const AccessSchedule& schedule, std::uint64_t pages) {
    const Uses uses(schedule);
    std::uint64_t taken = fullest(schedule, true);
    for (const MemoryItem& item : schedule.items)
        taken += item.persistent ? pages_of(item) : 0;
    if (pages <= taken)
        return {};
    const std::uint64_t room = pages - taken;
    std::vector<std::uint32_t> offered;
    std::vector<bool> known(schedule.items.size());
    std::uint64_t held = 0;
    for (std::uint32_t i = 0; i < std::min<std::size_t>(uses.backward, schedule.steps.size()); ++i)
        for (const ItemAccess& access : schedule.steps[i].open) {
            const std::uint32_t item = access.item;
            if (known[item] || !uses.lives(schedule, item) || uses.last_read[item] < uses.backward)
                continue;
            known[item] = true;
            offered.push_back(item);
            held += pages_of(schedule.items[item]);
        }
    FlashNeuronChoice choice;
    choice.travels.assign(schedule.items.size(), false);
    choice.begin.assign(schedule.items.size(), kNever);
    for (const std::uint32_t item : offered) {
        if (held < room)
            break;
        choice.begin[item] = closed_at(uses, item);
        if (choice.begin[item] == kNever)
            continue;
        choice.travels[item] = true;
        choice.pages += pages_of(schedule.items[item]);
        held -= pages_of(schedule.items[item]);
    }
    return held > room ? std::nullopt : std::optional(std::move(choice));
}

std::optional<FlashNeuronTimes> run_flash_neuron(
    const AccessSchedule& schedule,
    const FlashNeuronChoice& choice,
    std::uint64_t pages,
    double rate) {
    return Run(schedule, choice, pages, rate).take();
}

}  // namespace switchfold::validation
