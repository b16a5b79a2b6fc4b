// SPDX-License-Identifier: Apache-2.0
#include "sim/core/error.h"
#include "sim/output/writers.h"

#include <cerrno>
#include <system_error>

namespace switchfold {

namespace {

constexpr const char* kPrefix = ".partial-";

std::filesystem::path partial(const std::filesystem::path& folder, const std::string& name) {
    return folder / (kPrefix + name);
}

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

ResultFolder::ResultFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error)
        throw IoError(folder_.string(), error.value(), "create the folder");
    std::filesystem::remove(folder_ / "result.json", error);
    if (error)
        throw IoError((folder_ / "result.json").string(), error.value(), "remove the old result");
}

ResultFolder::~ResultFolder() {
    std::error_code ignored;
    for (const std::string& name : staged_)
        std::filesystem::remove(partial(folder_, name), ignored);
}

std::filesystem::path ResultFolder::stage(const std::string& name) {
    staged_.push_back(name);
    return partial(folder_, name);
}

void ResultFolder::write(const std::string& name, std::string_view text) {
    TextFile file(stage(name));
    file.write(text);
    file.close();
}

void ResultFolder::commit() {
    const auto publish = [&](const std::string& name) {
        std::error_code error;
        std::filesystem::rename(partial(folder_, name), folder_ / name, error);
        if (error)
            throw IoError((folder_ / name).string(), error.value(), "rename the finished file");
    };
    for (const std::string& name : staged_)
        if (name != "result.json")
            publish(name);
    for (const std::string& name : staged_)
        if (name == "result.json")
            publish(name);
    staged_.clear();
}

}  // namespace switchfold
