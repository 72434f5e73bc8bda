#include "emit/fused.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/fusion/chunks.hpp"
#include "core/fusion/leaf.hpp"
#include "core/fusion/tile_places.hpp"
#include "core/text/safe.hpp"
#include "emit/text.hpp"

namespace tcsim {

using fusion::FusedNode;
using fusion::Hold;
using fusion::OperationTree;

namespace emit {
namespace {

constexpr std::string_view fused_head = R"(
#include <hdf5.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef $T real;
#define REAL $H5

typedef struct {
  const char *name;
  hid_t file, data;
} tensor;

static const char *folder;

static void fail(const char *name, const char *problem) {
  fprintf(stderr, "%s/%s.h5: %s\n", folder, name, problem);
  exit(1);
}

static void path_of(const char *name, char *path, size_t size) {
  if ((size_t)snprintf(path, size, "%s/%s.h5", folder, name) >= size) fail(name, "its name is too long");
}

/* One chunk is kept: without it a part of a chunk is moved in slivers. */
static hid_t keep_one(size_t bytes) {
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_chunk_cache(access, 1, bytes, 1);
  return access;
}

static void open_input(tensor *t, const char *name, int rank, const hsize_t *size, size_t bytes) {
  char path[4096];
  path_of(name, path, sizeof path);
  t->name = name;
  t->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (t->file < 0) fail(name, "there is no such HDF5 file");
  const hid_t access = keep_one(bytes);
  t->data = H5Dopen2(t->file, "data", access);
  H5Pclose(access);
  if (t->data < 0) fail(name, "it has no data set \"data\"");
  const hid_t space = H5Dget_space(t->data);
  hsize_t found[H5S_MAX_RANK];
  int same = H5Sget_simple_extent_ndims(space) == rank;
  if (same) H5Sget_simple_extent_dims(space, found, NULL);
  for (int i = 0; same && i < rank; ++i) same = found[i] == size[i];
  H5Sclose(space);
  if (!same) fail(name, "the tensor has another shape");
}

static void make_result(tensor *t, const char *name, int rank, const hsize_t *size,
                        const hsize_t *chunk, size_t bytes) {
  char path[4096];
  path_of(name, path, sizeof path);
  t->name = name;
  t->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (t->file < 0) fail(name, "it cannot be made");
  const hid_t space = rank > 0 ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
  const hid_t made = H5Pcreate(H5P_DATASET_CREATE), access = keep_one(bytes);
  if (rank > 0) H5Pset_chunk(made, rank, chunk);
  H5Pset_fill_time(made, H5D_FILL_TIME_NEVER);
  t->data = H5Dcreate2(t->file, "data", REAL, space, H5P_DEFAULT, made, access);
  H5Pclose(access);
  H5Pclose(made);
  H5Sclose(space);
  if (t->data < 0) fail(name, "there is no room for it");
}

static void close_tensor(tensor *t) {
  if (H5Dclose(t->data) < 0 || H5Fclose(t->file) < 0) fail(t->name, "it cannot be written");
}

/* A tile between its file and memory, where it is dense and row-major. */
static void move_tile(const tensor *t, int rank, const hsize_t *at, const hsize_t *size, void *values,
                      int write) {
  const hid_t file = H5Dget_space(t->data);
  const hid_t memory = rank > 0 ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
  if (rank > 0) H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, size, NULL);
  const herr_t done = write ? H5Dwrite(t->data, REAL, memory, file, H5P_DEFAULT, values)
                            : H5Dread(t->data, REAL, memory, file, H5P_DEFAULT, values);
  H5Sclose(memory);
  H5Sclose(file);
  if (done < 0) fail(t->name, write ? "a tile cannot be written" : "a tile cannot be read");
}

static unsigned char *memory; /* of all tiles */
)";

// Of loops.
constexpr std::string_view fused_least = R"(
static size_t least(size_t a, size_t b) { return a < b ? a : b; }
)";

// An index's current range, in C.
struct RangeText {
  std::string begin, size;
};

class Writer {
 public:
  Writer(const OperationTree& tree, const FusedNode& node)
      : tree_(tree),
        node_(node),
        places_(tree, node, fusion::Buffering::single),
        chunks_(tree, {&node}),
        files_(files_of(tree, node)),
        held_(tree.arrays.size()) {
    for (const OperationTree::Index& i : tree.indices) {
      ranges_.push_back({"0", std::to_string(i.extent)});
    }
  }

