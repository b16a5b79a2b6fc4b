// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/slurm.h"

#include "core/error.h"
#include "sim/output/writers.h"
#include "sim/sweep/command.h"
#include "sim/sweep/folder_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <system_error>
#include <thread>

namespace switchfold {

namespace {

namespace fs = std::filesystem;

/// Slurm's default MaxArraySize is 1001.
constexpr std::size_t kMostTasks = 1000;

std::string one_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw IoError(folder.string(), error.value(), "create the folder");
}

void write_file(const fs::path& path, const std::string& text) {
    TextFile file(path);
    file.write(text);
    file.close();
}

class Cluster {
public:
    Cluster(const SweepPlan& plan, const SweepOptions& options, const SlurmOptions& slurm) :
        plan_(plan),
        options_(options),
        slurm_(slurm),
        lock_(options.out),
        database_(options.out / kDatabaseName, plan),
        jobs_folder_(fs::absolute(options.out) / "slurm") {}

    SweepSummary run() {
        take_leftovers();
        const std::set<std::string> done = database_.done();
        if (!options_.only)
            database_.forget_failed();
        told_.runs = missing_points(plan_, done, options_).size();
        for (;;) {
            const std::set<std::string> ended = database_.ended();
            const std::vector<const SweepPoint*> missing = missing_points(plan_, ended, options_);
            if (missing.empty() || !run_round(missing, ended.size()))
                break;
        }
        const std::uint64_t ran = database_.ended().size() - done.size();
        SweepSummary summary = summarise(database_, options_, ran);
        summary.kept = done.size();
        return summary;
    }

private:
    void log(const std::string& text) const {
        if (options_.log)
            options_.log(text);
    }

    /// Cancels jobs of a killed sweep and imports their results.
    void take_leftovers() {
        std::error_code ignored;
        for (const fs::directory_entry& round : fs::directory_iterator(jobs_folder_, ignored)) {
            std::string id;
            std::ifstream(round.path() / "job") >> id;
            if (!id.empty())
                static_cast<void>(run_command({"scancel", id}));
            merge(round.path());
        }
        fs::remove_all(jobs_folder_, ignored);
    }

    /// \returns whether it produced any results.
    bool run_round(const std::vector<const SweepPoint*>& missing, std::size_t before) {
        const fs::path folder = jobs_folder_ / fmt::format("round-{}", ++round_);
        make_folder(folder);
        const std::size_t tasks =
            std::min({missing.size(), std::size_t{std::max(1U, slurm_.tasks)}, kMostTasks});
        // Dealt round-robin: neighbouring points take about equally long, so tasks are balanced.
        std::vector<std::string> shares(tasks);
        for (std::size_t i = 0; i < missing.size(); ++i)
            shares[i % tasks] += missing[i]->digest + "\n";
        for (std::size_t i = 0; i < tasks; ++i)
            write_file(folder / fmt::format("{}.points", i), shares[i]);
        const std::string id = submit(folder, tasks);
        log(fmt::format("submitted job {}: {} points in {} tasks", id, missing.size(), tasks));
        while (is_queued(id)) {
            merge(folder);
            tell();
            std::this_thread::sleep_for(slurm_.poll);
        }
        merge(folder);
        tell();
        std::error_code ignored;
        if (const std::size_t now = database_.ended().size(); now > before) {
            if (now >= before + missing.size())
                fs::remove_all(folder, ignored);
            return true;
        }
        throw ConfigError(
            "--executor", "",
            fmt::format(
                "job {} ended and brought no result; expected its tasks to run: see {}", id,
                (folder / "*.log").string()));
    }

    std::string submit(const fs::path& folder, std::size_t tasks) {
        write_file(folder / "job.sh", script(folder));
        std::vector<std::string> words{
            "sbatch",
            "--parsable",
            fmt::format("--job-name={}", plan_.name),
            fmt::format("--array=0-{}", tasks - 1),
            fmt::format("--cpus-per-task={}", options_.jobs),
            fmt::format("--output={}", (folder / "%a.log").string())};
        words.insert(words.end(), slurm_.arguments.begin(), slurm_.arguments.end());
        words.push_back((folder / "job.sh").string());
        const CommandOutput said = run_command(words);
        if (said.status == kNoProgram)
            throw ConfigError(
                "--executor", "",
                "slurm needs sbatch, which is not installed; expected a cluster's login node, or "
                "--executor local");
        if (said.status != 0)
            throw ConfigError(
                "--executor", "",
                fmt::format("sbatch refused: {}; expected a job", one_line(said.text)));
        // "123" or "123;cluster"
        const std::string id = said.text.substr(0, said.text.find_first_of(";\n"));
        write_file(folder / "job", id + "\n");
        return id;
    }

    [[nodiscard]] std::string script(const fs::path& folder) const {
        std::string text = "#!/usr/bin/env bash\nset -euo pipefail\n";
        if (!slurm_.prologue.empty())
            text += fmt::format("source {}\n", shell_word(fs::absolute(slurm_.prologue).string()));
        std::vector<std::string> command = slurm_.command;
        if (command.empty())
            command = {"sweep", fs::absolute(plan_.files.sweep).string()};
        for (std::string& word : command)
            word = shell_word(word);
        const std::string here = shell_word(folder.string());
        text += fmt::format(
            "exec {} --quiet {} --out {}/part-\"$SLURM_ARRAY_TASK_ID\" --points "
            "{}/\"$SLURM_ARRAY_TASK_ID\".points --jobs {}",
            shell_word(slurm_.program.string()), fmt::join(command, " "), here, here,
            options_.jobs);
        if (options_.worker_bytes > 0)
            text += fmt::format(" --memory '{} B'", options_.worker_bytes);
        return text + "\n";
    }

    /// Temporary failures of squeue do not count as the end of the job.
    bool is_queued(const std::string& id) {
        const CommandOutput said = run_command({"squeue", "--noheader", "--jobs", id});
        if (said.status == 0) {
            silent_ = 0;
            return !one_line(said.text).empty();
        }
        if (said.text.find("Invalid job id") != std::string::npos)
            return false;
        constexpr unsigned kPatience = 30;
        if (++silent_ > kPatience)
            throw ConfigError(
                "--executor", "",
                fmt::format(
                    "squeue does not answer: {}; run the same command again to resume",
                    one_line(said.text)));
        return true;
    }

    void merge(const fs::path& folder) {
        std::error_code ignored;
        for (const fs::directory_entry& part : fs::directory_iterator(folder, ignored))
            if (fs::exists(part.path() / kDatabaseName, ignored))
                database_.merge(part.path() / kDatabaseName);
    }

    void tell() {
        if (!options_.progress)
            return;
        const SweepCount count = database_.count();
        told_.failed = count.failed;
        told_.ended = static_cast<double>(told_.runs) - static_cast<double>(missing_now());
        told_.elapsed_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        options_.progress(told_);
    }
    [[nodiscard]] std::size_t missing_now() {
        return missing_points(plan_, database_.ended(), options_).size();
    }

    const SweepPlan& plan_;
    const SweepOptions& options_;
    const SlurmOptions& slurm_;
    FolderLock lock_;
    SweepDatabase database_;
    fs::path jobs_folder_;
    SweepProgress told_;
    unsigned round_ = 0;
    unsigned silent_ = 0;  ///< consecutive failures of squeue
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

SweepSummary
run_sweep_by_slurm(const SweepPlan& plan, const SweepOptions& options, const SlurmOptions& slurm) {
    return Cluster(plan, options, slurm).run();
}

}  // namespace switchfold
