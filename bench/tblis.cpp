#include "bench/tblis.hpp"

#include <dlfcn.h>

#include <string>
#include <vector>

namespace tcsim::bench {

namespace {

template <class T>
class TblisContraction : public PeerOf<T> {
 public:
  TblisContraction(const Contraction& c, const Tblis& tblis)
      : init_(tblis.init<T>()), multiply_(tblis.multiply()) {
    for (TensorId t : all_tensors) {
      for (DimId d : c.memory_order(t)) {
        operands_[t].lengths.push_back(static_cast<std::ptrdiff_t>(c.dim(d).extent));
        operands_[t].strides.push_back(static_cast<std::ptrdiff_t>(c.stride(t, d).value()));
        operands_[t].names += c.dim(d).name;
      }
    }
  }

  std::string name() const override { return "TBLIS"; }
  std::string how() const override { return "tblis_tensor_mult"; }

 private:
  struct Operand {
    std::vector<std::ptrdiff_t> lengths, strides;
    std::string names;
    Tblis::Tensor tensor{};
  };

  Operand& with(TensorId t, T factor, T* data) {
    Operand& o = operands_[t];
    init_(&o.tensor, factor, static_cast<int>(o.lengths.size()), o.lengths.data(), data,
          o.strides.data());
    return o;
  }
  void execute(const T* a, const T* b, T* c) override {
    // It only reads the operands, but takes them as it takes the result.
    const Operand& x = with(TensorId::A, 1, const_cast<T*>(a));
    const Operand& y = with(TensorId::B, 1, const_cast<T*>(b));
    Operand& to = with(TensorId::C, 0, c);
    multiply_(nullptr, nullptr, &x.tensor, x.names.c_str(), &y.tensor, y.names.c_str(), &to.tensor,
              to.names.c_str());
  }

  Tblis::Init<T>* init_;
  Tblis::Multiply* multiply_;
  ByTensor<Operand> operands_;
};

}  // namespace

std::optional<Tblis> Tblis::load(const char* library) {
  void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return {};
  Tblis t;
  t.init_f32_ = reinterpret_cast<Init<float>*>(dlsym(opened, "tblis_init_tensor_scaled_s"));
  t.init_f64_ = reinterpret_cast<Init<double>*>(dlsym(opened, "tblis_init_tensor_scaled_d"));
  t.multiply_ = reinterpret_cast<Multiply*>(dlsym(opened, "tblis_tensor_mult"));
  const auto use_threads =
      reinterpret_cast<void (*)(unsigned)>(dlsym(opened, "tblis_set_num_threads"));
  const bool whole = t.init_f32_ && t.init_f64_ && t.multiply_ && use_threads;
  if (!whole) return {};
  use_threads(1);
  return t;
}

const std::optional<Tblis>& Tblis::found() {
  static const std::optional<Tblis> one = [] {
    std::optional<Tblis> t = load("libtblis.so.0");
    return t ? t : load("libtblis.so");
  }();
  return one;
}

std::unique_ptr<Peer> make_tblis(const Contraction& c, const Tblis& tblis) {
  if (c.type() == ElementType::f32) return std::make_unique<TblisContraction<float>>(c, tblis);
  return std::make_unique<TblisContraction<double>>(c, tblis);
}

}  // namespace tcsim::bench
