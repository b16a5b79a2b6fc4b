// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// What a motion that repeats itself does in one window.
struct Repetition {
    std::uint64_t period = 0;   ///< ps
    std::vector<double> turns;  ///< by lane, in a period
    std::uint64_t trusted = 0;  ///< periods that it may be taken to go on for
};

/// Tells when the parts of a collective repeat what they do. Each counts its turns: a step of a
/// ring, a loop of a pipeline. Parts that hand data to each other are one lane, in which nobody can
/// go faster than the others for long. Windows are so many turns of the first counter. When the
/// turns of every lane, and of all parts within it, were the same in three windows of the same
/// length, it repeats. Windows grow as long as they differ. Pure logic.
class TurnLog {
public:
    /// Windows are multiples of `cycle` turns, up to `most` turns.
    TurnLog(std::uint64_t cycle, std::uint64_t most) : cycle_(cycle), window_(cycle), most_(most) {}

    void set_listener(TurnListener* listener) { listener_ = listener; }
    /// Adds a part. \returns its number.
    std::uint32_t add(std::uint32_t lane);
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
    /// Ends a window at `now` (ps) and begins the next one. \returns what repeats itself, if
    /// anything does.
    std::optional<Repetition> close_window(std::uint64_t now);
    /// So many periods of what repeats itself were left out.
    void skipped(std::uint64_t periods) { trusted_ += periods; }

    /// The listener was told, and the window is not closed yet.
    [[nodiscard]] bool window_over() const { return window_end_ == UINT64_MAX; }
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
    struct Lane {
        double turns = 0;   ///< in a window, the mean of its counters
        double spread = 0;  ///< of its counters
    };
    struct Window {
        std::uint64_t length = 0;  ///< ps
        std::vector<Lane> lanes;
    };
    [[nodiscard]] static double progress(const Counter& counter, std::uint64_t now);
    [[nodiscard]] Window measure(std::uint64_t now);
    /// Windows until the parts of a lane have drifted apart.
    [[nodiscard]] static std::uint64_t steady_for(const Window& window);
    [[nodiscard]] static bool alike(const Window& a, const Window& b);
    void restart(std::uint64_t now);

    std::uint64_t cycle_;
    std::uint64_t window_;
    std::uint64_t most_;
    std::uint64_t window_end_ = 1;  ///< turns of the first counter
    TurnListener* listener_ = nullptr;
    std::uint32_t lanes_ = 0;
    std::vector<Counter> counters_;
    std::vector<double> begun_;     ///< progress of each at the begin of the window
    std::uint64_t begun_at_ = 0;    ///< ps; 0: no window has begun
    std::array<Window, 2> before_;  ///< the window before this one, and before that
    std::uint32_t differed_ = 0;    ///< windows of this length
    std::uint64_t trusted_ = 0;     ///< periods seen or left out since it repeats
};

}  // namespace switchfold
