// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/picture.h"

#include "interconnect/topology_analysis.h"
#include "sim/machine/describe_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace switchfold {

namespace {

constexpr double kWidth = 1000;
constexpr double kMargin = 20;
constexpr double kRowHeight = 84;
constexpr double kBoxHeight = 26;
constexpr double kMostBoxWidth = 74;
constexpr std::uint32_t kShownMachines = 2;
constexpr std::size_t kShownInRow = 32;
constexpr std::size_t kLegendHeight = 18;
/// Told apart by people who see few colours, on white and on black.
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

std::string_view kind_word(const TopologyNode& node, bool several) {
    const bool between = node.kind == NodeKind::kSwitch && node.machine == kNoMachine;
    return several && between ? "network switch" : word_of(node.kind);
}

/// The row of a machine's node, from above; network switches lie below.
std::uint32_t row_of(NodeKind kind) {
    switch (kind) {
    case NodeKind::kSwitch:
        return 0;
    case NodeKind::kGpu:
        return 1;
    case NodeKind::kPcie:
        return 2;
    case NodeKind::kHost:
        return 3;
    case NodeKind::kMemory:
    case NodeKind::kNic:
        return 4;
    }
    return 0;
}

class Picture {
public:
    Picture(const Topology& topology, const std::string& name, const std::string& gpus) :
        topology_(topology),
        several_(topology.machines() > 1),
        name_(name),
        gpus_(gpus),
        places_(topology.nodes.size()) {}

    std::string run() {
        lay_out();
        draw_links();
        draw_nodes();
        const double legend = y_ + 12;
        const double height = legend + static_cast<double>(kLegendHeight * kinds_.size()) + kMargin;
        std::string out = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
            "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n<style>"
            "svg{{background:#fff;font:12px sans-serif}}text{{fill:#111;text-anchor:middle}}"
            ".left{{text-anchor:start}}.title{{font-size:16px;font-weight:bold}}"
            ".box{{fill:#fff;stroke:#555}}.gpu{{fill:#e4f0d9}}.frame{{fill:none;stroke:#999;"
            "stroke-dasharray:4 3}}.small{{font-size:10px}}"
            "@media(prefers-color-scheme:dark){{svg{{background:#161616}}text{{fill:#eee}}"
            ".box{{fill:#222;stroke:#aaa}}.gpu{{fill:#2c3f1d}}}}</style>\n",
            kWidth, height, escaped(name_));
        out += fmt::format(
            "<text class=\"left title\" x=\"{0}\" y=\"28\">{1}</text><text class=\"left\" "
            "x=\"{0}\" "
            "y=\"46\">{2}</text>\n",
            kMargin, escaped(name_), escaped(gpus_));
        out += links_ + boxes_;
        std::size_t line = 0;
        for (const Kind& kind : kinds_) {
            const double y = legend + static_cast<double>(kLegendHeight * ++line);
            out += fmt::format(
                "<line x1=\"{}\" x2=\"{}\" y1=\"{:.0f}\" y2=\"{:.0f}\" stroke=\"{}\" "
                "stroke-width=\"3\"/><text class=\"left\" x=\"{}\" y=\"{:.0f}\">{}</text>\n",
                kMargin, kMargin + 28, y - 4, y - 4, colour(kind), kMargin + 36, y,
                escaped(kind.text));
        }
        return out + "</svg>\n";
    }

private:
    struct Place {
        double x = 0;
        double y = 0;
        double width = 0;
    };
    struct Kind {
        std::string ends;
        std::uint32_t link_class = 0;
        std::uint32_t lanes = 0;
        std::size_t count = 0;
        std::string text;
        std::size_t number = 0;
    };
    [[nodiscard]] static const char* colour(const Kind& kind) {
        return kColours[kind.number % kColours.size()];
    }

    /// Nodes side by side from `left` on; what is beyond the room is counted.
    void put_row(const std::vector<std::uint32_t>& nodes, double left, double right, double y) {
        const std::size_t shown = std::min(nodes.size(), kShownInRow);
        const std::size_t slots = shown + (nodes.size() > shown ? 2 : 0);
        const double step = (right - left) / static_cast<double>(slots);
        for (std::size_t i = 0; i < shown; ++i)
            places_[nodes[i]] = Place{
                left + step * (static_cast<double>(i) + 0.5), y,
                std::min(kMostBoxWidth, step * 0.86)};
        if (nodes.size() > shown)
            boxes_ += fmt::format(
                "<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\">... {} more</text>\n",
                right - step, y + 4, nodes.size() - shown);
    }

