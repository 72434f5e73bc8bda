#include "core/error.hpp"
#include "microbench/counters/source.hpp"

namespace tcsim {

namespace {

class NoSource : public CounterSource {
 public:
  explicit NoSource(std::string why) : why_(std::move(why)) {}

  std::string name() const override { return "none"; }
  std::string limits() const override { return why_; }
  std::string refusal(const std::vector<std::string>& events) override {
    return events.empty() ? "" : why_;
  }
  std::vector<double> count(const std::vector<std::string>& events,
                            const std::function<void()>& work) override {
    if (!events.empty()) throw UnsupportedError("counters", why_, "count nothing");
    work();
    return {};
  }

 private:
  std::string why_;
};

}  // namespace

std::unique_ptr<CounterSource> make_no_source(std::string why) {
  return std::make_unique<NoSource>(std::move(why));
}

#ifndef TCSIM_HAVE_PAPI
std::unique_ptr<CounterSource> make_papi_source() {
  throw UnsupportedError("papi", "this tcsim was built without it",
                         "install libpapi-dev and build again with TCSIM_WITH_PAPI=ON");
}
#endif

#ifndef TCSIM_HAVE_LIKWID
std::unique_ptr<CounterSource> make_likwid_source() {
  throw UnsupportedError("likwid", "this tcsim was built without it",
                         "install likwid and build again with TCSIM_WITH_LIKWID=ON");
}
#endif

}  // namespace tcsim
