// A program: what a workload computes, as statements over named dimensions and tensors. Matrix
// multiplication, a contraction, a convolution and a chain of them are all programs; a Contraction
// is a checked view of one (core/workload/contraction_view.hpp). It has a text form:
//
//     program conv
//     dims h=56 w=56 f=64 c=64 r=3 s=3
//     f64 input I[c, 58, 58]
//     f64 input W[f, c, r, s] column-major
//     f64 output O[f, h, w] order 0 2 1
//     O[f, h, w] += I[c, h + r, w + s] * W[f, c, r, s]
//
//     program   = "program" name "dims" dim* tensor* statement*
//     name      = identifier | '"' any text, with \" and \\ in it '"'
//     dim       = identifier "=" number
//     tensor    = ("f64" | "f32") ("input" | "output" | "intermediate") identifier
//                 "[" [extent ("," extent)*] "]" [order]
//     extent    = number | a dimension, for as many as it has
//     order     = "row-major" | "column-major" | "order" axis*
//     statement = access "+=" access ["*" access]
//     access    = tensor "[" [affine ("," affine)*] "]"
//     affine    = term ("+" term)*
//     term      = [number "*"] dimension
//
// White space is free, # begins a comment. An identifier is a letter, then letters, digits and _;
// no word of the form is one. `order` lists the axes, counted from 0, from stride one outward;
// without it a tensor is row-major. Extents are printed as numbers, an affine in the order of the
// dimensions, and no order that is row-major.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/workload/affine.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Index into a program's tensors.
enum class TensorIndex : int {};
constexpr int index(TensorIndex t) { return static_cast<int>(t); }

// Immutable, and right once it is there. All its rules:
//
// - Dimensions and tensors are named by identifiers of at most 64 characters, each once among its
//   kind; the program's own name is any text without control characters.
// - There is at least one statement, and at most 64 dimensions, tensors, statements and axes of a
//   tensor.
// - Extents are at least 1, and a tensor has less than 2^62 bytes. Its order names each axis once.
// - An access has an affine for each axis of its tensor, with coefficients below 2^62. Its largest
//   value, at the last iteration of all its dimensions, is inside the axis; an axis may be longer
//   than that.
// - A statement writes an output or an intermediate. The axes of that are single dimensions with
//   the coefficient 1, each another one: each element is one sum, over the statement's other
//   dimensions, and what a tile writes is a box.
// - It reads one or two inputs or intermediates.
// - An input is read and an output is written at least once. An intermediate has exactly one
//   producer, which writes all of it, and exactly one access that reads it, in a later statement.
// - Every dimension is in a statement.
//
// An intermediate begins as zeros; to what an output has, sums are added.
class Program {
 public:
  static constexpr int most = 64;  // dimensions, tensors, statements, axes, characters of a name

  enum class Role { input, output, intermediate };

  struct Dim {
    std::string name;
    std::int64_t extent = 1;
    bool operator==(const Dim&) const = default;
  };

  struct Tensor {
    std::string name;
    std::vector<std::int64_t> extents;  // one for each axis
    std::vector<int> order;             // the axes from stride one outward
    ElementType type = ElementType::f64;
    Role role = Role::input;
    bool operator==(const Tensor&) const = default;
  };

  struct Access {
    TensorIndex tensor{};
    std::vector<Affine> axes;
    bool operator==(const Access&) const = default;
  };

  // out += in[0] * in[1], or out += in[0].
  struct Statement {
    Access out;
    std::vector<Access> in;
    bool operator==(const Statement&) const = default;
  };

  struct Parts {
    std::string name;
    std::vector<Dim> dims;
    std::vector<Tensor> tensors;
    std::vector<Statement> statements;
    bool operator==(const Parts&) const = default;
  };

  // The rule that parts break, and where: indices, -1 where it is no part of that kind.
  struct Fault {
    std::string problem, mend;
    int dim = -1, tensor = -1;
    int statement = -1, access = -1, axis = -1;  // access 0 is what is written, 1 and 2 are read
  };
  static std::optional<Fault> fault_of(const Parts& parts);

  // Throws UsageError with the name as its place where a rule is broken.
  explicit Program(Parts parts);

  const std::string& name() const { return parts_.name; }
  const std::vector<Dim>& dims() const { return parts_.dims; }
  const std::vector<Tensor>& tensors() const { return parts_.tensors; }
  const std::vector<Statement>& statements() const { return parts_.statements; }
  // For programs that differ in a part.
  const Parts& parts() const { return parts_; }

  const Dim& dim(DimId d) const { return dims()[static_cast<std::size_t>(index(d))]; }
  const Tensor& tensor(TensorIndex t) const {
    return tensors()[static_cast<std::size_t>(index(t))];
  }

  bool operator==(const Program&) const = default;

 private:
  Parts parts_;
};

const char* to_text(Program::Role);  // "input", "output", "intermediate"

// The orders that have names, of a tensor with so many axes.
std::vector<int> row_major_order(std::size_t axes);     // the last axis has stride one
std::vector<int> column_major_order(std::size_t axes);  // the first

// Distance between neighbours along each axis, and how many elements there are.
std::vector<Elements> strides(const Program::Tensor& tensor);
Elements size(const Program::Tensor& tensor);

// The same with other elements. Throws UsageError where a tensor becomes too large.
Program with_type(const Program& program, ElementType type);

// The text form, which reads back exactly: parse_program(to_text(p), ...) == p.
std::string to_text(const Program& program);
// "I[c, h + r, w + s]", "h + r"
std::string to_text(const Program& program, const Program::Access& access);
std::string to_text(const Program& program, const Affine& affine);

// Throws InputError with "PLACE:LINE:COLUMN", what is wrong and what to write instead.
Program parse_program(std::string_view text, const std::string& place);
// One statement alone, such as "O[y, x] += I[2*y + r, x + s] * W[r, s]", of dimensions with these
// extents. Its tensors are row-major, and as long as their indices reach or as "2*y + r of 230"
// says. The program has the text as its name. Throws InputError as above, and where an extent is
// missing or too much.
Program parse_statement(std::string_view text, const std::map<std::string, std::int64_t>& extents,
                        ElementType type, const std::string& place);
// Files of programs end in ".program". Throws InputError where one cannot be read or parsed.
bool is_program_file(std::string_view name);
Program load_program(const std::filesystem::path& file);

// Whether the text can be the name of a dimension or a tensor.
bool is_identifier(std::string_view text);

}  // namespace tcsim
