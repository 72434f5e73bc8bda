// Every peer computes the contraction. A BLAS that is not installed is left out; plain loops in its
// place run the same views and transpositions everywhere.
#include "bench/peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "bench/libxsmm.hpp"
#include "bench/matrix_view.hpp"
#include "bench/numpy.hpp"
#include "bench/tblis.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/suite.hpp"

namespace tcsim::bench {
namespace {

// Sums over all dimensions, one by one.
template <class T>
void evaluate(const Contraction& c, int dim, const T* a, const T* b, T* to) {
  if (dim == c.dim_count()) {
    *to += *a * *b;
    return;
  }
  const DimId d{dim};
  for (std::int64_t i = 0; i < c.dim(d).extent; ++i) {
    evaluate(c, dim + 1, a + i * c.stride(TensorId::A, d).value(),
             b + i * c.stride(TensorId::B, d).value(), to + i * c.stride(TensorId::C, d).value());
  }
}

template <class T>
class Problem {
 public:
  explicit Problem(const Contraction& c) : c_(c) {
    std::mt19937 random(7);
    // Small whole numbers: sums are exact in any order.
    std::uniform_int_distribution<int> value(-3, 3);
    for (auto* t : {&a_, &b_}) {
      t->resize(static_cast<std::size_t>(c.size(t == &a_ ? TensorId::A : TensorId::B).value()));
      for (T& x : *t) x = static_cast<T>(value(random));
    }
    expected_.assign(static_cast<std::size_t>(c.size(TensorId::C).value()), 0);
    evaluate(c, 0, a_.data(), b_.data(), expected_.data());
  }

  // Before it chose among its ways, and after.
  void expect(Peer& peer) const {
    for (int i = 0; i < 2; ++i) {
      std::vector<T> actual(expected_.size(), std::numeric_limits<T>::quiet_NaN());
      peer.run(a_.data(), b_.data(), actual.data());
      EXPECT_EQ(actual, expected_) << peer.name() << ": " << peer.how() << "\n"
                                   << c_.label() << " " << c_.sizes() << " " << to_text(c_.layout())
                                   << " " << to_text(c_.type());
      if (i == 0) peer.choose(a_.data(), b_.data(), actual.data());
    }
  }

 private:
  const Contraction& c_;
  std::vector<T> a_, b_, expected_;
};

std::vector<Gemm> gemms() {
  std::vector<Gemm> all{Gemm::plain()};
  for (const char* word : {"openblas", "blis", "mkl"}) {
    if (const auto gemm = Gemm::find(word)) all.push_back(*gemm);
  }
  return all;
}

template <class T>
void expect_right_of(const Contraction& c) {
  const Problem<T> problem(c);
  for (const Gemm& gemm : gemms()) {
    problem.expect(*make_ttgt(c, gemm));
    problem.expect(*make_loop_over_gemm(c, gemm));
  }
  static const std::optional<Tblis> stand_in = Tblis::load(TCSIM_TBLIS_STAND_IN);
  ASSERT_TRUE(stand_in);
  problem.expect(*make_tblis(c, *stand_in));
  if (Tblis::found()) problem.expect(*make_tblis(c, *Tblis::found()));
  if (const auto libxsmm = make_loop_over_libxsmm(c)) problem.expect(*libxsmm);
  if (const auto eigen = make_eigen(c)) problem.expect(*eigen);
  if (const auto numpy = make_numpy(c)) problem.expect(*numpy);
}

void expect_right(const Contraction& c) {
  if (c.type() == ElementType::f64) {
    expect_right_of<double>(c);
  } else {
    expect_right_of<float>(c);
  }
}

Contraction contraction(const std::string& label, const Sizes& sizes,
                        Layout layout = Layout::column_major, ElementType type = ElementType::f64) {
  return parse_contraction(label, sizes, layout, type);
}

TEST(Peers, Are_right_on_every_contraction_of_TCCG_made_small) {
  for (const Contraction& full : find_suite("tccg").workloads) {
    Sizes sizes;
    for (int d = 0; d < full.dim_count(); ++d) {
      sizes[full.dim(DimId{d}).name] = 2 + d % 3;
    }
    expect_right(contraction(full.label(), sizes));
    expect_right(contraction(full.label(), sizes, Layout::row_major));
  }
}

TEST(Peers, Are_right_on_random_contractions) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto any = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int i = 0; i < 150; ++i) {
    std::string tensors[3];
    Sizes sizes;
    const int dims = any(1, 6);
    for (int d = 0; d < dims; ++d) {
      const char name = static_cast<char>('a' + d);
      sizes[name] = any(1, dims > 4 ? 4 : 9);
      const int left_out = any(0, 3);  // 3: a batch
      for (int t = 0; t < 3; ++t) {
        if (t != left_out) tensors[t] += name;
      }
    }
    for (std::string& t : tensors) std::shuffle(t.begin(), t.end(), random);
    // A label names three tensors with at least one dimension each.
    if (tensors[0].empty() || tensors[1].empty() || tensors[2].empty()) continue;
    expect_right(contraction(tensors[0] + "-" + tensors[1] + "-" + tensors[2], sizes,
                             any(0, 1) == 0 ? Layout::row_major : Layout::column_major,
                             any(0, 1) == 0 ? ElementType::f32 : ElementType::f64));
  }
}

