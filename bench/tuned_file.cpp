#include "bench/tuned_file.hpp"

#include "bench/kept_text.hpp"
#include "kernels/shapes.hpp"
#include "microbench/host.hpp"

namespace tcsim::bench {

namespace fs = std::filesystem;

namespace {

constexpr const char* begin_anew = "begin anew: 'tcsim tune --forget all'";

TunedSchedules parse(const std::optional<std::string>& text, const fs::path& file) {
  return text ? parse_tuned(*text, file.string()) : TunedSchedules();
}

}  // namespace

fs::path tuned_file() {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / "tuned.toml";
}

TunedKey tuned_key_here(const Contraction& contraction, int threads) {
  return tuned_key(contraction, threads, this_processor(), to_text(best_instruction_set()));
}

TunedSchedules load_tuned(const fs::path& file) { return parse(kept_text(file, begin_anew), file); }

bool change_tuned(const fs::path& file, const std::function<void(TunedSchedules&)>& change) {
  return change_text(file, begin_anew, [&](const std::optional<std::string>& before) {
    TunedSchedules all = parse(before, file);
    change(all);
    return to_toml(all);
  });
}

bool forget_all_tuned(const fs::path& file) { return forget_text(file); }

}  // namespace tcsim::bench
