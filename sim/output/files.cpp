// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/output/writers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace switchfold {

namespace {

constexpr const char* kLast = "result.json";
constexpr const char* kFolder = "rank-timelines";
/// Files of an earlier run that may lie beside result.json.
constexpr std::array kCompanions{
    "causes.csv",  "changes.csv",  "communication.csv", "counters.csv",     "effective-config.json",
    "kernels.csv", "learning.csv", "links.json",        "members.csv",      "memory.csv",
    "passes.csv",  kFolder,        "report.html",       "timeline.json.gz", "versions.csv"};

}  // namespace

TextFile::TextFile(std::filesystem::path path) :
    path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
    if (!file_)
        throw IoError(path_.string(), errno, "write the file");
}

void TextFile::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
        throw IoError(path_.string(), errno, "write the file");
}

void TextFile::close() {
    std::FILE* file = file_.release();
    if (std::fclose(file) != 0)
        throw IoError(path_.string(), errno, "write the file");
}

void make_folder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw IoError(folder.string(), error.value(), "create the folder");
}

ResultFolder::ResultFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    make_folder(folder_);
    // A separate temporary folder: two runs into the same folder must not mix their files.
    partial_.emplace(folder_);
    std::error_code error;
    std::filesystem::remove(folder_ / kLast, error);
    if (error)
        throw IoError((folder_ / kLast).string(), error.value(), "remove the old result");
}

std::filesystem::path ResultFolder::stage(const std::string& name) {
    // One that is not known would outlive its run.
    SWITCHFOLD_CHECK(
        name == kLast ||
            std::find(kCompanions.begin(), kCompanions.end(), name) != kCompanions.end(),
        "no run writes {}", name);
    staged_.push_back(name);
    return partial_->path() / name;
}

std::filesystem::path ResultFolder::stage_folder(const std::string& name) {
    std::filesystem::path folder = stage(name);
    make_folder(folder);
    return folder;
}

void ResultFolder::write(const std::string& name, std::string_view text) {
    TextFile file(stage(name));
    file.write(text);
    file.close();
}

void ResultFolder::commit() {
    std::stable_partition(
        staged_.begin(), staged_.end(), [](const std::string& name) { return name != kLast; });
    std::error_code error;
    for (const char* name : kCompanions) {
        const std::filesystem::path old = folder_ / name;
        // A folder is not replaced by a rename. Any other is none of ours.
        if (std::string_view(name) == kFolder)
            std::filesystem::remove_all(old, error);
        else if (std::find(staged_.begin(), staged_.end(), name) == staged_.end())
            std::filesystem::remove(old, error);
        if (error)
            throw IoError(old.string(), error.value(), "remove the old file");
    }
    for (const std::string& name : staged_) {
        std::filesystem::rename(partial_->path() / name, folder_ / name, error);
        if (error)
            throw IoError((folder_ / name).string(), error.value(), "rename the finished file");
    }
    staged_.clear();
}

}  // namespace switchfold
