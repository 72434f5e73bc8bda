// A shared library with the functions of TBLIS that bench/tblis.cpp calls, which add up one product
// after another. Its tensors lie in the memory that the caller gives, as TBLIS's do.
#include <cstddef>
#include <cstring>
#include <map>

namespace {

struct Tensor {
  bool is_float;
  double factor;
  void* data;
  int dims;
  const std::ptrdiff_t* lengths;
  const std::ptrdiff_t* strides;

  double get(std::ptrdiff_t i) const {
    return is_float ? static_cast<double>(static_cast<float*>(data)[i])
                    : static_cast<double*>(data)[i];
  }
  void set(std::ptrdiff_t i, double to) const {
    if (is_float) {
      static_cast<float*>(data)[i] = static_cast<float>(to);
    } else {
      static_cast<double*>(data)[i] = to;
    }
  }
  std::ptrdiff_t place(const char* names, const std::map<char, std::ptrdiff_t>& at) const {
    std::ptrdiff_t sum = 0;
    for (int d = 0; d < dims; ++d) sum += at.at(names[d]) * strides[d];
    return sum;
  }
};

// Calls `at` with each place of dimensions of those lengths.
template <class At>
void for_each(const std::map<char, std::ptrdiff_t>& lengths, At&& at) {
  std::map<char, std::ptrdiff_t> place;
  for (const auto& [name, length] : lengths) place[name] = 0;
  for (bool more = true; more;) {
    at(place);
    more = false;
    for (auto& [name, i] : place) {
      if (++i < lengths.at(name)) {
        more = true;
        break;
      }
      i = 0;
    }
  }
}

void lengths_of(const Tensor& t, const char* names, std::map<char, std::ptrdiff_t>& all) {
  for (int d = 0; d < t.dims; ++d) all[names[d]] = t.lengths[d];
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void tblis_init_tensor_scaled_s(void* to, float factor, int dims, std::ptrdiff_t* lengths,
                                float* data, std::ptrdiff_t* strides) {
  const Tensor t{true, static_cast<double>(factor), data, dims, lengths, strides};
  std::memcpy(to, &t, sizeof t);
}
void tblis_init_tensor_scaled_d(void* to, double factor, int dims, std::ptrdiff_t* lengths,
                                double* data, std::ptrdiff_t* strides) {
  const Tensor t{false, factor, data, dims, lengths, strides};
  std::memcpy(to, &t, sizeof t);
}
void tblis_set_num_threads(unsigned) {}
void tblis_tensor_mult(const void*, const void*, const void* a, const char* names_a, const void* b,
                       const char* names_b, void* c, const char* names_c) {
  Tensor x, y, z;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  std::memcpy(&z, c, sizeof z);
  std::map<char, std::ptrdiff_t> of_c, all;
  lengths_of(z, names_c, of_c);
  for_each(of_c, [&](const auto& at) {
    const std::ptrdiff_t i = z.place(names_c, at);
    z.set(i, z.factor == 0 ? 0 : z.factor * z.get(i));
  });
  lengths_of(x, names_a, all);
  lengths_of(y, names_b, all);
  for_each(all, [&](const auto& at) {
    const std::ptrdiff_t i = z.place(names_c, at);
    z.set(i, z.get(i) +
                 x.factor * x.get(x.place(names_a, at)) * y.factor * y.get(y.place(names_b, at)));
  });
}

}  // extern "C"
#pragma GCC visibility pop
