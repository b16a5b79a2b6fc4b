// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/g10_step.h"

#include "sim/core/error.h"
#include "workloads/network/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct Operator {
    std::uint32_t id = 0;
    std::string type;
    std::vector<std::uint32_t> inputs;
    std::uint64_t elements = 0;  ///< of its first input
};

struct Operators {
    std::vector<Operator> list;
    std::map<std::uint32_t, std::uint64_t> elements;  ///< by tensor that an operator reads
};

/// Words of a file, with their lines for messages.
class Words {
public:
    explicit Words(const std::filesystem::path& file) : file_(file.string()) {
        std::istringstream lines(read_text(file));
        std::size_t number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            std::istringstream words(line);
            for (std::string word; words >> word;)
                words_.push_back({word, number});
        }
    }
    [[nodiscard]] bool more() const { return next_ < words_.size(); }
    std::string word(std::string_view expected) {
        if (!more())
            fail("the file ends", expected);
        return words_[next_++].text;
    }
    template <class Number>
    Number number(std::string_view expected) {
        const std::string text = word(expected);
        std::istringstream in(text);
        Number value{};
        if (text.front() == '-' || !(in >> value) || !in.eof())
            fail("is \"" + text + "\"", expected);
        return value;
    }
    void expect(std::string_view text) {
        if (word(text) != text)
            fail("is \"" + words_[next_ - 1].text + "\"", text);
    }
    [[noreturn]] void fail(const std::string& what, std::string_view expected) const {
        const std::size_t line = words_.empty() ? 1 : words_[next_ == 0 ? 0 : next_ - 1].line;
        throw ConfigError(
            file_, fmt::format("line {}", line), fmt::format("{}; expected {}", what, expected));
    }

private:
    struct Word {
        std::string text;
        std::size_t line = 0;
    };
    std::string file_;
    std::vector<Word> words_;
    std::size_t next_ = 0;
};

Operator read_operator(Words& words, std::uint32_t batch, Operators& all) {
    constexpr std::uint32_t kMostInputs = 64;
    constexpr std::uint64_t kBatch = 99;  // stands for it
    Operator one;
    one.id = words.number<std::uint32_t>("an operator's number");
    one.type = words.word("an operator's name");
    const auto inputs = words.number<std::uint32_t>("a number of inputs");
    if (inputs == 0 || inputs > kMostInputs)
        words.fail(fmt::format("are {} inputs", inputs), "1 to 64");
    for (std::uint32_t i = 0; i < inputs; ++i)
        one.inputs.push_back(words.number<std::uint32_t>("a tensor's number"));
    for (const std::uint32_t input : one.inputs) {
        std::uint64_t elements = 1;
        for (auto left = words.number<std::uint32_t>("a number of dimensions"); left > 0; --left) {
            const auto size = words.number<std::uint64_t>("a dimension");
            elements *= size == kBatch ? batch : size;
        }
        all.elements[input] = elements;
        if (one.elements == 0)
            one.elements = elements;
    }
    words.expect("-------------------");
    constexpr std::array<std::string_view, 6> kOfTwo{
        "Dot", "Convolution", "GatherV2", "BatchMatMul", "Multiply", "Divide"};
    if (inputs != 2 && std::find(kOfTwo.begin(), kOfTwo.end(), one.type) != kOfTwo.end())
        words.fail(fmt::format("is a {} of {} inputs", one.type, inputs), "2");
    return one;
}

Operators read_operators(const std::filesystem::path& file, std::uint32_t batch) {
    Words words(file);
    Operators all;
    while (words.more()) {
        Operator one = read_operator(words, batch, all);
        if (one.type == "SoftmaxBasic")  // of four operators, one kernel
            for (int i = 0; i < 3; ++i)
                one.id = read_operator(words, batch, all).id;
        all.list.push_back(std::move(one));
    }
    if (all.list.empty())
        words.fail("has no operators", "some");
    return all;
}

class Writer {
public:
    Writer(const Operators& operators, std::uint32_t weights_below) :
        operators_(operators), weights_below_(weights_below) {
        for (const Operator& one : operators.list)
            made_.insert(one.id);
    }

