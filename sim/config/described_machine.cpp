// SPDX-License-Identifier: Apache-2.0
#include "sim/config/described_machine.h"

#include "core/error.h"
#include "core/text_cells.h"
#include "core/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

constexpr std::string_view kSwitchClass = "0x068000";

struct Device {
    std::uint32_t id;
    std::string_view name;
};
/// NVIDIA's and AMD's PCI devices (pci.ids), by the names that torch prints.
constexpr std::array kDevices{
    Device{0x15f9, "Tesla P100-SXM2-16GB"},
    Device{0x1b38, "Tesla P40"},
    Device{0x1b06, "NVIDIA GeForce GTX 1080 Ti"},
    Device{0x1db1, "Tesla V100-SXM2-16GB"},
    Device{0x1db5, "Tesla V100-SXM2-32GB"},
    Device{0x1db4, "Tesla V100-PCIE-16GB"},
    Device{0x1db6, "Tesla V100-PCIE-32GB"},
    Device{0x1eb8, "Tesla T4"},
    Device{0x1e04, "NVIDIA GeForce RTX 2080 Ti"},
    Device{0x1e07, "NVIDIA GeForce RTX 2080 Ti"},
    Device{0x20b0, "NVIDIA A100-SXM4-40GB"},
    Device{0x20b2, "NVIDIA A100-SXM4-80GB"},
    Device{0x20f1, "NVIDIA A100-PCIE-40GB"},
    Device{0x20b5, "NVIDIA A100 80GB PCIe"},
    Device{0x20b7, "NVIDIA A30"},
    Device{0x20f3, "NVIDIA A800-SXM4-80GB"},
    Device{0x2204, "NVIDIA GeForce RTX 3090"},
    Device{0x2230, "NVIDIA RTX A6000"},
    Device{0x2235, "NVIDIA A40"},
    Device{0x2237, "NVIDIA A10G"},
    Device{0x2321, "NVIDIA H100 NVL"},
    Device{0x2324, "NVIDIA H800"},
    Device{0x2329, "NVIDIA H20"},
    Device{0x2330, "NVIDIA H100 80GB HBM3"},
    Device{0x2331, "NVIDIA H100 PCIe"},
    Device{0x2335, "NVIDIA H200"},
    Device{0x233b, "NVIDIA H200 NVL"},
    Device{0x2342, "NVIDIA GH200 96GB HBM3"},
    Device{0x2684, "NVIDIA GeForce RTX 4090"},
    Device{0x26b1, "NVIDIA RTX 6000 Ada Generation"},
    Device{0x26b5, "NVIDIA L40"},
    Device{0x26b9, "NVIDIA L40S"},
    Device{0x27b8, "NVIDIA L4"},
    Device{0x2901, "NVIDIA B200"},
    Device{0x2b85, "NVIDIA GeForce RTX 5090"},
    Device{0x2bb5, "NVIDIA RTX PRO 6000 Blackwell Server Edition"},
    Device{0x74a1, "AMD Instinct MI300X"},
    Device{0x74a5, "AMD Instinct MI325X"},
    Device{0x75a3, "AMD Instinct MI355X"}};

std::optional<std::uint32_t> hexadecimal(std::string_view text) {
    if (text.starts_with("0x"))
        text.remove_prefix(2);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    return value;
}

/// Reads NCCL's tree of processors, PCI devices and GPUs.
class NcclTopologyReader {
public:
    explicit NcclTopologyReader(const std::filesystem::path& file) : file_(file.string()) {}