TEST(Peers, Transpose_only_what_is_no_matrix) {
  const auto how = [](const std::string& label, const Sizes& sizes) {
    return make_ttgt(contraction(label, sizes), Gemm::plain())->how();
  };
  const Sizes six{{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}, {'e', 6}, {'f', 7}};
  const Sizes three{{'i', 2}, {'j', 3}, {'k', 4}};
  // Matrices as they are, in all four orientations.
  EXPECT_EQ(how("ij-ik-kj", three), "2x3x4, nothing transposed");
  EXPECT_EQ(how("ij-ki-jk", three), "2x3x4, nothing transposed");
  EXPECT_EQ(how("ji-ik-kj", three), "2x3x4, nothing transposed");
  // (ab)(cd) = (ab)(ef) (ef)(cd), fused without a copy.
  EXPECT_EQ(how("abcd-abef-efcd", six), "6x20x42, nothing transposed");
  // B's order of the sum is the other one: the smaller of A and B moves, A.
  EXPECT_EQ(how("abcd-abef-fecd", six), "6x20x42, A transposed");
  // a and b are apart in A, c and d in B: C = 120 elements, A = 252, B = 840.
  EXPECT_EQ(how("abcd-aebf-dfce", six), "6x20x42, AB transposed");
}

TEST(Peers, Loop_over_the_part_with_the_most_operations_for_each_element) {
  // tccg:29: a and g run with stride one, d and e lie one behind the other in A and in C.
  const Contraction c =
      contraction("abcdef-degb-gfac",
                  {{'a', 24}, {'b', 16}, {'c', 16}, {'d', 24}, {'e', 16}, {'f', 16}, {'g', 24}});
  EXPECT_EQ(make_loop_over_gemm(c, Gemm::plain())->how(), "4096 of 384x24x24");
}

TEST(Peers, Matrix_views_are_those_that_BLAS_can_name) {
  const Contraction c = contraction("abc-adc-db", {{'a', 2}, {'b', 3}, {'c', 5}, {'d', 7}});
  const DimId a = c.memory_order(TensorId::A)[0], d = c.memory_order(TensorId::A)[1],
              last = c.memory_order(TensorId::A)[2];
  const auto view = matrix_view(c, TensorId::A, {a}, {d});
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->transposed);
  EXPECT_EQ(view->leading, 2);
  const auto turned = matrix_view(c, TensorId::A, {last}, {a});
  ASSERT_TRUE(turned);
  EXPECT_TRUE(turned->transposed);
  EXPECT_EQ(turned->leading, 14);
  EXPECT_TRUE(matrix_view(c, TensorId::A, {a}, {d, last}));
  EXPECT_FALSE(matrix_view(c, TensorId::A, {a, last}, {d})) << "a and c are apart";
  EXPECT_FALSE(matrix_view(c, TensorId::A, {d}, {last})) << "no stride of one";
}