    AccessSchedule take() {
        for (const Operator& one : operators_.list)
            forward(one);
        const Made& last = made_by_.back();
        gradients_[operators_.list.back().id] = {like(last.output, "gradient of the loss")};
        step("loss", {last.output}, {gradients_[operators_.list.back().id].front()});
        backward_ = true;
        schedule_.steps.back().kind = StepKind::kBackward;
        for (std::size_t i = operators_.list.size(); i-- > 0;)
            backward(operators_.list[i], made_by_[i]);
        for (MemoryItem& item : schedule_.items)
            item.scratch = !item.persistent && read_.count(&item - schedule_.items.data()) == 0;
        count_copies(schedule_);
        return std::move(schedule_);
    }

private:
    struct Made {
        std::vector<std::uint32_t> inputs;
        std::vector<std::uint32_t> gradients;  ///< by input; kNone: it has none
        std::uint32_t output = kNone;
    };

    std::uint32_t add(std::string name, std::uint64_t bytes, bool weights) {
        MemoryItem item;
        item.name = std::move(name);
        item.bytes = (bytes + kPage - 1) / kPage * kPage;
        item.persistent = weights;
        item.kind = weights ? MemoryClass::kWeights : MemoryClass::kActivations;
        schedule_.items.push_back(std::move(item));
        return static_cast<std::uint32_t>(schedule_.items.size() - 1);
    }
    std::uint32_t like(std::uint32_t item, std::string name) {
        return add(std::move(name), schedule_.items[item].bytes, false);
    }
    std::uint32_t tensor(std::uint32_t id, std::uint64_t elements) {
        const auto known = tensors_.find(id);
        if (known != tensors_.end())
            return known->second;
        const std::uint32_t item =
            add("tensor " + std::to_string(id), elements * sizeof(float), id < weights_below_);
        tensors_[id] = item;
        return item;
    }

    void step(
        std::string name,
        const std::vector<std::uint32_t>& reads,
        const std::vector<std::uint32_t>& writes) {
        AccessStep made;
        made.name = std::move(name);
        made.kind = backward_ ? StepKind::kBackward : StepKind::kForward;
        const auto open = [&](std::uint32_t item, bool written) {
            const auto found =
                std::find_if(made.open.begin(), made.open.end(), [&](const ItemAccess& access) {
                    return access.item == item;
                });
            if (found == made.open.end())
                made.open.push_back({item, written});
            else
                found->writes = found->writes || written;
        };
        for (const std::uint32_t item : reads) {
            open(item, false);
            read_.insert(item);
        }
        for (const std::uint32_t item : writes)
            open(item, true);
        schedule_.steps.push_back(std::move(made));
    }

    void forward(const Operator& one) {
        Made made;
        const auto known = operators_.elements.find(one.id);
        made.output =
            tensor(one.id, known == operators_.elements.end() ? one.elements : known->second);
        for (const std::uint32_t id : one.inputs) {
            const std::uint32_t input = tensor(id, operators_.elements.at(id));
            const bool weights = schedule_.items[input].persistent;
            // Exponents, and inputs of the network, have no gradient.
            const bool constant = weights ? one.type == "Power" : made_.count(id) == 0;
            made.inputs.push_back(input);
            made.gradients.push_back(
                constant ? kNone : like(input, fmt::format("gradient of {} by {}", id, one.id)));
            if (!constant && made_.count(id) > 0)
                gradients_[id].push_back(made.gradients.back());
        }
        step("F " + one.type, made.inputs, {made.output});
        made_by_.push_back(std::move(made));
    }

    /// The last of an operator's inputs that are weights.
    [[nodiscard]] std::optional<std::size_t> weights_of(const Made& made) const {
        for (std::size_t i = made.inputs.size(); i-- > 0;)
            if (schedule_.items[made.inputs[i]].persistent)
                return i;
        return {};
    }

    void update(const Made& made, std::size_t weights) {
        if (made.gradients[weights] != kNone)
            step("update", {made.gradients[weights], made.inputs[weights]}, {made.inputs[weights]});
    }

    void backward(const Operator& one, const Made& made) {
        const std::vector<std::uint32_t>& sum = gradients_[one.id];
        if (sum.empty())
            return;  // nothing reads it
        if (sum.size() > 1)
            step("sum of gradients", sum, {sum.front()});
        const std::uint32_t gradient = sum.front();
        const auto weights = weights_of(made);
        if (one.type == "Dot" || one.type == "Convolution" || one.type == "GatherV2")
            multiplied(one, made, gradient, weights.value_or(1));
        else if (one.type == "Add" || one.type == "Subtract")
            step("B " + one.type, {gradient}, gradients_of(made));
        else if (one.type == "BatchMatMul" || one.type == "Multiply" || one.type == "Divide")
            by_input(one, made, gradient);
        else
            step("B " + one.type, with(gradient, made.inputs), gradients_of(made));
        if (weights)
            update(made, *weights);
    }