    DescribedMachine run(const XmlElement& root) {
        if (root.name != "system")
            fail(
                root, fmt::format(
                          "has the root <{}>; expected <system>, as NCCL writes it to "
                          "NCCL_TOPO_DUMP_FILE",
                          root.name));
        machine_.hosts = 0;
        std::set<std::string> hosts;
        for (const XmlElement& cpu : root.children) {
            if (cpu.name != "cpu")
                continue;  // newer versions have other things beside processors
            if (const std::string* host = cpu.attribute("host_hash"); host != nullptr)
                hosts.insert(*host);
            const std::string* vendor = cpu.attribute("vendor");
            machine_.amd_host =
                machine_.amd_host || (vendor != nullptr && *vendor == "AuthenticAMD");
            ++machine_.hosts;
            walk(cpu, nullptr);
        }
        if (hosts.size() > 1)
            fail(
                root,
                fmt::format(
                    "describes {} machines; expected one machine a file: each dumps its own with "
                    "NCCL_TOPO_DUMP_FILE and NCCL_TOPO_DUMP_FILE_RANK, and --nccl-topology takes "
                    "several",
                    hosts.size()));
        if (gpus_.empty())
            fail(
                root, "has no <gpu>; expected at least one: a process dumps the GPUs that it sees "
                      "(CUDA_VISIBLE_DEVICES)");
        machine_.hosts = std::max(1U, machine_.hosts);
        number_gpus();
        return std::move(machine_);
    }

private:
    struct Gpu {
        const XmlElement* element;
        std::string bus;
        std::string name;
        std::int64_t number;
    };

    [[noreturn]] void fail(const XmlElement& at, const std::string& what) const {
        throw ConfigError(file_, at.pointer, what);
    }
    [[nodiscard]] std::int64_t
    number(const XmlElement& element, std::string_view key, std::int64_t most) const {
        const std::string* text = element.attribute(key);
        std::int64_t value = 0;
        if (text == nullptr)
            fail(
                element,
                fmt::format("has no attribute {}; expected a whole number up to {}", key, most));
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error != std::errc() || end != text->data() + text->size() || value < 0 || value > most)
            fail(
                element,
                fmt::format("has {} \"{}\"; expected a whole number up to {}", key, *text, most));
        return value;
    }

    void walk(const XmlElement& element, const XmlElement* device) {
        for (const XmlElement& child : element.children)
            if (child.name == "gpu")
                add_gpu(child, device);
            else if (child.name == "net")
                add_nic(child);
            else
                walk(child, child.name == "pci" ? &child : device);
    }

    void add_gpu(const XmlElement& gpu, const XmlElement* device) {
        if (gpus_.size() == kMostDescribedGpus)
            fail(
                gpu, fmt::format(
                         "is GPU number {}; expected at most {}", kMostDescribedGpus + 1,
                         kMostDescribedGpus));
        Gpu found{&gpu, {}, {}, number(gpu, "dev", kMostDescribedGpus - 1)};
        if (device != nullptr) {
            if (const std::string* bus = device->attribute("busid"))
                found.bus = *bus;
            if (const std::string* id = device->attribute("device"))
                if (const auto value = hexadecimal(*id))
                    found.name = gpu_of_device(*value);
        }
        gpus_.push_back(std::move(found));
    }

    void add_nic(const XmlElement& net) {
        if (net.attribute("speed") == nullptr) {
            machine_.nics.push_back(0);
            return;
        }
        constexpr std::int64_t kMostMegabits = 100'000'000;
        machine_.nics.push_back(static_cast<double>(number(net, "speed", kMostMegabits)) * 1e6);
    }

    /// RCCL calls its links by their own name.
    static bool is_link(const XmlElement& element) {
        return element.name == "nvlink" || element.name == "xgmi";
    }

    void number_gpus() {
        std::ranges::stable_sort(gpus_, {}, &Gpu::number);
        std::map<std::string, std::uint32_t> gpu_at;
        std::set<std::string> switches;
        for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
            machine_.gpus.push_back(gpus_[i].name);
            if (!gpus_[i].bus.empty() && !gpu_at.emplace(gpus_[i].bus, i).second)
                fail(
                    *gpus_[i].element,
                    fmt::format(
                        "has the bus address {} of another GPU; expected one address a GPU",
                        gpus_[i].bus));
        }
        for (const Gpu& gpu : gpus_)
            for (const XmlElement& link : gpu.element->children)
                if (const std::string* target = link.attribute("target");
                    is_link(link) && target != nullptr && !gpu_at.contains(*target))
                    switches.insert(*target);
        // In virtual machines switches are not seen: one stands for all.
        const bool hidden = switches.size() == 1 && (*switches.begin()).starts_with("fff");
        machine_.switches = hidden ? 0 : static_cast<std::uint32_t>(switches.size());
        for (std::uint32_t i = 0; i < gpus_.size(); ++i)
            for (const XmlElement& link : gpus_[i].element->children) {
                if (!is_link(link))
                    continue;
                const std::string* target = link.attribute("target");
                if (target == nullptr)
                    fail(
                        link,
                        "has no attribute target; expected the bus address of a GPU or a switch");
                const auto lanes =
                    static_cast<std::uint32_t>(number(link, "count", kMostDescribedLanes));
                const auto peer = gpu_at.find(*target);
                const std::string* kind = link.attribute("tclass");
                if (peer == gpu_at.end() && kind != nullptr && *kind != kSwitchClass)
                    machine_.notes.push_back(fmt::format(
                        "GPU {} has {} links to {}, which is not a GPU of the file (class {}); "
                        "they are left out",
                        i, lanes, *target, *kind));
                else if (peer != gpu_at.end())
                    machine_.to_gpus.push_back({i, peer->second, lanes});
                else
                    machine_.to_switches.push_back(
                        {i,
                         static_cast<std::uint32_t>(
                             std::distance(switches.begin(), switches.find(*target))),
                         lanes});
            }
    }

    std::string file_;
    DescribedMachine machine_;
    std::vector<Gpu> gpus_;
};

}  // namespace