    void lay_out() {
        std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::uint32_t>>> machines;
        std::map<std::uint32_t, std::vector<std::uint32_t>> network;
        const std::vector<std::uint32_t> depth = depths();
        std::set<std::uint32_t> rows;
        for (std::uint32_t i = 0; i < topology_.nodes.size(); ++i) {
            const TopologyNode& node = topology_.nodes[i];
            if (node.machine == kNoMachine) {
                network[depth[i]].push_back(i);
            } else if (node.machine < kShownMachines) {
                machines[node.machine][row_of(node.kind)].push_back(i);
                rows.insert(row_of(node.kind));
            }
        }
        // Of the network, what the machines drawn are joined to comes first.
        for (auto& [level, nodes] : network)
            std::stable_partition(nodes.begin(), nodes.end(), [&](std::uint32_t node) {
                return std::ranges::any_of(topology_.edges, [&](const TopologyEdge& edge) {
                    const std::uint32_t other = edge.a == node ? edge.b : edge.a;
                    return (edge.a == node || edge.b == node) &&
                           topology_.nodes[other].machine < kShownMachines;
                });
            });
        const std::uint32_t count = topology_.machines();
        const bool more = count > kShownMachines;
        const std::size_t columns = machines.size() + (more ? 1 : 0);
        y_ = 70;
        const double top = y_;
        std::map<std::uint32_t, double> row_y;
        // Room for bows between GPUs, if there are no switches above them.
        y_ += rows.contains(row_of(NodeKind::kSwitch)) ? 10 : 70;
        for (const std::uint32_t row : rows) {
            row_y[row] = y_ + kBoxHeight;
            y_ += kRowHeight;
        }
        const double bottom = y_;
        const double all = kWidth - 2 * kMargin;
        const double last = more ? 130 : 0;
        const double each =
            (all - last) / static_cast<double>(std::max<std::size_t>(1, machines.size()));
        std::size_t column = 0;
        for (const auto& [machine, rows_of] : machines) {
            const double left = kMargin + each * static_cast<double>(column++);
            if (columns > 1)
                frame(left, top, each - 10, bottom - top, fmt::format("machine {}", machine));
            for (const auto& [row, nodes] : rows_of)
                put_row(nodes, left + 6, left + each - (columns > 1 ? 16 : 6), row_y.at(row));
        }
        if (more) {
            frame(kMargin + all - last, top, last, bottom - top, "");
            boxes_ += fmt::format(
                "<text x=\"{:.0f}\" y=\"{:.0f}\">{} more</text><text x=\"{:.0f}\" "
                "y=\"{:.0f}\">like these</text>\n",
                kMargin + all - last / 2, (top + bottom) / 2, count - kShownMachines,
                kMargin + all - last / 2, (top + bottom) / 2 + 16);
        }
        for (const auto& [level, nodes] : network) {
            put_row(nodes, kMargin, kMargin + all, y_ + kBoxHeight);
            y_ += kRowHeight;
        }
    }

    void frame(double x, double y, double width, double height, const std::string& text) {
        boxes_ += fmt::format(
            "<rect class=\"frame\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
            "rx=\"6\"/><text class=\"left\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
            x, y, width, height, x + 8, y - 5, text);
    }

    /// Links from each node of the network to the nearest one that is not.
    [[nodiscard]] std::vector<std::uint32_t> depths() const {
        std::vector<std::vector<std::uint32_t>> next(topology_.nodes.size());
        for (const TopologyEdge& edge : topology_.edges) {
            next[edge.a].push_back(edge.b);
            next[edge.b].push_back(edge.a);
        }
        std::vector<std::uint32_t> depth(topology_.nodes.size(), 0);
        std::vector<std::uint32_t> wave;
        for (std::uint32_t i = 0; i < topology_.nodes.size(); ++i)
            if (topology_.nodes[i].machine != kNoMachine)
                wave.push_back(i);
        for (std::uint32_t d = 1; !wave.empty(); ++d) {
            std::vector<std::uint32_t> beyond;
            for (const std::uint32_t at : wave)
                for (const std::uint32_t node : next[at])
                    if (topology_.nodes[node].machine == kNoMachine && depth[node] == 0) {
                        depth[node] = d;
                        beyond.push_back(node);
                    }
            wave = std::move(beyond);
        }
        return depth;
    }

    Kind& kind_of(const TopologyEdge& edge) {
        auto ends = std::pair(
            kind_word(topology_.nodes[edge.a], several_),
            kind_word(topology_.nodes[edge.b], several_));
        const std::string text = fmt::format("{} - {}", ends.first, ends.second);
        const auto at = std::ranges::find_if(kinds_, [&](const Kind& kind) {
            return kind.ends == text && kind.link_class == edge.link_class &&
                   kind.lanes == edge.lanes;
        });
        if (at != kinds_.end())
            return *at;
        kinds_.push_back({text, edge.link_class, edge.lanes, 0, "", kinds_.size()});
        return kinds_.back();
    }

