#include "bench/convolution.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include "bench/onednn.hpp"
#include "bench/plain_convolution.hpp"
#include "core/error.hpp"
#include "core/plan/plan.hpp"
#include "kernels/execute.hpp"

namespace tcsim::bench {

namespace {

constexpr int checked_anywhere = 500;
// In the first race the faster of two cold runs counts. What was this much slower than the fastest
// so far before, with warm caches or in its first run, has no second one.
constexpr double hopeless = 2, behind = 1.2;

// The fastest way that oneDNN has, or null. Within a OneThread.
std::unique_ptr<OnednnConvolution> fastest_way(const PlainConvolution& p, OnednnLayout layout,
                                               bool reorders, ColdYardstick& yardstick,
                                               const SuiteOptions& options) {
  std::unique_ptr<OnednnConvolution> best;
  Seconds least(std::numeric_limits<double>::infinity());
  for (const bool padded : {false, true}) {
    if (padded && p.padded.empty()) continue;
    for_each_way(
        onednn_problem(p, padded), layout, reorders, [&](std::unique_ptr<OnednnConvolution> way) {
          if (options.stop.stop_requested()) throw Interrupted();
          const Seconds first = time_of([&] { way->run(); });
          if (best && first > hopeless * least) return;
          const auto cold = [&] { return yardstick(ElementType::f32, [&] { way->run(); }).time; };
          Seconds time = cold();
          if (time < behind * least) time = std::min(time, cold());
          if (time >= least) return;
          least = time;
          best = std::move(way);
        });
  }
  return best;
}

}  // namespace

SuiteCase bench_convolution(const Contraction& contraction, const ConvolutionShape& shape,
                            const Schedule& schedule, ColdYardstick& yardstick,
                            const SuiteOptions& options) {
  if (contraction.type() != ElementType::f32) throw std::invalid_argument("for f32 only");
  const Plan plan(contraction, schedule);
  Arena arena(plan);
  const PlainConvolution plain(shape, options.seed);
  write_image(plain, contraction, arena.as<float>(ArrayId::A));
  write_weights(plain, contraction, arena.as<float>(ArrayId::B));
  float* const output = arena.as<float>(ArrayId::C);

  const OneThread one_thread;
  Entrants entrants{contraction, shape.flops(), {}, {}};
  const PreparedPlan execution(plan, arena);
  entrants.add("tcsim", kernel_used(plan), [&] { execution(options.stop); });
  std::vector<std::unique_ptr<OnednnConvolution>> peers;  // of the entrants from the second on
  const bool wanted = std::ranges::find(options.libraries, "onednn") != options.libraries.end();
  for (std::size_t i = 0; wanted && i < onednn_names.size(); ++i) {
    constexpr std::array layouts{OnednnLayout::nchw, OnednnLayout::nhwc, OnednnLayout::blocked,
                                 OnednnLayout::blocked};
    const bool reorders = i == 3;
    auto way = fastest_way(plain, layouts[i], reorders, yardstick, options);
    if (!way && layouts[i] == OnednnLayout::blocked) {
      way = fastest_way(plain, OnednnLayout::any, reorders, yardstick, options);
    }
    if (!way) continue;
    entrants.add(onednn_names[i], way->how(), [run = way.get()] { run->run(); });
    peers.push_back(std::move(way));
  }

  SuiteCase result{contraction, schedule, std::move(entrants.contestants)};
  const auto size = static_cast<std::size_t>(plain.outputs());
  const auto clear = [&](std::size_t i) {
    if (i > 0) return peers[i - 1]->clear();
    std::fill_n(output, contraction.size(TensorId::C).value(),
                std::numeric_limits<float>::quiet_NaN());
  };
  const auto error = [&](std::size_t i) {
    std::vector<float> found(i > 0 ? size : 0);
    if (i > 0) peers[i - 1]->result(found.data());
    return worst_error(plain, i > 0 ? found : plain_output(shape, contraction, output),
                       checked_anywhere, options.seed);
  };
  race(result, entrants.works, {clear, error}, yardstick, options);
  return result;
}

std::optional<double> ratio_to(const SuiteCase& of, const std::string& name) {
  const Contestant* const peer = of.peer(name);
  if (peer == nullptr) return {};
  return of.tcsim().samples.rate() / peer->samples.rate();
}

std::optional<ConvolutionSummary> convolution_summary(const std::vector<SuiteCase>& cases) {
  if (cases.empty()) return {};
  const auto is_slow = [](const SuiteCase& c, const char* beside) {
    const auto ratio = ratio_to(c, beside);
    return ratio && *ratio < slow_layer;
  };
  ConvolutionSummary s;
  GeometricMean tcsim;
  for (const SuiteCase& c : cases) {
    tcsim.add(c.tcsim().samples.of_peak());
    s.slow += is_slow(c, onednn_names[0]) || is_slow(c, onednn_names[2]);
  }
  s.of_peak = *tcsim.value();
  for (const char* name : onednn_names) {
    GeometricMean ratio, of_peak;
    ConvolutionSummary::Peer peer{name, {}, {}, 0, 0};
    for (const SuiteCase& c : cases) {
      const auto r = ratio_to(c, name);
      if (!r) continue;
      ratio.add(*r);
      of_peak.add(c.peer(name)->samples.of_peak());
      peer.slow += *r < slow_layer;
    }
    peer.ratio = ratio.value();
    peer.of_peak = of_peak.value();
    peer.layers = ratio.count();
    if (peer.layers > 0) s.peers.push_back(std::move(peer));
  }
  return s;
}

}  // namespace tcsim::bench