TEST(Peers, Eigen_has_code_for_all_of_TCCG_and_none_for_a_batch) {
  if (!eigen_installed()) GTEST_SKIP() << "the Eigen module was not built, or cannot run here";
  for (const Contraction& c : find_suite("tccg").workloads) EXPECT_TRUE(make_eigen(c)) << c.name();
  EXPECT_FALSE(make_eigen(contraction("bij-bik-bkj", {{'b', 2}, {'i', 2}, {'j', 2}, {'k', 2}})));
}

TEST(Peers, Missing_libraries_say_how_to_get_them) {
  std::set<std::string> words;
  for (const auto& libraries :
       {contraction_libraries(), small_libraries(), convolution_libraries()}) {
    for (const Library& l : libraries) {
      words.insert(l.word);
      EXPECT_FALSE(l.mend.empty());
      EXPECT_EQ(l.installed, !l.version.empty()) << l.name;
    }
  }
  EXPECT_EQ(words, (std::set<std::string>{"blis", "eigen", "libxsmm", "mkl", "numpy", "onednn",
                                          "openblas", "tblis"}));
}

TEST(Peers, A_library_that_lacks_a_function_of_TBLIS_is_none) {
  EXPECT_FALSE(Tblis::load("libm.so.6"));
  EXPECT_FALSE(Tblis::load("/nowhere/libtblis.so"));
}

// Products of a matrix and a vector, and of two vectors, have routines of their own.
TEST(Peers, Are_right_on_vectors_by_rows_and_by_columns) {
  const Sizes extents{{'i', 7}, {'j', 5}, {'k', 9}, {'h', 3}};
  for (ElementType type : {ElementType::f32, ElementType::f64}) {
    for (Layout layout : {Layout::row_major, Layout::column_major}) {
      for (const std::string label : {"i-ik-k", "i-ki-k", "j-k-kj", "j-k-jk", "h-hk-hk", "h-kh-kh",
                                      "ij-i-j", "ih-ihk-hk", "hj-kh-hkj"}) {
        Sizes sizes;
        for (const auto& [name, extent] : extents) {
          if (label.find(name) != std::string::npos) sizes[name] = extent;
        }
        expect_right(contraction(label, sizes, layout, type));
      }
      expect_right(contraction("ij-ik-kj", {{'i', 1}, {'j', 1}, {'k', 9}}, layout, type));
      expect_right(contraction("ij-ik-kj", {{'i', 1}, {'j', 6}, {'k', 9}}, layout, type));
      expect_right(contraction("ij-ki-jk", {{'i', 6}, {'j', 1}, {'k', 9}}, layout, type));
    }
  }
}

// What is transposed is transposed once, batch and all: the batch runs fastest here.
TEST(Peers, Transpose_a_batch_as_a_whole) {
  const Contraction c =
      contraction("abh-akh-hkb", {{'a', 4}, {'b', 5}, {'k', 6}, {'h', 3}}, Layout::row_major);
  EXPECT_EQ(make_ttgt(c, Gemm::plain())->how(), "4x5x6, AC transposed");
  expect_right(c);
}

TEST(Peers, Libxsmm_takes_parts_that_are_small_and_not_transposed) {
  if (!libxsmm_installed()) GTEST_SKIP() << "libxsmm is not installed";
  const auto made = [](const std::string& label, const Sizes& sizes) {
    const auto peer = make_loop_over_libxsmm(contraction(label, sizes));
    return peer ? peer->how() : "none";
  };
  EXPECT_EQ(made("ijh-ikh-kjh", {{'i', 8}, {'j', 6}, {'k', 5}, {'h', 100}}), "100 of 8x6x5");
  EXPECT_EQ(made("ij-ik-kj", {{'i', 200}, {'j', 200}, {'k', 200}}), "none");
}

TEST(Peers, Eigen_has_no_code_for_f32) {
  const Contraction c =
      contraction("ij-ik-kj", {{'i', 2}, {'j', 2}, {'k', 2}}, Layout::row_major, ElementType::f32);
  EXPECT_FALSE(make_eigen(c));
}

}  // namespace
}  // namespace tcsim::bench
