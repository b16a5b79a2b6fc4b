// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/runtime/recorder.h"

#include "workloads/capture/format/frame.h"
#include "workloads/capture/runtime/clock.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

namespace switchfold::capture {

namespace {

std::string host_name() {
    char name[256] = {};
    return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

/// The command line, with arguments separated by spaces.
std::string command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::replace(text.begin(), text.end(), '\0', ' ');
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text;
}

int create(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
}

void complain(const std::string& path, const char* what) {
    std::fprintf(
        stderr, "switchfold-capture: %s: %s: %s\n", path.c_str(), what, std::strerror(errno));
}

}  // namespace

std::uint32_t thread_id() {
    return static_cast<std::uint32_t>(gettid());
}

Recorder::Recorder(int file, std::string path) :
    file_(file), path_(std::move(path)), process_(getpid()) {}

std::unique_ptr<Recorder> Recorder::open(const Settings& settings) {
    std::string name = file_name(settings);
    std::string path = settings.directory + "/" + name;
    int file = create(path);
    if (file < 0 && errno == EEXIST) {
        name.insert(name.find('.'), "-" + std::to_string(getpid()));
        path = settings.directory + "/" + name;
        file = create(path);
    }
    if (file < 0) {
        complain(path, "cannot be made; nothing is captured");
        return nullptr;
    }
    std::unique_ptr<Recorder> recorder(new Recorder(file, path));
    Session session;
    session.rank = settings.rank;
    session.world_size = settings.world_size;
    session.process = static_cast<std::uint32_t>(getpid());
    session.clock_ns = clock_ns();
    session.unix_ns = now_ns(CLOCK_REALTIME);
    session.counters = settings.counters;
    session.host = host_name();
    session.command = command_line();
    std::string first(kMagic);
    append_frame(first, session);
    recorder->write(first);
    return recorder;
}

Recorder::~Recorder() {
    ::close(file_);
}

bool Recorder::writes() const {
    return open_.load() && getpid() == process_;
}

std::uint32_t Recorder::name(std::string_view text) {
    // A forked child must not lock the mutexes: another thread may have held them at the fork.
    if (!writes())
        return 0;
    const std::lock_guard lock(names_mutex_);
    const auto found = names_.find(text);
    if (found != names_.end())
        return found->second;
    const auto id = static_cast<std::uint32_t>(names_.size() + 1);
    names_.emplace(text, id);
    add(Name{id, std::string(text)});
    return id;
}

void Recorder::write(std::string_view frames) {
    if (!writes())
        return;
    const std::lock_guard lock(file_mutex_);
    while (!frames.empty() && open_.load()) {
        const ssize_t written = ::write(file_, frames.data(), frames.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            open_ = false;
            complain(path_, "cannot be written; the capture ends here");
            return;
        }
        frames.remove_prefix(static_cast<std::size_t>(written));
    }
}

void Recorder::add(const Record& record) {
    std::string frame;
    append_frame(frame, record);
    write(frame);
}

void Recorder::finish() {
    if (!writes())
        return;
    add(End{clock_ns()});
    open_ = false;
}

}  // namespace switchfold::capture
