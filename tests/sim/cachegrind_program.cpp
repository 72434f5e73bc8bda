// A tiled multiplication that valgrind runs for cachegrind_test.cpp. No library, so that its
// accesses are few.
enum { n = 96, t = 24 };
static double a[n][n], b[n][n], c[n][n];

int main() {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      a[i][j] = i + j;
      b[i][j] = i - j;
    }
  }
  for (int jj = 0; jj < n; jj += t) {
    for (int kk = 0; kk < n; kk += t) {
      for (int i = 0; i < n; ++i) {
        for (int k = kk; k < kk + t; ++k) {
          for (int j = jj; j < jj + t; ++j) c[i][j] += a[i][k] * b[k][j];
        }
      }
    }
  }
  return c[0][0] == c[n - 1][n - 1];
}
