// A value on the heap that is copied, compared and destroyed with its owner: what a type needs to
// hold one of its own kind.
#pragma once

#include <memory>
#include <utility>

namespace tcsim {

template <class T>
class Box {
 public:
  Box() = default;  // empty, until something is assigned
  Box(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Box(const Box& o) : value_(o.value_ ? std::make_unique<T>(*o.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(Box o) noexcept {
    value_ = std::move(o.value_);
    return *this;
  }
  ~Box() = default;

  bool empty() const { return !value_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

  bool operator==(const Box& o) const {
    return value_ && o.value_ ? *value_ == *o.value_ : !value_ == !o.value_;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace tcsim
