// Small random programs that keep all of Program's rules, for tests that hold for all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/workload/program.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim::test {

// A chain of up to four statements: each but the last writes an intermediate that the next reads;
// inputs are indexed by any sums, and may be longer than they reach.
class RandomProgram {
 public:
  explicit RandomProgram(Random& random) : random_(random) {}

  Program make() {
    p_.name = random_.pick<std::string>({"conv", "tccg:8", "ab,bc->ac", "dims", "two words", "\"",
                                         "a\\\"b\\", "é", "# no comment", "_", "9"});
    for (std::int64_t n = random_.between(0, 6); n > 0; --n) {
      p_.dims.push_back({name(p_.dims.size()), random_.chance(20) ? 1 : random_.between(1, 9)});
    }
    used_.resize(p_.dims.size());
    const std::int64_t statements = random_.between(1, 4);
    for (std::int64_t i = 1; i <= statements; ++i) statement(i == statements);
    // What no statement has yet, an input takes.
    Program::Access& first = p_.statements[0].in[0];
    for (std::size_t d = 0; d < used_.size(); ++d) {
      if (used_[d]) continue;
      p_.tensors[at(first.tensor)].extents.push_back(p_.dims[d].extent);
      first.axes.push_back({{{DimId{static_cast<int>(d)}, 1}}});
    }
    for (Program::Tensor& t : p_.tensors) {
      t.order = random_.chance(40) ? row_major_order(t.extents.size())
                                   : column_major_order(t.extents.size());
      if (random_.chance(40)) random_.shuffle(t.order);
    }
    return Program(p_);
  }

 private:
  static std::size_t at(TensorIndex t) { return static_cast<std::size_t>(index(t)); }

  std::string name(std::size_t n) {
    return random_.pick<std::string>({"h", "W", "row_", "x1y", "A", "f6", "inputs"}) +
           (random_.chance(50) ? "" : "_") + std::string(n, 'q');
  }

  TensorIndex tensor(Program::Role role) {
    Program::Tensor t;
    t.name = name(p_.tensors.size());
    t.type = random_.chance(80) ? ElementType::f64 : ElementType::f32;
    t.role = role;
    p_.tensors.push_back(t);
    return TensorIndex{static_cast<int>(p_.tensors.size()) - 1};
  }

  std::vector<DimId> some_dims(std::int64_t most) {
    std::vector<DimId> dims;
    for (std::size_t d = 0; d < p_.dims.size(); ++d) dims.push_back(DimId{static_cast<int>(d)});
    random_.shuffle(dims);
    dims.resize(static_cast<std::size_t>(
        random_.between(0, std::min(most, static_cast<std::int64_t>(dims.size())))));
    for (DimId d : dims) used_[static_cast<std::size_t>(index(d))] = true;
    return dims;
  }

  void axis(Program::Tensor& t, Program::Access& access) {
    Affine affine;
    std::int64_t reach = 0;
    for (DimId d : some_dims(3)) {
      const std::int64_t steps = p_.dims[static_cast<std::size_t>(index(d))].extent - 1;
      std::int64_t coefficient = random_.chance(70) ? 1 : random_.between(2, 4);
      if (steps == 0 && random_.chance(10)) coefficient = (std::int64_t{1} << 62) - 1;
      affine.terms.push_back({d, coefficient});
      reach += coefficient * steps;
    }
    if (affine.terms.empty()) return;
    access.axes.push_back(affine);
    t.extents.push_back(reach + 1 + (random_.chance(20) ? random_.between(1, 5) : 0));
  }

  Program::Access input() {
    Program::Access access{tensor(Program::Role::input), {}};
    for (std::int64_t n = random_.between(0, 4); n > 0; --n) {
      axis(p_.tensors[at(access.tensor)], access);
    }
    return access;
  }

  void statement(bool last) {
    Program::Statement s;
    if (!p_.statements.empty()) s.in.push_back(p_.statements.back().out);
    if (s.in.empty() || random_.chance(70)) s.in.push_back(input());
    if (random_.chance(50)) std::reverse(s.in.begin(), s.in.end());
    s.out.tensor = tensor(last ? Program::Role::output : Program::Role::intermediate);
    for (DimId d : some_dims(4)) {
      s.out.axes.push_back({{{d, 1}}});
      p_.tensors[at(s.out.tensor)].extents.push_back(
          p_.dims[static_cast<std::size_t>(index(d))].extent);
    }
    p_.statements.push_back(s);
  }

  Random& random_;
  Program::Parts p_;
  std::vector<bool> used_;
};

inline Program random_program(Random& random) { return RandomProgram(random).make(); }

}  // namespace tcsim::test
