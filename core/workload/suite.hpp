// Suites of workloads in TOML, such as data/tccg.toml:
//
//     schema = 1
//     name = "tccg"
//     source = "acmtc-sc19, Table 4"
//     layout = "column-major"
//     type = "f64"
//     [[workload]]
//     label = "abcd-aebf-dfce"
//     sizes = "a=72,b=72,c=72,d=72,e=72,f=72"
//     [[workload]]
//     label = "conv2d"                        # core/workload/convolution.hpp
//     sizes = "k=64,c=3,h=224,w=224,r=7,s=7,stride=2"
//     [[workload]]
//     program = """..."""
//
// A workload with a label may have a `type` of its own, one that is no convolution a `layout`,
// instead of the file's. A program (core/workload/program.hpp) says its layout and type itself. Any
// may have a `kind`, a word by which a benchmark sums up. Workloads are numbered from 1 in the
// order of the file; "tccg:8" is the eighth.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/workload/contraction.hpp"
#include "core/workload/convolution.hpp"

namespace tcsim {

struct Suite {
  std::string name;
  std::string source;
  std::vector<Contraction> workloads;  // their names are "tccg:1", ...
  // As many entries: what convolutions say by their sizes.
  std::vector<std::optional<ConvolutionShape>> shapes = {};
  std::vector<std::string> kinds = {};  // as many; "" where the file says none
};

// Instead of what the file says.
struct SuiteOverrides {
  std::optional<ElementType> type;  // also of programs
  // Of convolutions by their sizes: "nhwc", or "nhwc32k,nhwc", the first that a layer's channels
  // allow.
  std::string image_layout = {};
  // Which workload the image layout is for, counted from 1; 0 is for all. Other layers' channels
  // may not allow it.
  std::size_t image_layout_of = 0;
};

// Throws InputError with "file:line:column", and UnsupportedError where a program is no
// contraction.
Suite load_suite(const std::filesystem::path& file, const SuiteOverrides& overrides = {});
// A shipped suite by its name, or one by the path of its file. Throws UsageError as well if it is
// neither.
Suite find_suite(const std::string& name_or_file, const SuiteOverrides& overrides = {});

// The same from a text; `place` stands for the file in errors.
Suite parse_suite(std::string_view toml, const std::string& place,
                  const SuiteOverrides& overrides = {});

}  // namespace tcsim