    /// The gradient of weights, then that of the input; a lookup has one kernel.
    void
    multiplied(const Operator& one, const Made& made, std::uint32_t gradient, std::size_t weights) {
        const std::size_t input = weights == 0 ? 1 : 0;
        if (one.type == "GatherV2") {
            step("B " + one.type, {gradient, made.inputs[input]}, gradients_of(made));
            return;
        }
        step("D " + one.type, {gradient, made.inputs[input]}, {made.gradients[weights]});
        if (made.gradients[input] != kNone)
            step("X " + one.type, {gradient, made.inputs[weights]}, {made.gradients[input]});
    }

    /// A kernel for each of two inputs, which reads the other.
    void by_input(const Operator& one, const Made& made, std::uint32_t gradient) {
        for (std::size_t i = 0; i < made.inputs.size(); ++i) {
            if (made.gradients[i] == kNone)
                continue;
            const bool quotient = one.type == "Divide";
            std::vector<std::uint32_t> reads{gradient, made.inputs[quotient ? 1 : 1 - i]};
            if (quotient && i == 1)
                reads.push_back(made.output);
            step("B " + one.type, reads, {made.gradients[i]});
        }
    }

    [[nodiscard]] static std::vector<std::uint32_t> gradients_of(const Made& made) {
        std::vector<std::uint32_t> gradients;
        for (const std::uint32_t gradient : made.gradients)
            if (gradient != kNone)
                gradients.push_back(gradient);
        return gradients;
    }
    [[nodiscard]] static std::vector<std::uint32_t>
    with(std::uint32_t first, const std::vector<std::uint32_t>& more) {
        std::vector<std::uint32_t> all{first};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    const Operators& operators_;
    std::uint32_t weights_below_;
    std::set<std::uint32_t> made_;                    ///< tensors that an operator makes
    std::map<std::uint32_t, std::uint32_t> tensors_;  ///< items by id
    std::map<std::uint32_t, std::vector<std::uint32_t>> gradients_;  ///< by operator: parts
    std::vector<Made> made_by_;                                      ///< by operator
    std::set<std::ptrdiff_t> read_;                                  ///< items
    bool backward_ = false;
    AccessSchedule schedule_;
};

/// Lines "NUMBER VALUE UNIT", numbered from 0.
template <class Value>
std::vector<Value>
read_values(const std::filesystem::path& file, std::string_view unit, std::size_t kernels) {
    Words words(file);
    std::vector<Value> values;
    while (words.more()) {
        if (words.number<std::size_t>("a kernel's number") != values.size())
            words.fail("is another number", std::to_string(values.size()));
        values.push_back(words.number<Value>("a number"));
        words.expect(unit);
    }
    if (values.size() != kernels)
        words.fail(fmt::format("are {} kernels", values.size()), std::to_string(kernels));
    return values;
}

}  // namespace

AccessSchedule read_g10_step(const G10Profile& profile) {
    const Operators operators = read_operators(profile.network, profile.batch);
    AccessSchedule schedule = Writer(operators, profile.weights_below).take();
    schedule.name = profile.network.stem().stem().string();
    const std::size_t kernels = schedule.steps.size();
    const auto times = read_values<double>(profile.kernels, "ms", kernels);
    const auto spaces = read_values<std::uint64_t>(profile.workspaces, "B", kernels);
    for (std::size_t i = 0; i < kernels; ++i) {
        schedule.steps[i].seconds = times[i] * 1e-3;
        if (spaces[i] == 0)
            continue;
        MemoryItem space;
        space.name = fmt::format("workspace of kernel {}", i);
        space.kind = MemoryClass::kWorkspace;
        space.bytes = (spaces[i] + kPage - 1) / kPage * kPage;
        space.scratch = true;
        schedule.items.push_back(std::move(space));
        schedule.steps[i].open.push_back(
            {static_cast<std::uint32_t>(schedule.items.size() - 1), true});
    }
    check(schedule);
    return schedule;
}

}  // namespace switchfold::validation
