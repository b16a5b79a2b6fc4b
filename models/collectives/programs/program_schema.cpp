// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/program_schema.h"

#include "models/collectives/programs/program_words.h"

#include <string>

namespace switchfold::programs {

namespace {

OrderedJson reference(const char* name) {
    return {{"$ref", std::string("#/$defs/") + name}};
}
OrderedJson text_of_schema(const char* description) {
    return {{"type", "string"}, {"description", description}};
}
OrderedJson expression(const char* description) {
    OrderedJson made = reference("number");
    made["description"] = description;
    return made;
}
OrderedJson object(OrderedJson properties, const OrderedJson& required = OrderedJson::array()) {
    return {
        {"type", "object"},
        {"properties", std::move(properties)},
        {"required", required},
        {"additionalProperties", false}};
}
OrderedJson list_of_schema(OrderedJson items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

/// An object of one name.
OrderedJson one_name(OrderedJson value) {
    return {
        {"type", "object"},
        {"minProperties", 1},
        {"maxProperties", 1},
        {"propertyNames", {{"pattern", "^[a-z]+$"}}},
        {"additionalProperties", std::move(value)}};
}

OrderedJson definitions() {
    OrderedJson ops = OrderedJson::array();
    for (const Op op : kOps)
        ops.push_back(std::string(name_of(op)));
    OrderedJson defs;
    defs["number"] = {
        {"title",
         "a whole number or an expression over n, g, m, r, l, h, c and names of one's own"},
        {"type", OrderedJson::array({"integer", "string"})}};
    defs["loop"] = one_name(
        {{"type", "array"}, {"items", reference("number")}, {"minItems", 2}, {"maxItems", 2}});
    OrderedJson memory{
        {"type", "object"},
        {"minProperties", 1},
        {"maxProperties", 1},
        {"properties",
         {{"buffer", reference("number")},
          {"input", reference("number")},
          {"scratch", reference("number")}}},
        {"additionalProperties", false}};
    defs["place"] = {{"anyOf", OrderedJson::array({reference("number"), memory})}};
    defs["after"] = object(
        {{"block", text_of_schema("A block of the same rank, by name.")},
         {"at", expression("Which of them, where the block has a `for`.")},
         {"step", text_of_schema("Its step, by name.")},
         {"turn", expression("The turn of the loop that the step is in; without it: the last.")}},
        {"block", "step"});
    const OrderedJson loop = reference("loop");
    OrderedJson loop_told = loop;
    loop_told["description"] = "Goes round from the first number to before the second.";
    OrderedJson step;
    step["do"] = {{"enum", ops}, {"description", "What it does."}};
    step["name"] = text_of_schema("What others wait for it by.");
    step["for"] = loop_told;
    step["if"] = expression("Left out where 0.");
    for (const char* key : {"chunk", "from", "to"})
        step[key] = reference("place");
    step["count"] = expression("Chunks that follow each other.");
    step["after"] = {
        {"anyOf", OrderedJson::array({reference("after"), list_of_schema(reference("after"))})},
        {"description", "Steps of other blocks of the rank that must have ended."}};
    step["steps"] = list_of_schema(reference("step"));
    defs["step"] = object(step);
    defs["step"]["oneOf"] = OrderedJson::array(
        {{{"required", OrderedJson::array({"do"})}},
         {{"required", OrderedJson::array({"steps"})}}});
    defs["block"] = object(
        {{"name", text_of_schema("What others wait for it by.")},
         {"for", loop_told},
         {"if", expression("Left out where 0.")},
         {"channel", expression("Tells connections of a pair apart; 0 without it.")},
         {"receive", expression("The rank that it receives from.")},
         {"send", expression("The rank that it sends to.")},
         {"steps", list_of_schema(reference("step"))}},
        {"steps"});
    return defs;
}

}  // namespace

OrderedJson program_schema() {
    OrderedJson kinds = OrderedJson::array();
    for (const CollectiveKind kind : kProgramKinds)
        kinds.push_back(std::string(to_string(kind)));
    OrderedJson protocols = OrderedJson::array();
    for (const auto& [value, name] : EnumNames<Protocol>::kNames)
        protocols.push_back(std::string(name));
    OrderedJson schema{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "switchfold program of a collective"}};
    OrderedJson properties;
    properties["$schema"] = {{"type", "string"}};
    properties["name"] = text_of_schema("What reports call it; without it: the file's name.");
    properties["description"] = text_of_schema("For people.");
    properties["collective"] = {{"enum", kinds}, {"description", "What every rank ends with."}};
    properties["chunks"] = expression("Of a rank's whole buffer.");
    properties["scratch"] = expression("Places of a chunk beside the buffer.");
    properties["let"] = list_of_schema(one_name(reference("number")));
    properties["let"]["description"] = "Names of one's own, in order.";
    properties["protocol"] = {
        {"enum", protocols}, {"description", "Without it, what NCCL would choose for a ring."}};
    properties["channels"] = expression("Copies of the program, each on its part of the data.");
    properties["needs"] = expression("What must hold of the ranks.");
    properties["blocks"] = list_of_schema(reference("block"));
    properties["blocks"]["description"] = "Thread blocks of a rank.";
    schema.update(object(properties, {"collective", "chunks", "blocks"}));
    schema["$defs"] = definitions();
    return schema;
}

}  // namespace switchfold::programs
