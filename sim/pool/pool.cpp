// SPDX-License-Identifier: Apache-2.0
#include "sim/pool/pool.h"

#include "core/huge_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace switchfold {

namespace {

/// Messages of a worker: frames of a kind, a length, and that many bytes.
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
            _exit(1);  // the parent is gone
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

void work(const Job& job, std::uint64_t most_bytes, int file) {
    const JobProgress report = [file, last = std::chrono::steady_clock::now()](
                                   double share, std::uint64_t events) mutable {
        const auto now = std::chrono::steady_clock::now();
        // The final report is never dropped.
        if (share < 1 && now - last <= std::chrono::milliseconds(100))
            return;
        last = now;
        const ProgressFrame frame{share, events};
        send(file, Frame::kProgress, &frame, sizeof frame);
    };
    try {
        send(file, Frame::kResult, job.run(report));
    } catch (const std::bad_alloc&) {
        constexpr std::uint64_t kMebi = 1U << 20U;
        send(
            file, Frame::kUnfinished,
            most_bytes == 0
                ? std::string("ran out of memory")
                : fmt::format("needs more than the {} MiB that it may have", most_bytes / kMebi));
    } catch (const std::exception& error) {
        send(file, frame_of(error), error.what());
    }
}

// AddressSanitizer's shadow counts as data and takes terabytes.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCanLimit = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kCanLimit = false;
#else
constexpr bool kCanLimit = true;
#endif
#else
constexpr bool kCanLimit = true;
#endif

/// Sets a worker's limits before anything runs in it.
void confine(const PoolOptions& options, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        _exit(1);  // the parent died before prctl
    if (kCanLimit && options.most_bytes > 0) {
        const rlimit limit{options.most_bytes, options.most_bytes};
        give_back_reserve();
        ::setrlimit(RLIMIT_DATA, &limit);
        use_huge_pages();
    }
    if (options.most_seconds > 0) {
        const rlimit limit{options.most_seconds, options.most_seconds + 1};
        ::setrlimit(RLIMIT_CPU, &limit);
    }
}

/// Reads the number of the next job. \returns false if there is none.
bool next_job(int orders, std::size_t& job) {
    ssize_t count = 0;
    do
        count = ::read(orders, &job, sizeof job);
    while (count < 0 && errno == EINTR);
    return count == sizeof job;
}

/// A worker's error, with its original text.
class WorkerSimulationError : public SimulationError {
public:
    explicit WorkerSimulationError(std::string text) :
        SimulationError("worker", Time(), ""), text_(std::move(text)) {}
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

/// The work of all jobs, of which they tell shares.
double work_of(std::span<const Job> jobs) {
    double work = 0;
    for (const Job& job : jobs)
        work += job.work;
    return work;
}

struct Worker {
    std::size_t job = 0;
    bool busy = false;
    pid_t pid = -1;
    int orders = -1;  ///< pipe for job numbers; -1: no more jobs for it
    int file = -1;
    std::string received;
    double share = 0;
    std::uint64_t events = 0;
    JobResult result;
};

class Pool {
public:
    Pool(
        std::span<const Job> jobs, const PoolOptions& options,
        const std::function<void(const WorkerProgress&)>& progress, const JobEnded& ended) :
        jobs_(jobs), options_(options), progress_(progress), ended_(ended) {}

    ~Pool() {
        for (const Worker& worker : workers_) {
            ::kill(worker.pid, SIGKILL);
            close_orders(worker.orders);
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
            while (next_ < jobs_.size() && workers_.size() < std::max(1U, options_.processes))
                launch();
            wait();
            report();
        }
    }

private:
    void launch() {
        std::array<int, 2> results{};
        std::array<int, 2> orders{};
        if (::pipe(results.data()) != 0)
            throw IoError("pipe", errno, "open a pipe to a worker");
        if (::pipe(orders.data()) != 0) {
            const int why = errno;
            close_all(results);
            throw IoError("pipe", why, "open a pipe to a worker");
        }
        const pid_t parent = ::getpid();
        const pid_t pid = ::fork();
        if (pid < 0) {
            const int why = errno;
            close_all(results);
            close_all(orders);
            throw IoError("fork", why, "start a worker");
        }
        if (pid == 0) {
            ::close(results[0]);
            ::close(orders[1]);
            serve(parent, orders[0], results[1]);
        }
        ::close(results[1]);
        ::close(orders[0]);
        Worker worker;
        worker.pid = pid;
        worker.orders = orders[1];
        worker.file = results[0];
        workers_.push_back(std::move(worker));
        give(workers_.back());
    }

    /// Main loop of a worker.
    [[noreturn]] void serve(pid_t parent, int orders, int results) {
        confine(options_, parent);
        // Otherwise other workers' pipes would stay open after the parent's end.
        for (const Worker& other : workers_) {
            ::close(other.file);
            close_orders(other.orders);
        }
        for (std::size_t job = 0; next_job(orders, job);)
            work(jobs_[job], options_.most_bytes, results);
        // Not exit(): buffers and destructors belong to the parent.
        _exit(0);
    }

