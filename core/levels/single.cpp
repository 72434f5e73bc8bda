#include "core/levels/single.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tcsim::levels {

double Extents::smallest() const { return std::min({i * k, k * j, i * j}); }

double memory_of(const Extents& t) { return t.i * t.j + t.i * t.k + t.j * t.k; }

double data_alpha_beta(const Extents& n, const Extents& t, const Memories& m) {
  return m.alpha_beta * (n.i * n.j + n.i * n.j * n.k * (1 / t.i + 1 / t.j));
}

double data_beta_gamma(const Extents& n, double outer_k, const Extents& t, const Memories& m) {
  const double q = outer_k >= n.k ? 1 : 2;
  return m.beta_gamma * n.i * n.j * n.k * (1 / t.i + 1 / t.j + q / outer_k);
}

double flat_tiles_cost(const Extents& n, const Memories& m) {
  const double outer = std::sqrt(m.beta), inner = std::sqrt(m.gamma);
  return data_alpha_beta(n, {outer, outer, 1}, m) +
         m.beta_gamma * n.i * n.j * n.k * (2 / inner + 2);
}

double equal_tiles_cost(const Extents& n, const Memories& m) {
  const double outer = equal_tile(m.beta), inner = std::sqrt(m.gamma);
  return data_alpha_beta(n, {outer, outer, outer}, m) +
         m.beta_gamma * n.i * n.j * n.k * (2 / inner + 2 / outer);
}

bool equal_tiles_better(const Memories& m) {
  const double root = std::sqrt(3.0);
  return std::sqrt(m.beta) >= (root - 1) * m.alpha_beta / m.beta_gamma + root;
}

double streaming_cost(const Extents& given, const Memories& m) {
  // The smallest array is that of i and k.
  Extents n = given;
  if (n.k * n.j <= std::min(n.i * n.k, n.i * n.j)) {
    std::swap(n.i, n.j);
  } else if (n.i * n.j < n.i * n.k) {
    std::swap(n.k, n.j);
  }
  const double room = m.beta - n.i * n.k;
  if (room <= n.i + n.k) return std::numeric_limits<double>::infinity();
  const double outer = m.alpha_beta * (n.i * n.k + n.j * n.k + n.i * n.j);
  const double tile = room / (n.i + n.k);
  const bool fits = std::min(tile * n.k, tile * n.i) <= m.gamma;
  const double streamed = fits ? 1 : 2 / std::sqrt(m.gamma);
  return outer + m.beta_gamma * n.j * (n.i + n.k) * (streamed + n.i * n.k / room);
}

double flat_tile(double memory) { return std::sqrt(std::max(memory, 0.0) + 1) - 1; }
double equal_tile(double memory) { return std::sqrt(std::max(memory, 0.0) / 3); }

}  // namespace tcsim::levels
