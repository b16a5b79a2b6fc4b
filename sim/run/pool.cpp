// SPDX-License-Identifier: Apache-2.0
#include "sim/run/pool.h"

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
enum class Frame : std::uint8_t { kProgress, kResult, kBadInput, kUnfinished, kInternal };

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

Frame frame_of(const std::exception& error) {
    switch (exit_code(error)) {
    case ExitCode::kBadInput:
        return Frame::kBadInput;
    case ExitCode::kUnfinished:
        return Frame::kUnfinished;
    default:
        return Frame::kInternal;
    }
}

[[noreturn]] void work(const Job& job, int file) {
    const JobProgress report = [file, last = std::chrono::steady_clock::now()](
                                   double share, std::uint64_t events) mutable {
        const auto now = std::chrono::steady_clock::now();
        // The last word is never dropped.
        if (share < 1 && now - last <= std::chrono::milliseconds(100))
            return;
        last = now;
        const ProgressFrame frame{share, events};
        send(file, Frame::kProgress, &frame, sizeof frame);
    };
    try {
        send(file, Frame::kResult, job.run(report));
    } catch (const std::exception& error) {
        send(file, frame_of(error), error.what());
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
    std::size_t job = 0;
    pid_t pid = -1;
    int file = -1;
    std::string received;
    double share = 0;
    std::uint64_t events = 0;
    bool whole = false;
    JobResult result;
};

class Pool {
public:
    Pool(
        std::span<const Job> jobs,
        unsigned processes,
        const std::function<void(const WorkerProgress&)>& progress,
        const std::function<void(std::size_t, JobResult)>& ended) :
        jobs_(jobs),
        processes_(processes == 0 ? 1 : processes),
        progress_(progress),
        ended_(ended) {}

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

    void run() {
        while (next_ < jobs_.size() || !workers_.empty()) {
            while (next_ < jobs_.size() && workers_.size() < processes_)
                launch();
            wait();
            report();
        }
    }

private:
    void launch() {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0)
            throw IoError("pipe", errno, "open a pipe to a worker");
        const pid_t pid = ::fork();
        if (pid < 0) {
            const int why = errno;
            ::close(ends[0]);
            ::close(ends[1]);
            throw IoError("fork", why, "start a worker");
        }
        if (pid == 0) {
            ::close(ends[0]);
            work(jobs_[next_], ends[1]);
        }
        ::close(ends[1]);
        Worker worker;
        worker.job = next_++;
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
        std::array<char, 1U << 16U> block{};
        const ssize_t count = ::read(worker.file, block.data(), block.size());
        if (count < 0)
            return errno == EINTR;
        if (count == 0)
            return false;
        worker.received.append(block.data(), static_cast<std::size_t>(count));
        parse(worker);
        return true;
    }

    static void parse(Worker& worker) {
        constexpr std::size_t kHeader = sizeof(Frame) + sizeof(std::uint64_t);
        while (worker.received.size() >= kHeader) {
            const auto kind = static_cast<Frame>(worker.received[0]);
            std::uint64_t length = 0;
            std::memcpy(&length, worker.received.data() + sizeof(Frame), sizeof length);
            if (worker.received.size() - kHeader < length)
                return;
            if (kind == Frame::kProgress) {
                ProgressFrame frame{};
                std::memcpy(&frame, worker.received.data() + kHeader, sizeof frame);
                worker.share = frame.share;
                worker.events = frame.events;
            } else {
                take_result(worker, kind, worker.received.substr(kHeader, length));
            }
            worker.received.erase(0, kHeader + length);
        }
    }

    static void take_result(Worker& worker, Frame kind, std::string body) {
        worker.whole = true;
        switch (kind) {
        case Frame::kBadInput:
            worker.result.code = ExitCode::kBadInput;
            break;
        case Frame::kUnfinished:
            worker.result.code = ExitCode::kUnfinished;
            break;
        case Frame::kInternal:
            worker.result.code = ExitCode::kInternal;
            break;
        default:
            worker.result.bytes = std::move(body);
            return;
        }
        worker.result.error = std::move(body);
    }

    void finish(std::size_t index) {
        Worker worker = std::move(workers_[index]);
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
        ::close(worker.file);
        int status = 0;
        ::waitpid(worker.pid, &status, 0);
        if (!worker.whole) {
            worker.result.code = ExitCode::kUnfinished;
            worker.result.error = fmt::format(
                "the worker process ended before its result ({})",
                WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                    : fmt::format("status {}", WEXITSTATUS(status)));
        }
        ++done_;
        done_events_ += worker.events;
        ended_(worker.job, std::move(worker.result));
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
        p.share /= static_cast<double>(jobs_.size());
        p.elapsed_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        progress_(p);
    }

    std::span<const Job> jobs_;
    unsigned processes_;
    const std::function<void(const WorkerProgress&)>& progress_;
    const std::function<void(std::size_t, JobResult)>& ended_;
    std::vector<Worker> workers_;
    std::size_t next_ = 0;
    std::size_t done_ = 0;
    std::uint64_t done_events_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

void run_jobs(
    std::span<const Job> jobs,
    unsigned processes,
    const std::function<void(const WorkerProgress&)>& progress,
    const std::function<void(std::size_t job, JobResult result)>& ended) {
    Pool(jobs, processes, progress, ended).run();
}

void rethrow(const Job& job, const JobResult& result) {
    switch (result.code) {
    case ExitCode::kBadInput:
        throw ConfigError(job.label, "", result.error);
    case ExitCode::kUnfinished:
        throw WorkerSimulationError(job.label + ": " + result.error);
    default:
        throw std::logic_error(job.label + ": " + result.error);
    }
}

}  // namespace switchfold
