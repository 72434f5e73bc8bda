#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "chains/run_chain.hpp"
#include "chains/tensor_files.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/fusion/leaf.hpp"
#include "core/fusion/walk.hpp"
#include "core/stop.hpp"
#include "kernels/memory.hpp"

namespace tcsim::chains {

namespace fs = std::filesystem;
using fusion::OperationTree;
using fusion::Range;
using fusion::Ranges;

namespace {

// Values of each index of a result that a check looks at.
constexpr std::int64_t most_checked = 2;

// The chain on a few places of each index of a result, in plain loops.
class Reference {
 public:
  Reference(const OperationTree& tree, Ranges ranges) : tree_(tree), ranges_(std::move(ranges)) {
    values_.resize(tree.arrays.size());
  }

  struct Value {
    double sum = 0, magnitude = 0;
  };

  template <class T>
  void read(int a, const fs::path& folder) {
    const std::vector<Range> at = fusion::ranges_of(tree_, a, ranges_);
    std::vector<T> raw(static_cast<std::size_t>(product(extents_of(at))));
    TensorFile::open(file_of(folder, tree_, a), tree_.extents(a), fusion::element_type(tree_))
        .read(at, raw.data());
    std::vector<Value>& to = values_[static_cast<std::size_t>(a)];
    for (T v : raw) to.push_back({static_cast<double>(v), std::abs(static_cast<double>(v))});
  }

  const std::vector<Value>& evaluate(int s) {
    const OperationTree::Statement& statement = tree_.statement(s);
    std::vector<Value>& out = values_[static_cast<std::size_t>(statement.out)];
    const std::int64_t size = product(extents_of(fusion::ranges_of(tree_, statement.out, ranges_)));
    out.assign(static_cast<std::size_t>(size), {});
    const std::vector<Value>& left = values_[static_cast<std::size_t>(statement.left)];
    const std::vector<Value>& right = values_[static_cast<std::size_t>(statement.right)];
    const Steps steps{strides(statement, statement.out), strides(statement, statement.left),
                      strides(statement, statement.right)};
    add(statement, steps, 0, out.data(), left.data(), right.data());
    return out;
  }
  void forget(int a) { std::vector<Value>().swap(values_[static_cast<std::size_t>(a)]); }

 private:
  struct Steps {
    Extents out, left, right;  // by the statement's indices
  };

  std::int64_t range(int i) const { return ranges_[static_cast<std::size_t>(i)].size; }

  Extents strides(const OperationTree::Statement& s, int a) const {
    Extents strides(s.indices.size());
    std::int64_t stride = 1;
    const std::vector<int>& axes = tree_.array(a).indices;
    for (std::size_t axis = axes.size(); axis > 0; --axis) {
      const auto place = std::ranges::lower_bound(s.indices, axes[axis - 1]) - s.indices.begin();
      strides[static_cast<std::size_t>(place)] = stride;
      stride *= range(axes[axis - 1]);
    }
    return strides;
  }

  void add(const OperationTree::Statement& s, const Steps& steps, std::size_t depth, Value* out,
           const Value* left, const Value* right) const {
    if (depth == s.indices.size()) {
      out->sum += left->sum * right->sum;
      out->magnitude += left->magnitude * right->magnitude;
      return;
    }
    if (depth == 0) StopScope::heed();
    for (std::int64_t i = 0; i < range(s.indices[depth]); ++i) {
      add(s, steps, depth + 1, out + i * steps.out[depth], left + i * steps.left[depth],
          right + i * steps.right[depth]);
    }
  }

  const OperationTree& tree_;
  Ranges ranges_;
  std::vector<std::vector<Value>> values_;
};

template <class T>
double check_as(const OperationTree& tree, const fs::path& folder, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Ranges ranges = fusion::all_of(tree);
  for (int root : tree.roots()) {
    for (int i : tree.array(tree.statement(root).out).indices) {
      Range& r = ranges[static_cast<std::size_t>(i)];
      const std::int64_t size = std::min(r.size, most_checked);
      r = {std::uniform_int_distribution<std::int64_t>(0, r.size - size)(random), size};
    }
  }
  double bytes = 0;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    double n = sizeof(Reference::Value) + sizeof(T);
    for (const Range& r : fusion::ranges_of(tree, static_cast<int>(a), ranges)) {
      n *= static_cast<double>(r.size);
    }
    bytes += n;
  }
  if (bytes > static_cast<double>(available_memory().value())) {
    throw UnsupportedError("--check", fmt::format("takes {:.3g} GB of memory", bytes / 1e9),
                           "leave it out, or use smaller sizes");
  }
  Reference reference(tree, ranges);
  double worst = 0;
  double terms = 2;
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    const OperationTree::Statement& statement = tree.statement(s);
    double sums = 1;
    const fusion::IndexSet kept = tree.array(statement.out).set();
    for (int i : fusion::without(statement.indices, kept)) {
      sums *= static_cast<double>(tree.extent(i));
    }
    terms += sums + 2;
    for (int a : {statement.left, statement.right}) {
      if (tree.array(a).producer < 0) reference.read<T>(a, folder);
    }
    const std::vector<Reference::Value>& right = reference.evaluate(s);
    for (int a : {statement.left, statement.right}) reference.forget(a);
    if (tree.parent(s) >= 0) continue;
    const std::vector<Range> at = fusion::ranges_of(tree, statement.out, ranges);
    std::vector<T> found(right.size());
    TensorFile::open(file_of(folder, tree, statement.out), tree.extents(statement.out),
                     fusion::element_type(tree))
        .read(at, found.data());
    const double unit = std::numeric_limits<T>::epsilon() / 2;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const double error = std::abs(static_cast<double>(found[i]) - right[i].sum);
      const double bound = terms * unit * right[i].magnitude;
      const double relative = error == 0 ? 0 : error / bound;
      worst = std::isnan(relative) ? std::numeric_limits<double>::infinity()
                                   : std::max(worst, relative);
    }
  }
  return worst;
}

}  // namespace

double check_chain(const OperationTree& tree, const fs::path& folder, std::uint64_t seed) {
  return fusion::element_type(tree) == ElementType::f64 ? check_as<double>(tree, folder, seed)
                                                        : check_as<float>(tree, folder, seed);
}

}  // namespace tcsim::chains
