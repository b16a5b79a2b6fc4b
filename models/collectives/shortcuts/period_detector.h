// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

class WindowListener {
public:
    /// A window of turns has ended; call PeriodDetector::close_window() before time advances.
    virtual void on_window() = 0;

protected:
    ~WindowListener() = default;
};

/// A motion that repeats itself.
struct Repetition {
    std::uint64_t period = 0;   ///< ps per window
    std::vector<double> turns;  ///< by lane, per period
    double seen = 0;            ///< periods observed so far
    double counted = 0;         ///< of these, the ones since PeriodDetector::count_from_now()
    double apart = 0;           ///< turns by which parts of a lane moved against each other
    std::uint64_t trusted = 0;  ///< further periods that may be assumed to repeat
};

/// How alike the windows of a stretch are.
enum class Motion : std::uint8_t {
    kClose,      ///< the mean pace is known to 0.15 %, and windows are alike
    kWandering,  ///< windows differ by some percent, always; the mean pace is known to 0.6 %
    /// A pace that has not quite settled, or parts that still move apart, will do: the end may then
    /// be several percent off.
    kLoose,
};

/// Detects when the parts of a collective repeat their motion. Each part counts its turns: a step
/// of a ring, a loop of a pipeline. Parts that pass data to each other form a lane. A window is a
/// number of turns of the first lane's first part. Packets of many channels interleave on links
/// irregularly, so turns are never exactly alike; the criterion is the pace, the mean number of
/// turns of all parts over the window's length. A stretch of windows repeats itself if its mean
/// pace is known well enough and its parts do not drift apart: a part that runs ahead of another
/// must wait for it eventually, and the motion then changes. Pure logic, without a clock.
class PeriodDetector {
public:
    /// Windows are multiples of `cycle` turns, initially `window` and up to `most` turns.
    PeriodDetector(std::uint64_t cycle, std::uint64_t window, std::uint64_t most) :
        cycle_(cycle), window_(window), most_(most) {}

    void set_listener(WindowListener* listener) { listener_ = listener; }
    /// Adds parts to a lane. \returns the index of the first.
    std::uint32_t add(std::uint32_t lane, std::uint32_t parts = 1);
    /// A part has ended a turn, or some of equal length, at `now` (ps).
    void note(std::uint32_t counter, std::uint64_t now, std::uint64_t turns = 1) {
        Counter& c = counters_[counter];
        c.turns += turns;
        c.together = turns;
        c.before = c.last;
        c.last = now;
        if (counter == first_ && c.turns >= window_end_ && listener_ != nullptr) {
            window_end_ = UINT64_MAX;  // until it is closed
            listener_->on_window();
        }
    }
    /// Ends a window at `now` (ps) and begins the next one. A disturbed window repeats nothing.
    /// \returns the repetition, if there is one.
    std::optional<Repetition> close_window(std::uint64_t now, bool disturbed = false);
    /// Reports that periods of the repetition were skipped.
    void skipped(double periods) { skipped_ += periods; }
    /// Reports that turns of a lane's parts were skipped.
    void left_out(std::uint32_t lane, std::uint64_t turns) { left_out_[lane] += turns; }
    /// For parts that keep their places and therefore settle early: a third of the turns suffices
    /// if their pace is known three times as precisely.
    void rest_early() { rests_early_ = true; }
    /// How alike windows must be. Default: Motion::kClose. `all`: turns of a part in the whole
    /// collective, if known. `beside`: other collectives repeat themselves on the same links, whose
    /// packets interleave with its own by chance.
    void expect(Motion motion, double all = 0, bool beside = false) {
        motion_ = motion;
        all_ = all;
        beside_ = beside;
    }
    [[nodiscard]] Motion motion() const { return motion_; }
    /// For parts that start unevenly and hand each other nothing: no stretch is shorter.
    void set_fewest(double turns) { fewest_ = turns; }
    /// For the same parts where ranks stand for others: those that move against each other by fewer
    /// turns than `settled` have started, so a third of the fewest will do. Over everything skipped
    /// they may move apart by `drift`, a share of all turns, by which some then end too early.
    void set_settled(double settled, double drift) {
        settled_ = settled;
        drift_ = drift;
    }
    /// Every `length` turns another motion begins, so no stretch crosses such a boundary. Turns
    /// count from 1.
    void set_section(std::uint64_t length) { section_ = length; }

