#include "tools/serve/flame.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "export/json/json_text.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

struct Node {
  size_t name = 0;
  int64_t value = 0;
  int64_t self = 0;
  std::vector<size_t> children;
};

class FlameTree {
 public:
  explicit FlameTree(bool inverted) : inverted_(inverted) {}

  void Add(absl::string_view line) {
    const size_t space = line.rfind(' ');
    int64_t value = 0;
    if (space == absl::string_view::npos || !absl::SimpleAtoi(line.substr(space + 1), &value)) {
      return;
    }
    std::vector<absl::string_view> frames = absl::StrSplit(line.substr(0, space), ';');
    if (inverted_) absl::c_reverse(frames);
    size_t node = 0;
    nodes_[0].value += value;
    for (const absl::string_view frame : frames) {
      node = ChildOf(node, frame);
      nodes_[node].value += value;
    }
    nodes_[node].self += value;
  }

  std::string Json(const FlameOptions& options) {
    // A node is never heavier than its parent, which was made before it, so whatever is kept has
    // its parent.
    std::vector<size_t> order(nodes_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    absl::c_stable_sort(order,
                        [&](size_t a, size_t b) { return nodes_[a].value > nodes_[b].value; });
    std::vector<bool> is_kept(nodes_.size());
    const size_t count = std::min<size_t>(order.size(), options.max_nodes);
    for (size_t i = 0; i < count; ++i) is_kept[order[i]] = true;
    is_kept[0] = true;

    TextBuffer out;
    JsonWriter json(&out);
    json.BeginObject();
    json.Member("unit", options.unit);
    json.Member("total", nodes_[0].value);
    json.Member("nodes_left_out", uint64_t{order.size() - count});
    json.Key("nodes");
    json.BeginArray();
    // Depth first, without recursion, since stacks may be deep.
    std::vector<std::pair<size_t, int64_t>> waiting = {{0, -1}};
    std::vector<uint64_t> place_of_name(names_.size());
    std::vector<absl::string_view> names;
    int64_t rows = 0;
    while (!waiting.empty()) {
      const auto [index, parent] = waiting.back();
      waiting.pop_back();
      Node& node = nodes_[index];
      uint64_t& place = place_of_name[node.name];
      if (place == 0) {
        names.push_back(names_[node.name]);
        place = names.size();
      }
      json.BeginArray();
      json.Value(parent);
      json.Value(place - 1);
      json.Value(node.value);
      json.Value(node.self);
      json.EndArray();
      absl::c_sort(node.children, [&](size_t a, size_t b) {
        if (nodes_[a].value != nodes_[b].value) return nodes_[a].value > nodes_[b].value;
        return names_[nodes_[a].name] < names_[nodes_[b].name];
      });
      // The first child is the last one put here.
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
        if (is_kept[*child]) waiting.emplace_back(*child, rows);
      }
      ++rows;
    }
    json.EndArray();
    json.Key("names");
    json.BeginArray();
    for (const absl::string_view name : names) json.Value(name);
    json.EndArray();
    json.EndObject();
    return std::string(out.view());
  }

 private:
  size_t ChildOf(size_t parent, absl::string_view name) {
    const auto [known, is_new_name] = places_.try_emplace(name, names_.size());
    if (is_new_name) names_.push_back(name);
    const auto [child, is_new] = children_.try_emplace({parent, known->second}, nodes_.size());
    if (is_new) {
      Node node;
      node.name = known->second;
      nodes_.push_back(std::move(node));
      nodes_[parent].children.push_back(child->second);
    }
    return child->second;
  }

  const bool inverted_;
  std::vector<Node> nodes_ = std::vector<Node>(1);  // The first one is the root.
  std::vector<absl::string_view> names_ = {""};
  absl::flat_hash_map<absl::string_view, size_t> places_ = {{"", 0}};
  absl::flat_hash_map<std::pair<size_t, size_t>, size_t> children_;
};

}  // namespace

std::string FlameJson(absl::string_view folded, const FlameOptions& options) {
  FlameTree tree(options.inverted);
  for (const absl::string_view line : absl::StrSplit(folded, '\n', absl::SkipEmpty())) {
    tree.Add(line);
  }
  return tree.Json(options);
}

}  // namespace gotrace::internal