std::string gpu_of_device(std::uint32_t device) {
    const auto at = std::ranges::find(kDevices, device, &Device::id);
    return at == kDevices.end() ? std::string() : std::string(at->name);
}

DescribedMachine read_nccl_topology(const std::filesystem::path& file) {
    return NcclTopologyReader(file).run(load_xml(file));
}

void add_lspci(DescribedMachine& machine, const std::filesystem::path& file) {
    std::istringstream lines(read_small_text(file, "the output of lspci"));
    std::vector<std::string> names;
    for (std::string row; std::getline(lines, row);) {
        const bool gpu = row.find("3D controller") != std::string::npos ||
                         row.find("VGA compatible") != std::string::npos ||
                         row.find("Display controller") != std::string::npos ||
                         row.find("Processing accelerators") != std::string::npos;
        const bool nvidia = row.find("NVIDIA") != std::string::npos;
        const bool amd = row.find("AMD") != std::string::npos;
        if (!gpu || !(nvidia || amd))
            continue;
        // "[10de:2330]" with -nn, "Device 2335" where pci.ids does not know it, else a name.
        std::string name;
        for (const std::string_view mark : {"[10de:", "[1002:", "Device "})
            if (const std::size_t at = row.find(mark); at != std::string::npos && name.empty())
                if (const auto id = hexadecimal(std::string_view(row).substr(at + mark.size(), 4)))
                    name = gpu_of_device(*id);
        if (name.empty())
            if (const std::size_t open = row.rfind('['), close = row.rfind(']');
                open != std::string::npos && close != std::string::npos && close > open)
                name = (nvidia ? "NVIDIA " : "AMD ") + row.substr(open + 1, close - open - 1);
        if (!name.empty())
            names.push_back(name);
    }
    if (names.empty())
        throw ConfigError(
            file.string(), "/", "names no GPU of NVIDIA or AMD; expected the output of lspci -nn");
    if (names.size() < machine.gpus.size())
        machine.notes.push_back(fmt::format(
            "lspci names {} GPUs of {}; the others are taken to be like its last", names.size(),
            machine.gpus.size()));
    for (std::size_t i = 0; i < machine.gpus.size(); ++i)
        if (machine.gpus[i].empty())
            machine.gpus[i] = names[std::min(i, names.size() - 1)];
}

}  // namespace switchfold