    void draw_links() {
        for (const TopologyEdge& edge : topology_.edges)
            ++kind_of(edge).count;
        for (const TopologyEdge& edge : topology_.edges) {
            Kind& kind = kind_of(edge);
            const double rate =
                static_cast<double>(usable_bandwidth(topology_, edge).count()) * 1e-9;
            if (kind.text.empty())
                kind.text = fmt::format(
                    "{} x {}: {} lane{} of {}, usable {:.1f} GB/s each way, {}", kind.count,
                    kind.ends, kind.lanes, kind.lanes == 1 ? "" : "s",
                    to_string(topology_.links[edge.link_class].lane_bandwidth), rate,
                    to_string(topology_.links[edge.link_class].latency));
            const auto& a = places_[edge.a];
            const auto& b = places_[edge.b];
            if (!a || !b)
                continue;
            const double width = std::clamp(std::log2(1 + rate) / 3, 0.7, 4.0);
            // Where there are many, each is thin.
            const double opacity = kind.count > 400 ? 0.2 : kind.count > 100 ? 0.35 : 0.8;
            const std::string style = fmt::format(
                "fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\" opacity=\"{}\"{}",
                colour(kind), width, opacity, edge.down ? " stroke-dasharray=\"3 5\"" : "");
            if (std::abs(a->y - b->y) < 1) {
                // Nodes of a row meet in a bow above, which is higher the further they are.
                const double high = std::min(150.0, 14 + std::abs(a->x - b->x) / 6);
                const double top = a->y - kBoxHeight / 2;
                links_ += fmt::format(
                    "<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" {}/>\n", a->x, top,
                    (a->x + b->x) / 2, top - high, b->x, top, style);
                continue;
            }
            const bool down = a->y < b->y;
            links_ += fmt::format(
                "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", a->x,
                a->y + (down ? 1 : -1) * kBoxHeight / 2, b->x,
                b->y - (down ? 1 : -1) * kBoxHeight / 2, style);
        }
    }

    void draw_nodes() {
        std::map<std::tuple<std::uint32_t, NodeKind>, std::uint32_t> numbers;
        for (std::uint32_t i = 0; i < topology_.nodes.size(); ++i) {
            const TopologyNode& node = topology_.nodes[i];
            const std::uint32_t number = numbers[{node.machine, node.kind}]++;
            if (!places_[i])
                continue;
            const Place& at = *places_[i];
            const bool gpu = node.kind == NodeKind::kGpu;
            boxes_ += fmt::format(
                "<g><title>{}</title><rect class=\"box{}\" x=\"{:.1f}\" y=\"{:.1f}\" "
                "width=\"{:.1f}\" height=\"{}\" rx=\"{}\"/>",
                escaped(fmt::format("{} {}", kind_word(node, several_), node.name)),
                gpu ? " gpu" : "", at.x - at.width / 2, at.y - kBoxHeight / 2, at.width, kBoxHeight,
                gpu ? 2 : 8);
            const std::string text = gpu ? fmt::format("{}", i) : fmt::format("{}", number);
            const std::string whole = fmt::format("{} {}", short_word(node.kind), text);
            constexpr double kLetter = 6.4;
            const bool fits = kLetter * static_cast<double>(whole.size()) < at.width;
            if (fits || kLetter * static_cast<double>(text.size()) < at.width + 4)
                boxes_ += fmt::format(
                    "<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", at.x, at.y + 4,
                    fits ? whole : text);
            boxes_ += "</g>\n";
        }
    }
    static std::string_view short_word(NodeKind kind) {
        switch (kind) {
        case NodeKind::kGpu:
            return "GPU";
        case NodeKind::kSwitch:
            return "switch";
        case NodeKind::kNic:
            return "NIC";
        case NodeKind::kPcie:
            return "PCIe";
        case NodeKind::kHost:
            return "host";
        case NodeKind::kMemory:
            return "memory";
        }
        return "?";
    }

    const Topology& topology_;
    bool several_;
    std::string name_;
    std::string gpus_;
    std::vector<std::optional<Place>> places_;
    std::vector<Kind> kinds_;
    std::string links_;
    std::string boxes_;
    double y_ = 0;
};

}  // namespace

std::string picture_of(const Topology& topology, const std::string& name, const std::string& gpus) {
    return Picture(topology, name, gpus).run();
}

}  // namespace switchfold