    /// ps: begin of the stretch, if a window was closed.
    [[nodiscard]] std::uint64_t stretch_began() const { return stretch_.front().at; }
    /// Lets the stretch begin then, at the end of one of its windows.
    void begin_stretch_at(std::uint64_t began);
    /// Forgets the stretch, so that the next window's end begins one.
    void begin_anew();

    /// Whether the listener was called and the window is not closed yet.
    [[nodiscard]] bool window_over() const { return window_end_ == UINT64_MAX; }
    /// Whether the first window of a possibly repeating stretch has just ended. What is under way
    /// settles in it, so the data of what repeats are counted from now on.
    [[nodiscard]] bool count_from_now() const { return stretch_.size() == 2; }
    /// Turns of the first lane's first part so far.
    [[nodiscard]] std::uint64_t turns() const { return counters_[first_].turns; }
    [[nodiscard]] std::uint32_t lanes() const { return lanes_; }
    /// Turns per window.
    [[nodiscard]] std::uint64_t window() const { return window_; }
    [[nodiscard]] std::uint64_t cycle() const { return cycle_; }

private:
    struct Counter {
        std::uint32_t lane = 0;
        std::uint64_t turns = 0;
        std::uint64_t together = 1;  ///< turns that ended last
        std::uint64_t last = 0;      ///< ps: their end
        std::uint64_t before = 0;    ///< ps: end of the previous ones
    };
    /// Progress of all parts at the end of a window.
    struct Mark {
        std::uint64_t at = 0;          ///< ps
        std::vector<double> progress;  ///< turns, by part
        double pace = 0;               ///< turns per ps, over the window that ended
        std::optional<std::uint64_t> section;
    };
    /// Movement between two marks.
    struct Moved {
        double mean = 0;           ///< turns
        double spread = 0;         ///< largest difference between parts of one lane
        std::vector<double> lane;  ///< mean turns
    };
    [[nodiscard]] static double progress(const Counter& counter, std::uint64_t now);
    [[nodiscard]] Moved moved(const Mark& from, const Mark& to) const;
    /// Whether the last window has the stretch's pace.
    [[nodiscard]] bool goes_on() const;
    /// Whether the standard error of the stretch's mean pace is at most this share of it.
    [[nodiscard]] bool known_to(double share) const;
    [[nodiscard]] std::optional<Repetition> repetition() const;
    void begin_stretch();
    /// Whether parts moved against each other in the first half of the stretch, as they do until
    /// all have begun, and much less in the second.
    [[nodiscard]] bool began_unevenly() const;
    /// The section of all parts; nothing while they are in different ones.
    [[nodiscard]] std::optional<std::uint64_t> section() const;

    std::uint64_t cycle_;
    std::uint64_t window_;
    std::uint64_t most_;
    std::uint64_t section_ = 0;            ///< turns per section; 0: no sections
    std::vector<std::uint64_t> left_out_;  ///< turns, by lane
    std::uint64_t window_end_ = 1;         ///< turns of the first part
    WindowListener* listener_ = nullptr;
    bool rests_early_ = false;
    Motion motion_ = Motion::kClose;
    double all_ = 0;  ///< turns of a part; 0: unknown
    bool beside_ = false;
    double fewest_ = 0;  ///< turns of a stretch
    double settled_ = 0;
    double drift_ = 0;
    std::uint32_t lanes_ = 0;
    std::vector<Counter> counters_;
    std::uint32_t first_ = UINT32_MAX;  ///< counter of the first lane's first part
    std::vector<Mark> stretch_;         ///< marks of its windows' ends, from its begin on
    std::uint32_t fruitless_ = 0;       ///< windows of this length without a repetition
    double skipped_ = 0;                ///< periods skipped in this stretch
};

}  // namespace switchfold
