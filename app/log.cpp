// SPDX-License-Identifier: Apache-2.0
#include "app/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace switchfold {

Log::Log() :
    logger_(std::make_shared<spdlog::logger>(
        "switchfold", std::make_shared<spdlog::sinks::stderr_color_sink_st>())) {
    logger_->set_pattern("%T.%e %v");
    logger_->set_level(spdlog::level::warn);
}

void Log::add_options(CLI::App& app) {
    CLI::Option* verbose = app.add_flag_callback(
        "-v,--verbose", [this] { logger_->set_level(spdlog::level::info); },
        "Tell on stderr what is read, simulated and written");
    app.add_flag("-q,--quiet", quiet_, "No progress on stderr, only errors")->excludes(verbose);
}

void Log::step(const std::string& text) const {
    logger_->info(text);
}

}  // namespace switchfold
