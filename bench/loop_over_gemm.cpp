#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "bench/libxsmm.hpp"
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

// Of the parts that `allowed` takes; that of one element each is one of them.
template <class Allowed>
Part best_part(const Contraction& c, Allowed&& allowed) {
  Part best = *part(c, {}, {}, {});
  for (const Group& m : runs(c, DimClass::m, TensorId::C, TensorId::A)) {
    for (const Group& n : runs(c, DimClass::n, TensorId::C, TensorId::B)) {
      for (const Group& k : runs(c, DimClass::k, TensorId::A, TensorId::B)) {
        const auto p = part(c, m, n, k);
        if (p && allowed(*p) && intensity(c, *p) > intensity(c, best)) best = *p;
      }
    }
  }
  return best;
}

// Around calls for parts.
class PartLoops {
 public:
  PartLoops(const Contraction& c, const Part& part) {
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

  std::int64_t calls() const {
    std::int64_t calls = 1;
    for (const LoopNest* nest : {&parts_, &sums_}) {
      for (const LoopNest::Dim& d : nest->dims) calls *= d.extent;
    }
    return calls;
  }

  // call(a, b, c, first): the first one that writes that part of C.
  template <class T, class Call>
  void run(const T* a, const T* b, T* c, Call&& call) const {
    parts_.run(3, [&](const std::int64_t* outer) {
      bool first = true;
      sums_.run(3, [&](const std::int64_t* inner) {
        call(a + outer[0] + inner[0], b + outer[1] + inner[1], c + outer[2], first);
        first = false;
      });
    });
  }

 private:
  LoopNest parts_, sums_;
};

template <class T>
class LoopOverGemm : public PeerOf<T> {
 public:
  LoopOverGemm(const Contraction& c, const Gemm& gemm, const Part& part)
      : gemm_(gemm),
        part_(part),
        m_(extent(c, part.m)),
        n_(extent(c, part.n)),
        k_(extent(c, part.k)),
        loops_(c, part) {}

  std::string name() const override { return "loops " + gemm_.name(); }
  std::string how() const override {
    return fmt::format("{} of {}x{}x{}", loops_.calls(), m_, n_, k_);
  }

  void execute(const T* a, const T* b, T* c) override {
    loops_.run(a, b, c, [this](const T* left, const T* right, T* to, bool first) {
      multiply(gemm_, m_, n_, k_, left, part_.a, right, part_.b, T(first ? 0 : 1), to, part_.c);
    });
  }

 private:
  Gemm gemm_;
  Part part_;
  std::int64_t m_, n_, k_;
  PartLoops loops_;
};

template <class T>
class LoopOverLibxsmm : public PeerOf<T> {
 public:
  LoopOverLibxsmm(const Contraction& c, const Part& part, const SmallShape& shape, bool swapped,
                  SmallGemm<T> write, SmallGemm<T> add)
      : shape_(shape),
        swapped_(swapped),
        loops_(c, part),
        write_(std::move(write)),
        add_(std::move(add)) {}

  std::string name() const override { return "loops libxsmm"; }
  std::string how() const override {
    return fmt::format("{} of {}x{}x{}", loops_.calls(), shape_.m, shape_.n, shape_.k);
  }

  void execute(const T* a, const T* b, T* c) override {
    loops_.run(a, b, c, [this](const T* left, const T* right, T* to, bool first) {
      (first ? write_ : add_)(swapped_ ? right : left, swapped_ ? left : right, to);
    });
  }

 private:
  SmallShape shape_;
  bool swapped_;
  PartLoops loops_;
  SmallGemm<T> write_, add_;
};

// Beyond this libxsmm makes no code of its own (its LIBXSMM_MAX_MNK, 64^3).
constexpr std::int64_t most_products = 64 * 64 * 64;

template <class T>
std::unique_ptr<Peer> over_libxsmm(const Contraction& c) {
  // As A B or, where C is a matrix by rows, C^T = B^T A^T; nothing else may be transposed.
  const auto plain = [](const Part& p) {
    const bool rows = p.c.transposed;
    return p.a.transposed == rows && p.b.transposed == rows;
  };
  const Part p = best_part(c, plain);
  const bool swapped = p.c.transposed;
  const std::int64_t m = extent(c, p.m), n = extent(c, p.n), k = extent(c, p.k);
  const std::int64_t largest = std::max({m, n, k, p.a.leading, p.b.leading, p.c.leading});
  if (largest > std::numeric_limits<int>::max() / 2 || m * n > most_products / k) return {};
  const auto to_int = [](std::int64_t x) { return static_cast<int>(x); };
  SmallShape shape{to_int(swapped ? n : m),
                   to_int(swapped ? m : n),
                   to_int(k),
                   to_int(swapped ? p.b.leading : p.a.leading),
                   to_int(swapped ? p.a.leading : p.b.leading),
                   to_int(p.c.leading)};
  const auto write = libxsmm_gemm<T>(shape);
  shape.add = true;
  const auto add = libxsmm_gemm<T>(shape);
  if (!write || !add) return {};
  return std::make_unique<LoopOverLibxsmm<T>>(c, p, shape, swapped, *write, *add);
}

}  // namespace

std::unique_ptr<Peer> make_loop_over_gemm(const Contraction& c, const Gemm& gemm) {
  const Part part = best_part(c, [](const Part&) { return true; });
  if (c.type() == ElementType::f64) return std::make_unique<LoopOverGemm<double>>(c, gemm, part);
  return std::make_unique<LoopOverGemm<float>>(c, gemm, part);
}

std::unique_ptr<Peer> make_loop_over_libxsmm(const Contraction& c) {
  return c.type() == ElementType::f64 ? over_libxsmm<double>(c) : over_libxsmm<float>(c);
}

}  // namespace tcsim::bench
