// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

class TurnListener {
public:
    /// A window of turns is over; TurnLog::close_window() is due before time passes.
    virtual void on_window() = 0;

protected:
    ~TurnListener() = default;
};

/// A motion that repeats itself.
struct Repetition {
    std::uint64_t period = 0;   ///< ps: of a window
    std::vector<double> turns;  ///< by lane, in a period
    double seen = 0;            ///< periods that passed since it does
    double apart = 0;           ///< turns by which parts of a lane moved against each other
    std::uint64_t trusted = 0;  ///< more periods that it may be taken to go on for
};

/// Tells when the parts of a collective repeat what they do. Each counts its turns: a step of a
/// ring, a loop of a pipeline. Parts that hand data to each other are one lane. Windows are so many
/// turns of the first part. Packets of many channels take turns on links as chance has it, so turns
/// are never quite alike; what must be is the pace: the mean of all parts' turns over the window's
/// length. A stretch of windows repeats itself when its mean pace is known well enough, and its
/// parts do not drift apart: one that runs ahead of another will have to wait for it, and what
/// comes after is another motion. Pure logic.
class TurnLog {
public:
    /// Windows are multiples of `cycle` turns, at first `window` and up to `most` turns.
    TurnLog(std::uint64_t cycle, std::uint64_t window, std::uint64_t most) :
        cycle_(cycle), window_(window), most_(most) {}

    void set_listener(TurnListener* listener) { listener_ = listener; }
    /// Adds so many parts to a lane. \returns the number of the first.
    std::uint32_t add(std::uint32_t lane, std::uint32_t parts = 1);
    /// The part has ended a turn at `now` (ps).
    void note(std::uint32_t counter, std::uint64_t now) {
        Counter& c = counters_[counter];
        ++c.turns;
        c.before = c.last;
        c.last = now;
        if (counter == 0 && c.turns >= window_end_ && listener_ != nullptr) {
            window_end_ = UINT64_MAX;  // until it is closed
            listener_->on_window();
        }
    }
    /// Ends a window at `now` (ps) and begins the next one. One that was disturbed from outside
    /// repeats nothing. \returns what repeats itself, if anything does.
    std::optional<Repetition> close_window(std::uint64_t now, bool disturbed = false);
    /// So many periods of what repeats itself were left out.
    void skipped(double periods) { skipped_ += periods; }
    /// And so many turns of a lane's parts.
    void left_out(std::uint32_t lane, std::uint64_t turns) { left_out_[lane] += turns; }
    /// Parts that keep their places come to rest early: a third of the turns will do, if their pace
    /// is known three times as well.
    void rest_early() { rests_early_ = true; }
    /// Every `length` turns another motion begins: no stretch reaches across. Turns count from 1.
    void set_section(std::uint64_t length) { section_ = length; }

    /// The listener was told, and the window is not closed yet.
    [[nodiscard]] bool window_over() const { return window_end_ == UINT64_MAX; }
    /// The stretch that may repeat itself begins now.
    [[nodiscard]] bool begins() const { return stretch_.size() == 1; }
    /// Of the first part so far.
    [[nodiscard]] std::uint64_t turns() const { return counters_.front().turns; }
    [[nodiscard]] std::uint32_t lanes() const { return lanes_; }
    /// Turns of a window.
    [[nodiscard]] std::uint64_t window() const { return window_; }
    [[nodiscard]] std::uint64_t cycle() const { return cycle_; }

private:
    struct Counter {
        std::uint32_t lane = 0;
        std::uint64_t turns = 0;
        std::uint64_t last = 0;    ///< ps: end of the last turn
        std::uint64_t before = 0;  ///< and of the one before
    };
    /// Where all parts are at the end of a window.
    struct Mark {
        std::uint64_t at = 0;          ///< ps
        std::vector<double> progress;  ///< turns, by part
        double pace = 0;               ///< turns a ps, of the window that ended
        std::optional<std::uint64_t> section;
    };
    /// What the parts did between two marks.
    struct Moved {
        double mean = 0;           ///< turns
        double spread = 0;         ///< most by which parts of one lane differ
        std::vector<double> lane;  ///< mean turns
    };
    [[nodiscard]] static double progress(const Counter& counter, std::uint64_t now);
    [[nodiscard]] Moved moved(const Mark& from, const Mark& to) const;
    /// Whether the last window goes at the stretch's pace.
    [[nodiscard]] bool goes_on() const;
    /// Whether the standard error of the stretch's mean pace is no more than this share of it.
    [[nodiscard]] bool known_to(double share) const;
    [[nodiscard]] std::optional<Repetition> repetition() const;
    void begin_stretch();
    /// Of all parts, or nothing while they are not in the same.
    [[nodiscard]] std::optional<std::uint64_t> section() const;

    std::uint64_t cycle_;
    std::uint64_t window_;
    std::uint64_t most_;
    std::uint64_t section_ = 0;            ///< turns; 0: there is but one
    std::vector<std::uint64_t> left_out_;  ///< turns, by lane
    std::uint64_t window_end_ = 1;         ///< turns of the first part
    TurnListener* listener_ = nullptr;
    bool rests_early_ = false;
    std::uint32_t lanes_ = 0;
    std::vector<Counter> counters_;
    std::vector<Mark> stretch_;    ///< its windows' ends, from its begin on
    std::uint32_t fruitless_ = 0;  ///< windows of this length
    double skipped_ = 0;           ///< periods left out of this stretch
};

}  // namespace switchfold
