#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bench/matrix_view.hpp"
#include "bench/peer.hpp"

namespace tcsim::bench {

namespace {

// Dimensions of the one multiplication, and how it sees the tensors.
struct Part {
  Group m, n, k;
  MatrixView a, b, c;
};

// Groups of a class that are one behind the other in both of its tensors: none, and every run.
std::vector<Group> runs(const Contraction& c, DimClass of, TensorId one, TensorId other) {
  std::vector<Group> all{{}};
  const Group dims = in_order_of(c, one, of);
  for (auto first = dims.begin(); first != dims.end(); ++first) {
    for (auto last = first + 1;; ++last) {
      Group group(first, last);
      // As one row, whose stride may be any.
      if (!matrix_view(c, one, {}, group) || !matrix_view(c, other, {}, group)) break;
      all.push_back(std::move(group));
      if (last == dims.end()) break;
    }
  }
  return all;
}

std::optional<Part> part(const Contraction& c, const Group& m, const Group& n, const Group& k) {
  const auto a = matrix_view(c, TensorId::A, m, k), b = matrix_view(c, TensorId::B, k, n),
             to = matrix_view(c, TensorId::C, m, n);
  if (!a || !b || !to) return {};
  return Part{m, n, k, *a, *b, *to};
}

// Operations for each element that a call touches.
double intensity(const Contraction& c, const Part& p) {
  const auto m = static_cast<double>(extent(c, p.m)), n = static_cast<double>(extent(c, p.n)),
             k = static_cast<double>(extent(c, p.k));
  return m * n * k / (m * k + k * n + m * n);
}

Part best_part(const Contraction& c) {
  Part best = *part(c, {}, {}, {});
  for (const Group& m : runs(c, DimClass::m, TensorId::C, TensorId::A)) {
    for (const Group& n : runs(c, DimClass::n, TensorId::C, TensorId::B)) {
      for (const Group& k : runs(c, DimClass::k, TensorId::A, TensorId::B)) {
        const auto p = part(c, m, n, k);
        if (p && intensity(c, *p) > intensity(c, best)) best = *p;
      }
    }
  }
  return best;
}

class LoopOverGemm : public Peer {
 public:
  LoopOverGemm(const Contraction& c, const Gemm& gemm, const Part& part)
      : gemm_(gemm),
        part_(part),
        m_(extent(c, part.m)),
        n_(extent(c, part.n)),
        k_(extent(c, part.k)) {
    // Sums innermost, so that a part of C stays in the caches; outside them C in memory order.
    std::vector<DimId> outer = c.memory_order(TensorId::C);
    std::ranges::reverse(outer);
    for (DimId d : c.dims_of(DimClass::k)) outer.push_back(d);
    for (DimId d : outer) {
      const auto is_in = [&](const Group& g) { return std::ranges::find(g, d) != g.end(); };
      if (c.dim(d).extent == 1 || is_in(part.m) || is_in(part.n) || is_in(part.k)) continue;
      (c.dim_class(d) == DimClass::k ? sums_ : parts_).dims.push_back(loop_over(c, d));
    }
  }

  std::string name() const override { return "loops " + gemm_.name(); }

  std::string how() const override {
    std::int64_t calls = 1;
    for (const LoopNest* nest : {&parts_, &sums_}) {
      for (const LoopNest::Dim& d : nest->dims) calls *= d.extent;
    }
    return fmt::format("{} of {}x{}x{}", calls, m_, n_, k_);
  }

  void run(const double* a, const double* b, double* c) override {
    parts_.run(3, [&](const std::int64_t* outer) {
      double beta = 0;
      sums_.run(3, [&](const std::int64_t* inner) {
        multiply(gemm_, m_, n_, k_, a + outer[0] + inner[0], part_.a, b + outer[1] + inner[1],
                 part_.b, beta, c + outer[2], part_.c);
        beta = 1;
      });
    });
  }

 private:
  Gemm gemm_;
  Part part_;
  std::int64_t m_, n_, k_;
  LoopNest parts_, sums_;
};

}  // namespace

std::unique_ptr<Peer> make_loop_over_gemm(const Contraction& c, const Gemm& gemm) {
  if (c.type() != ElementType::f64) throw std::invalid_argument("a peer for f64 only");
  return std::make_unique<LoopOverGemm>(c, gemm, best_part(c));
}

}  // namespace tcsim::bench