    static void close_all(const std::array<int, 2>& ends) {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    static void close_orders(int orders) {
        if (orders >= 0)
            ::close(orders);
    }

    /// Sends the next job, or the end to a worker that runs a single job or if none are left.
    void give(Worker& worker) {
        if (next_ == jobs_.size()) {
            close_orders(std::exchange(worker.orders, -1));
            return;
        }
        worker.job = next_++;
        worker.busy = true;
        worker.share = 0;
        worker.events = 0;
        worker.result = {};
        // If the worker has died, its end is handled elsewhere.
        const ssize_t written = write_order(worker.orders, worker.job);
        static_cast<void>(written);
        if (!options_.reuse)
            close_orders(std::exchange(worker.orders, -1));
    }

    static ssize_t write_order(int orders, std::size_t job) {
        // SIGPIPE from a dead worker must not end this process.
        struct sigaction ignore {};
        struct sigaction before {};
        ignore.sa_handler = SIG_IGN;
        ::sigaction(SIGPIPE, &ignore, &before);
        const ssize_t written = ::write(orders, &job, sizeof job);
        ::sigaction(SIGPIPE, &before, nullptr);
        return written;
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
                bury(i);
    }

    /// \returns false at the end of the worker's output.
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

    void parse(Worker& worker) {
        constexpr std::size_t kHeader = sizeof(Frame) + sizeof(std::uint64_t);
        while (worker.received.size() >= kHeader) {
            const auto kind = static_cast<Frame>(worker.received[0]);
            std::uint64_t length = 0;
            std::memcpy(&length, worker.received.data() + sizeof(Frame), sizeof length);
            if (worker.received.size() - kHeader < length)
                return;
            const std::string body = worker.received.substr(kHeader, length);
            worker.received.erase(0, kHeader + length);
            if (kind == Frame::kProgress) {
                ProgressFrame frame{};
                std::memcpy(&frame, body.data(), sizeof frame);
                worker.share = frame.share;
                worker.events = frame.events;
            } else {
                take_result(worker, kind, body);
                finish(worker);
                if (options_.reuse)
                    give(worker);
            }
        }
    }

    static void take_result(Worker& worker, Frame kind, std::string body) {
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

    void finish(Worker& worker) {
        worker.busy = false;
        done_work_ += jobs_[worker.job].work;
        done_events_ += worker.events;
        worker.share = 0;
        worker.events = 0;
        ended_(worker.job, std::move(worker.result));
    }

    /// Handles the end of a worker, with or without a result of its job.
    void bury(std::size_t index) {
        Worker worker = std::move(workers_[index]);
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
        ::close(worker.file);
        close_orders(worker.orders);
        int status = 0;
        ::waitpid(worker.pid, &status, 0);
        if (!worker.busy)
            return;
        worker.result.code = ExitCode::kUnfinished;
        worker.result.out_of_time =
            options_.most_seconds > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
        if (worker.result.out_of_time) {
            worker.result.error =
                fmt::format("did not end in {} s of processor time", options_.most_seconds);
            finish(worker);
            return;
        }
        worker.result.error = fmt::format(
            "the worker process ended before its result ({})",
            WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                : fmt::format("status {}", WEXITSTATUS(status)));
        finish(worker);
    }

    void report() {
        if (!progress_)
            return;
        WorkerProgress p;
        p.share = done_work_;
        p.events = done_events_;
        for (const Worker& worker : workers_) {
            p.share += worker.share * jobs_[worker.job].work;
            p.events += worker.events;
        }
        p.share /= work_;
        p.elapsed_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        progress_(p);
    }

    std::span<const Job> jobs_;
    PoolOptions options_;
    const std::function<void(const WorkerProgress&)>& progress_;
    const JobEnded& ended_;
    std::vector<Worker> workers_;
    std::size_t next_ = 0;
    double work_ = work_of(jobs_);
    double done_work_ = 0;
    std::uint64_t done_events_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

void run_jobs(
    std::span<const Job> jobs, const PoolOptions& options,
    const std::function<void(const WorkerProgress&)>& progress, const JobEnded& ended) {
    Pool(jobs, options, progress, ended).run();
}

void run_jobs_here(
    std::span<const Job> jobs, const std::function<void(const WorkerProgress&)>& progress,
    const JobEnded& ended) {
    const double work = work_of(jobs);
    double work_before = 0;
    std::uint64_t events_before = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        std::uint64_t events = 0;
        const JobProgress report = [&](double share, std::uint64_t now) {
            events = now;
            if (progress)
                progress({(work_before + share * jobs[i].work) / work, events_before + now, 0});
        };
        JobResult result;
        try {
            result.bytes = jobs[i].run(report);
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& error) {
            result.code = exit_code(error);
            result.error = error.what();
        }
        events_before += events;
        work_before += jobs[i].work;
        ended(i, std::move(result));
    }
}

void run_jobs_quietly(std::span<const Job> jobs, const JobEnded& ended) {
    run_jobs_here(jobs, {}, ended);
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