  std::string text(const std::vector<std::string>& remarks) {
    const bool wide = fusion::element_type(tree_) == ElementType::f64;
    std::string top = "/* " + in_comment(tree_.name) + ": a chain of contractions, fused.\n";
    for (const std::string& line : remarks) top += "   " + in_comment(line) + "\n";
    top += "\n   cc -O3 THIS.c $(pkg-config --cflags --libs hdf5) -o chain && ./chain FOLDER\n\n";
    for (const std::string& line : lines_of(to_text(tree_, node_))) {
      top += "   " + in_comment(line) + "\n";
    }
    std::string all = top + "*/\n";
    all += fill_in(fused_head, {{"T", wide ? "double" : "float"},
                                {"H5", wide ? "H5T_NATIVE_DOUBLE" : "H5T_NATIVE_FLOAT"}});
    for (const auto& [name, use] : files_) {
      all += fmt::format("static tensor file_{}; /* {} */\n", use.array, in_comment(name));
    }
    out_.add("");
    out_.add("static void run(void) {");
    node(node_);
    out_.close(0);
    if (names_ > 0) all += fused_least;
    all += out_.text();
    Lines end;
    end.add("");
    end.add("int main(int count, char **arguments) {");
    end.add("if (count != 2) {");
    end.add("fprintf(stderr, \"give the folder of the tensors\\n\");");
    end.add("return 2;");
    end.add("}");
    end.add("folder = arguments[1];");
    end.add("H5Eset_auto2(H5E_DEFAULT, NULL, NULL);");
    end.add(fmt::format("memory = aligned_alloc(64, {});",
                        std::max<std::int64_t>(64, places_.size().value())));
    end.add("if (memory == NULL) {");
    end.add("fprintf(stderr, \"there is no memory for the tiles\\n\");");
    end.add("return 1;");
    end.add("}");
    for (const auto& [name, use] : files_) open(end, name, use);
    end.add("run();");
    for (const auto& [name, use] : files_)
      end.add(fmt::format("close_tensor(&file_{});", use.array));
    for (const auto& [name, use] : files_) {
      if (!tree_.array(use.array).is_intermediate()) continue;
      end.add("{");
      end.add("char path[4096];");
      end.add(fmt::format("path_of({}, path, sizeof path);", literal(name)));
      end.add("remove(path);");
      end.add("}");
    }
    end.add("free(memory);");
    end.add("return 0;");
    end.close(0);
    return all + end.text();
  }

 private:
  // A loop around what is being written.
  struct Around {
    int index;
    std::string variable, begin;
  };

  static std::string literal(const std::string& name) { return '"' + name + '"'; }

