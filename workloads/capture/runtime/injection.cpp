// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/runtime/cupti_module.h"
#include "workloads/capture/runtime/process.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include <dlfcn.h>

// The entry points that CUDA (CUDA_INJECTION64_PATH) and NVTX (NVTX_INJECTION64_PATH) call when
// they start. Errors are reported on standard error, and the program continues.
namespace switchfold::capture {

namespace {

void complain(const std::string& what) {
    std::fprintf(stderr, "switchfold-capture: %s; kernels are not captured\n", what.c_str());
}

/// The folder of the library that contains this function.
std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0)
        return ".";
    const std::string path = info.dli_fname;
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

void* load_module() {
    const std::string path = own_folder() + "/" + std::string(kCuptiLibrary);
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    // The module uses a CUPTI that the program has already loaded, as PyTorch does. The given path
    // is used only if the loader knows none: two copies of CUPTI in a process disturb each other.
    const char* const cupti = std::getenv(kCuptiVariable);
    if (module == nullptr && cupti != nullptr && dlopen(cupti, RTLD_NOW | RTLD_GLOBAL) != nullptr)
        module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr)
        complain(dlerror());
    return module;
}

void* cupti_module() {
    static void* const module = load_module();
    return module;
}

void detach_at_exit() {
    if (const auto detach = reinterpret_cast<DetachFunction>(dlsym(cupti_module(), kDetachSymbol)))
        detach();
}

void attach() {
    Recorder* const recorder = process_recorder();
    if (recorder == nullptr || cupti_module() == nullptr)
        return;
    const auto start = reinterpret_cast<AttachFunction>(dlsym(cupti_module(), kAttachSymbol));
    if (start == nullptr) {
        complain(dlerror());
        return;
    }
    const char* const counters = std::getenv(kCountersVariable);
    const char* const error =
        start(recorder, counters != nullptr && std::string_view(counters) == "1");
    if (error != nullptr) {
        complain(error);
        recorder->add(Lost{0, error});
        return;
    }
    std::atexit(detach_at_exit);  // registered after the recorder's handler, hence runs before it
}

}  // namespace

}  // namespace switchfold::capture

extern "C" {

__attribute__((visibility("default"))) int InitializeInjection();
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* table);

/// CUDA calls it when the program's first CUDA call initialises the driver. Always returns 1: any
/// other value could make that call fail.
int InitializeInjection() {
    static std::once_flag once;
    std::call_once(once, switchfold::capture::attach);
    return 1;
}

/// NVTX calls it at the program's first range. CUPTI holds the handler and may not be loaded yet.
int InitializeInjectionNvtx2(void* table) {
    using Handler = int (*)(void*);
    if (switchfold::capture::process_recorder() == nullptr ||
        switchfold::capture::cupti_module() == nullptr)
        return 0;
    const auto handler = reinterpret_cast<Handler>(
        dlsym(switchfold::capture::cupti_module(), "InitializeInjectionNvtx2"));
    return handler == nullptr ? 0 : handler(table);
}

}  // extern "C"
