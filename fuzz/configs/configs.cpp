// SPDX-License-Identifier: Apache-2.0
#include "fuzz/configs/configs.h"

#include "core/error.h"
#include "core/json.h"
#include "core/params_reader.h"
#include "sim/config/host_costs_params.h"
#include "sim/config/launch_params.h"
#include "sim/config/load.h"
#include "sim/energy/power_params.h"
#include "sim/sweep/plan.h"

#include <filesystem>

namespace switchfold::fuzz {

namespace {

/// Where a file of configs/ would stand, so that what it names is found.
std::filesystem::path place_of(std::string_view folder) {
    return std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs" / folder / "fuzzed.json";
}

void read_system(const Json& json) {
    const auto file = place_of("systems");
    const OrderedJson whole = system_json(read_params<SystemParams>(json, file));
    const auto again = read_params<SystemParams>(parse_json(whole.dump(), "written"), file);
    SWITCHFOLD_CHECK(system_json(again) == whole, "a system changed when it was written out");
}

void read_experiment(const Json& json) {
    const auto file = place_of("experiments");
    const LoadedExperiment loaded = load_experiment(json, file, {});
    const LoadedExperiment again =
        load_experiment(parse_json(loaded.effective_config, "written"), file, {});
    SWITCHFOLD_CHECK(
        again.digest == loaded.digest, "an experiment changed when it was written out: {}",
        loaded.effective_config);
}

/// Every point of a sweep is an experiment of its own: a few are enough.
void read_sweep(const Json& json) {
    constexpr std::size_t kFew = 16;
    static_cast<void>(plan_sweep(json, place_of("sweeps"), kFew));
}

/// A file of one struct.
template <class P>
void read_parameters(const Json& json, const std::string& kind) {
    const auto file = place_of(folder_of(kind));
    const OrderedJson whole = write_value(read_params<P>(json, file));
    const auto again = read_params<P>(parse_json(whole.dump(), "written"), file);
    SWITCHFOLD_CHECK(write_value(again) == whole, "{} changed when written out", kind);
}

}  // namespace

std::string folder_of(std::string_view kind) {
    const std::string name(kind);
    return name.ends_with('s') || kind == "power" ? name : name + "s";
}

bool try_config(std::string_view kind, std::string_view bytes) {
    try {
        const Json json = parse_json(bytes, "fuzzed.json");
        if (kind == "system")
            read_system(json);
        else if (kind == "experiment")
            read_experiment(json);
        else if (kind == "sweep")
            read_sweep(json);
        else if (kind == "costs")
            read_parameters<HostCostsParams>(json, "costs");
        else if (kind == "launches")
            read_parameters<LaunchParams>(json, "launches");
        else if (kind == "power")
            read_parameters<PowerParams>(json, "power");
        else
            SWITCHFOLD_CHECK(false, "no configuration is called {}", kind);
        return true;
    } catch (const ConfigError&) {
    } catch (const IoError&) {
    }
    return false;
}

}  // namespace switchfold::fuzz
