// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workers.h"

#include "sim/core/error.h"
#include "sim/run/outcome_codec.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace switchfold {

namespace {

/// What a worker sends: frames of a kind, a length, and that many bytes.
enum class Frame : std::uint8_t { kProgress, kOutcome, kBadInput, kUnfinished, kInternal };

struct ProgressFrame {
    double share;
    std::uint64_t events;
};

void write_all(int file, const void* data, std::size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t done = ::write(file, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            _exit(1);  // the parent is gone: nobody to tell
        at += done;
        size -= static_cast<std::size_t>(done);
    }
}

void send(int file, Frame kind, const void* data, std::size_t size) {
    const auto length = static_cast<std::uint64_t>(size);
    write_all(file, &kind, sizeof kind);
    write_all(file, &length, sizeof length);
    write_all(file, data, size);
}

void send(int file, Frame kind, const std::string& text) {
    send(file, kind, text.data(), text.size());
}

[[noreturn]] void work(const Task& task, int file) {
    SimulateOptions options = task.options;
    options.progress = [file](double share, std::uint64_t events) {
        static thread_local auto last = std::chrono::steady_clock::now();
        const auto now = std::chrono::steady_clock::now();
        if (now - last > std::chrono::milliseconds(100)) {
            last = now;
            const ProgressFrame frame{share, events};
            send(file, Frame::kProgress, &frame, sizeof frame);
        }
        return true;
    };
    try {
        const std::vector<std::byte> bytes = encode(task.run(options));
        send(file, Frame::kOutcome, bytes.data(), bytes.size());
    } catch (const SimulationError& error) {
        send(file, Frame::kUnfinished, error.what());
    } catch (const ConfigError& error) {
        send(file, Frame::kBadInput, error.what());
    } catch (const std::exception& error) {
        send(file, Frame::kInternal, error.what());
    }
    // Not exit(): the parent's buffers and destructors are not ours.
    _exit(0);
}

/// An error of a worker, with the text it was born with.
class WorkerSimulationError : public SimulationError {
public:
    explicit WorkerSimulationError(std::string text) :
        SimulationError("worker", Time(), ""), text_(std::move(text)) {}
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

struct Worker {
    std::size_t task = 0;
    pid_t pid = -1;
    int file = -1;
    std::vector<std::byte> received;
    double share = 0;
    std::uint64_t events = 0;
    bool whole = false;
};

class Pool {
public:
    Pool(
        std::span<const Task> tasks,
        unsigned jobs,
        const std::function<void(const WorkerProgress&)>& progress) :
        tasks_(tasks), jobs_(jobs == 0 ? 1 : jobs), progress_(progress), outcomes_(tasks.size()) {}

    ~Pool() {
        for (const Worker& worker : workers_) {
            ::kill(worker.pid, SIGKILL);
            ::close(worker.file);
            ::waitpid(worker.pid, nullptr, 0);
        }
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    Pool(Pool&&) = delete;
    Pool& operator=(Pool&&) = delete;

    std::vector<Outcome> run() {
        while (next_ < tasks_.size() || !workers_.empty()) {
            while (next_ < tasks_.size() && workers_.size() < jobs_)
                launch();
            wait();
            report();
        }
        return std::move(outcomes_);
    }

private:
    void launch() {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0)
            throw IoError("pipe", errno, "open a pipe to a worker");
        const pid_t pid = ::fork();
        if (pid < 0)
            throw IoError("fork", errno, "start a worker");
        if (pid == 0) {
            ::close(ends[0]);
            work(tasks_[next_], ends[1]);
        }
        ::close(ends[1]);
        Worker worker;
        worker.task = next_++;
        worker.pid = pid;
        worker.file = ends[0];
        workers_.push_back(std::move(worker));
    }

    void wait() {
        std::vector<pollfd> files;
        for (const Worker& worker : workers_)
            files.push_back({worker.file, POLLIN, 0});
        constexpr int kTickMs = 100;
        if (::poll(files.data(), files.size(), kTickMs) < 0 && errno != EINTR)
            throw IoError("poll", errno, "wait for workers");
        for (std::size_t i = files.size(); i-- > 0;)
            if (files[i].revents != 0 && !read_some(workers_[i]))
                finish(i);
    }

    /// \returns false at the end of the worker's words.
    bool read_some(Worker& worker) {
        std::array<std::byte, 1U << 16U> block{};
        const ssize_t count = ::read(worker.file, block.data(), block.size());
        if (count < 0)
            return errno == EINTR;
        if (count == 0)
            return false;
        worker.received.insert(worker.received.end(), block.begin(), block.begin() + count);
        parse(worker);
        return true;
    }

    void parse(Worker& worker) {
        constexpr std::size_t kHeader = sizeof(Frame) + sizeof(std::uint64_t);
        while (worker.received.size() >= kHeader) {
            const auto kind = static_cast<Frame>(worker.received[0]);
            std::uint64_t length = 0;
            std::memcpy(&length, worker.received.data() + sizeof(Frame), sizeof length);
            if (worker.received.size() < kHeader + length)
                return;
            const std::span<const std::byte> body(worker.received.data() + kHeader, length);
            const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
            switch (kind) {
            case Frame::kProgress: {
                ProgressFrame frame{};
                std::memcpy(&frame, body.data(), sizeof frame);
                worker.share = frame.share;
                worker.events = frame.events;
                break;
            }
            case Frame::kOutcome:
                outcomes_[worker.task] = decode(body);
                worker.whole = true;
                break;
            case Frame::kBadInput:
                throw ConfigError(tasks_[worker.task].label, "", text);
            case Frame::kUnfinished:
                throw WorkerSimulationError(tasks_[worker.task].label + ": " + text);
            case Frame::kInternal:
                throw std::logic_error(tasks_[worker.task].label + ": " + text);
            }
            worker.received.erase(
                worker.received.begin(),
                worker.received.begin() + static_cast<std::ptrdiff_t>(kHeader + length));
        }
    }

    void finish(std::size_t index) {
        Worker worker = std::move(workers_[index]);
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
        ::close(worker.file);
        int status = 0;
        ::waitpid(worker.pid, &status, 0);
        if (!worker.whole)
            throw WorkerSimulationError(fmt::format(
                "{}: the worker process ended before its result ({})",
                tasks_[worker.task].label,
                WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                    : fmt::format("status {}", WEXITSTATUS(status))));
        ++done_;
        done_events_ += outcomes_[worker.task].events;
    }

    void report() {
        if (!progress_)
            return;
        WorkerProgress p;
        p.share = static_cast<double>(done_);
        p.events = done_events_;
        for (const Worker& worker : workers_) {
            p.share += worker.share;
            p.events += worker.events;
        }
        p.share /= static_cast<double>(tasks_.size());
        p.elapsed_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        progress_(p);
    }

    std::span<const Task> tasks_;
    unsigned jobs_;
    const std::function<void(const WorkerProgress&)>& progress_;
    std::vector<Outcome> outcomes_;
    std::vector<Worker> workers_;
    std::size_t next_ = 0;
    std::size_t done_ = 0;
    std::uint64_t done_events_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<Outcome> run_tasks(
    std::span<const Task> tasks,
    unsigned jobs,
    const std::function<void(const WorkerProgress&)>& progress) {
    return Pool(tasks, jobs, progress).run();
}

}  // namespace switchfold
