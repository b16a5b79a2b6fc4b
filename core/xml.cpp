// SPDX-License-Identifier: Apache-2.0
#include "core/xml.h"

#include "core/json.h"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace switchfold {

namespace {

namespace pt = boost::property_tree;

[[noreturn]] void refuse_xml(const std::filesystem::path& file, const std::string& what) {
    throw ConfigError({{file.string(), "/", what}});
}

/// Where `end` follows, or the end of the text.
std::size_t after(std::string_view text, std::size_t from, std::string_view end) {
    const std::size_t at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
}

/// What the parser must not see: it descends by recursion, and passes over document types. Quotes
/// may hold a '>', so tags are gone through by character.
void check_shape(std::string_view text, const std::filesystem::path& file, std::uint32_t most) {
    std::uint32_t depth = 0;
    for (std::size_t i = 0; i < text.size();) {
        i = text.find('<', i);
        if (i == std::string_view::npos)
            return;
        const std::string_view rest = text.substr(i);
        if (rest.starts_with("<!--")) {
            i = after(text, i + 4, "-->");
        } else if (rest.starts_with("<![CDATA[")) {
            i = after(text, i + 9, "]]>");
        } else if (rest.starts_with("<?")) {
            i = after(text, i + 2, "?>");
        } else if (rest.starts_with("<!")) {
            refuse_xml(file, "has a document type or entities of its own; expected elements alone");
        } else {
            const bool closes = rest.starts_with("</");
            char quote = 0;
            std::size_t end = i + 1;
            for (; end < text.size() && (quote != 0 || text[end] != '>'); ++end)
                if (quote != 0)
                    quote = text[end] == quote ? '\0' : quote;
                else if (text[end] == '"' || text[end] == '\'')
                    quote = text[end];
            const bool empty = end < text.size() && text[end - 1] == '/';
            if (closes)
                depth -= std::min(depth, 1U);
            else if (!empty && ++depth > most)
                refuse_xml(
                    file,
                    fmt::format("has elements more than {} deep; expected fewer levels", most));
            i = std::min(end + 1, text.size());
        }
    }
}

XmlElement element_of(const std::string& name, const std::string& pointer, const pt::ptree& tree) {
    XmlElement element{name, pointer, {}, {}};
    std::map<std::string, std::uint32_t> count;
    for (const auto& [key, child] : tree) {
        if (key == "<xmlattr>")
            for (const auto& [attribute, value] : child)
                element.attributes.emplace_back(attribute, value.data());
        else if (!key.starts_with('<'))
            element.children.push_back(
                element_of(key, fmt::format("{}/{}[{}]", pointer, key, count[key]++), child));
    }
    return element;
}

}  // namespace

const std::string* XmlElement::attribute(std::string_view key) const {
    const auto at = std::ranges::find(attributes, key, [](const auto& pair) { return pair.first; });
    return at == attributes.end() ? nullptr : &at->second;
}

XmlElement parse_xml(const std::string& text, const std::filesystem::path& file, XmlLimits limits) {
    if (text.size() > limits.bytes)
        refuse_xml(
            file, fmt::format("has {} bytes; expected at most {}", text.size(), limits.bytes));
    if (text.find('\0') != std::string::npos)
        refuse_xml(file, "holds a zero byte; expected XML");
    check_shape(text, file, limits.depth);
    pt::ptree tree;
    try {
        std::istringstream stream(text);
        pt::read_xml(stream, tree, pt::xml_parser::no_comments);
    } catch (const pt::xml_parser_error& error) {
        refuse_xml(file, fmt::format("line {}: {}; expected XML", error.line(), error.message()));
    }
    const auto roots = std::ranges::count_if(
        tree, [](const auto& child) { return !child.first.starts_with('<'); });
    if (roots != 1)
        refuse_xml(file, fmt::format("has {} roots; expected one element", roots));
    const auto root =
        std::ranges::find_if(tree, [](const auto& child) { return !child.first.starts_with('<'); });
    return element_of(root->first, "/" + root->first, root->second);
}

XmlElement load_xml(const std::filesystem::path& file, XmlLimits limits) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
        refuse_xml(file, "does not exist; expected an XML file");
    if (std::filesystem::file_size(file, ignored) > limits.bytes)
        refuse_xml(file, fmt::format("is larger than {} bytes; expected less", limits.bytes));
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in)
        refuse_xml(file, "cannot be read; expected an XML file");
    return parse_xml(text.str(), file, limits);
}

}  // namespace switchfold
