// A single contraction on three levels, alpha, beta and gamma, in closed form: Eqs. 4.1 to 4.12 of
// multilevel-fusion-gpu. Its indices are three composite ones: i and j of the operands, k summed.
// Sizes, tiles and memories are in elements, times in those of `alpha_beta` and `beta_gamma`, what
// an element takes between neighbours (Lambda).
#pragma once

namespace tcsim::levels {

struct Extents {
  double i = 1, j = 1, k = 1;

  double smallest() const;  // of the three arrays, i k, k j and i j
};

struct Memories {
  double beta = 0, gamma = 0;
  double alpha_beta = 0, beta_gamma = 0;
};

// What no array that fits would need: i j + i k + k j with i, j, k the tiles (Eqs. 4.6, 4.7).
double memory_of(const Extents& tiles);
// Eq. 4.4, and Eq. 4.5 with q_k = 1 where the outer tile is all of k, otherwise 2.
double data_alpha_beta(const Extents& sizes, const Extents& tiles, const Memories& memories);
double data_beta_gamma(const Extents& sizes, double outer_k, const Extents& tiles,
                       const Memories& memories);

// Of tiles where no array fits: i = j = sqrt(beta) with k = 1, and i = j = k = sqrt(beta / 3), both
// with i = j = sqrt(gamma) inside (Eq. 4.8 and what it is compared with, q_k = 2).
double flat_tiles_cost(const Extents& sizes, const Memories& memories);
double equal_tiles_cost(const Extents& sizes, const Memories& memories);
// Eq. 4.9, which the two costs give: sqrt(beta) >= (sqrt(3) - 1) alpha_beta / beta_gamma + sqrt(3).
// As printed the square is missing.
bool equal_tiles_better(const Memories& memories);

// Eq. 4.10 with 4.11 or 4.12: the smallest array stays in beta, which it fills by more than a
// third, and the others are streamed. Infinite where it does not fit.
double streaming_cost(const Extents& sizes, const Memories& memories);

// Largest i = j with i j + i + j <= memory (Eq. 4.3), and i = j = k with 3 i^2 <= memory.
double flat_tile(double memory);
double equal_tile(double memory);

}  // namespace tcsim::levels