  void open(Lines& to, const std::string& name, const fusion::FileUse& use) const {
    const auto listed = [](const std::vector<std::int64_t>& numbers) {
      std::string text = "{";
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
      }
      return text + (numbers.empty() ? "0}" : "}");
    };
    const std::vector<std::int64_t> size = tree_.extents(use.array);
    const std::vector<std::int64_t> chunk = chunks_.of(use.array);
    std::int64_t bytes = tree_.array(use.array).element.value();
    for (std::int64_t n : chunk) bytes *= n;
    to.add("{");
    to.add(fmt::format("const hsize_t size[] = {};", listed(size)));
    if (use.made) to.add(fmt::format("const hsize_t chunk[] = {};", listed(chunk)));
    to.add(fmt::format("{}(&file_{}, {}, {}, size, {}{});", use.made ? "make_result" : "open_input",
                       use.array, literal(name), size.size(), use.made ? "chunk, " : "",
                       use.made ? bytes : fusion::usual_chunk.value()));
    to.add("}");
  }

  void node(const FusedNode& node) {
    if (const auto* loop = std::get_if<fusion::TileLoop>(&node.is)) {
      tile_loop(*loop);
    } else if (const auto* parts = std::get_if<fusion::InOrder>(&node.is)) {
      for (const FusedNode& part : parts->parts) this->node(part);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      tile(*hold);
    } else {
      statement(std::get<fusion::Do>(node.is).statement);
    }
  }

  void tile_loop(const fusion::TileLoop& loop) {
    RangeText& range = ranges_[static_cast<std::size_t>(loop.index)];
    const RangeText whole = range;
    const int number = ++names_;
    const std::string variable = fmt::format("i{}", number), size = fmt::format("n{}", number);
    out_.add(fmt::format("/* {} by {} */", tree_.indices[static_cast<std::size_t>(loop.index)].name,
                         loop.tile));
    const std::string end = whole.begin == "0" ? whole.size : whole.begin + " + " + whole.size;
    out_.add(fmt::format("for (size_t {0} = {1}; {0} < {2}; {0} += {3}) {{", variable, whole.begin,
                         end, loop.tile));
    out_.add(fmt::format("const size_t {} = least({}, {} - {});", size, loop.tile, end, variable));
    range = {variable, size};
    around_.push_back({loop.index, variable, whole.begin});
    node(*loop.body);
    around_.pop_back();
    range = whole;
    out_.add("}");
  }

  void tile(const Hold& hold) {
    const std::vector<int>& axes = tree_.array(hold.array).indices;
    std::vector<RangeText>& at = held_[static_cast<std::size_t>(hold.array)];
    at.clear();
    std::string begins, sizes, elements = "sizeof(real)";
    for (int i : axes) {
      at.push_back(ranges_[static_cast<std::size_t>(i)]);
      begins += (begins.empty() ? "" : ", ") + at.back().begin;
      sizes += (sizes.empty() ? "" : ", ") + at.back().size;
      elements += " * " + at.back().size;
    }
    const std::string name = fmt::format("t{}", hold.array);
    out_.add(fmt::format("/* {} {} */", to_text(hold.kind), hold_name(tree_, hold.array)));
    out_.add("{");
    out_.add(fmt::format("real *const {} = (real *)(memory + {});", name,
                         places_.of(hold).begin.value()));
    const bool on_disk = hold.kind != Hold::Kind::buffer;
    if (on_disk) {
      out_.add(fmt::format("const hsize_t {}_at[] = {{{}}}, {}_size[] = {{{}}};", name,
                           axes.empty() ? "0" : begins, name, axes.empty() ? "0" : sizes));
    }
    const auto move = [&](bool write) {
      const int file = files_.at(tree_.array(hold.array).name).array;
      return fmt::format("move_tile(&file_{}, {}, {}_at, {}_size, {}, {});", file, axes.size(),
                         name, name, name, write ? 1 : 0);
    };
    const std::string zeros = fmt::format("memset({}, 0, {});", name, elements);
    const std::string first = first_time(axes);
    if (hold.kind == Hold::Kind::load) {
      out_.add(move(false));
    } else if (!on_disk || first.empty()) {
      out_.add(zeros);
    } else {
      out_.add(fmt::format("if ({}) {{", first));
      out_.add(zeros);
      out_.add("} else {");
      out_.add(move(false));
      out_.add("}");
    }
    node(*hold.body);
    if (hold.kind == Hold::Kind::store) out_.add(move(true));
    out_.add("}");
  }

  // A tile comes again with each step of a loop over an index that its array lacks.
  std::string first_time(const std::vector<int>& axes) const {
    std::string first;
    for (const Around& loop : around_) {
      if (std::ranges::find(axes, loop.index) != axes.end()) continue;
      first += (first.empty() ? "" : " && ") + fmt::format("{} == {}", loop.variable, loop.begin);
    }
    return first;
  }

  // How far elements that are neighbours along an index are apart in what is held of an array; none
  // where it lacks it.
  std::string stride(int array, int index) const {
    const std::vector<int>& axes = tree_.array(array).indices;
    const auto axis = std::ranges::find(axes, index) - axes.begin();
    if (axis == std::ssize(axes)) return "";
    std::string product;
    for (auto inner = axis + 1; inner < std::ssize(axes); ++inner) {
      product += (product.empty() ? "" : " * ") +
                 held_[static_cast<std::size_t>(array)][static_cast<std::size_t>(inner)].size;
    }
    return product.empty() ? "1" : product;
  }

  // Where the element of the loops' current places is: x_0, x_1, ... from the tile's beginning.
  std::string element(int array) const {
    const std::vector<int>& axes = tree_.array(array).indices;
    std::string place;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const RangeText& held = held_[static_cast<std::size_t>(array)][axis];
      const RangeText& now = ranges_[static_cast<std::size_t>(axes[axis])];
      const std::string step = stride(array, axes[axis]);
      std::string at = fmt::format("x{}", axes[axis]);
      if (held.begin != now.begin) {
        const std::string apart = held.begin == "0" ? now.begin : now.begin + " - " + held.begin;
        at = apart + " + " + at;
        if (step != "1") at = "(" + at + ")";
      }
      place += (place.empty() ? "" : " + ") + at + (step == "1" ? "" : " * (" + step + ")");
    }
    return place.empty() ? "0" : place;
  }

  // Reductions between the result's last axis, along which its elements are neighbours, and the
  // others.
  void statement(int s) {
    const OperationTree::Statement& of = tree_.statement(s);
    const std::vector<int>& kept = tree_.array(of.out).indices;
    std::vector<int> order(kept.begin(), kept.empty() ? kept.end() : kept.end() - 1);
    for (int i : of.indices) {
      if (std::ranges::find(kept, i) == kept.end()) order.push_back(i);
    }
    if (!kept.empty()) order.push_back(kept.back());
    const int depth = static_cast<int>(order.size());
    out_.add(fmt::format("/* {} */", tree_.array(of.out).name));
    for (int i : order) {
      out_.add(fmt::format("for (size_t x{0} = 0; x{0} < {1}; ++x{0}) {{", i,
                           ranges_[static_cast<std::size_t>(i)].size));
    }
    out_.add(fmt::format("t{}[{}] += t{}[{}] * t{}[{}];", of.out, element(of.out), of.left,
                         element(of.left), of.right, element(of.right)));
    for (int i = 0; i < depth; ++i) out_.add("}");
  }

  const OperationTree& tree_;
  const FusedNode& node_;
  const fusion::TilePlaces places_;
  const fusion::Chunks chunks_;
  const std::map<std::string, fusion::FileUse> files_;
  std::vector<RangeText> ranges_;             // by index
  std::vector<std::vector<RangeText>> held_;  // by array and axis
  std::vector<Around> around_;
  int names_ = 0;
  Lines out_;
};

}  // namespace
}  // namespace emit

std::string emit_fused_c(const OperationTree& tree, const FusedNode& node,
                         const EmitFusedOptions& options) {
  return emit::Writer(tree, node).text(options.remarks);
}

}  // namespace tcsim
