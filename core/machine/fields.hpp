// Every field of a machine, declared once. A line of this file says what a field is called, its
// unit, what it can be and what it means; the reader and the writer of machine files, the knobs,
// the checks of ranges, `machine diff`, the content hash and the documentation's tables follow it.
//
// What the declaration does not say: `name` and `kind` of a level and `name` of the others, which
// say whose fields these are; and how capacity, ways and line of a cache depend on one another.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

// What more of a field makes of a machine, as far as the predicted time goes.
enum class Sense { better, worse, unknown };

// The numbers that a field can be, both ends included.
struct Range {
  double least = std::numeric_limits<double>::denorm_min();
  double most = std::numeric_limits<double>::max();
  bool power_of_two = false;

  bool holds(double value) const;
};
inline constexpr Range above_zero{};
inline constexpr Range from_zero{0};
inline constexpr Range from_one{1};

enum class Part {
  geometry,  // capacity, ways and line of a level, which depend on one another
  policy,    // how a cache works
  other,
};

// What of a field does not depend on its type.
struct Declared {
  std::string_view name;  // the key in a file, and the last part of its knob
  std::string_view unit;  // as the documentation writes it
  std::string_view help;  // the same; what it means, in one line
  // What is wrong with a value out of range, behind the name of a level or of another's field:
  // "has a latency of {}".
  std::string_view problem = "is {}";
  // What to give instead: "a number of cycles", and then the range in words: " greater than 0".
  std::string_view example = {}, limits = {};
  std::string_view noun = {};       // what a count counts, in errors
  std::string_view label = {};      // on screen; empty: the name
  std::optional<Range> range = {};  // none: any value of its type, or checked with others
  Part part = Part::other;
  bool required = false;        // in a file
  bool always_written = false;  // to a file, even if it says what a file without it means
  // Whether it stands in its owner's line of content_hash()'s text. Otherwise it has a line of its
  // own, and only if it is not what a file without it means: fields that came later must.
  bool in_hash_line = true;
  std::optional<Sense> varied = {};  // whether whatif varies it, and what more of it does
  bool in_formulas = false;          // whether a study's formulas and constraints know it
};

template <class Owner, class Member>
struct Field : Declared {
  using Type = Member;
  Member Owner::*member;

  constexpr Field(Member Owner::*m, const Declared& d) : Declared(d), member(m) {}
};

// What a member holds, and how: T, Figure<T> or std::optional<Figure<T>>.
template <class Member>
struct Held {
  using Value = Member;
  static constexpr bool is_figure = false, is_optional = false;
};
template <class T>
struct Held<Figure<T>> {
  using Value = T;
  static constexpr bool is_figure = true, is_optional = false;
};
template <class T>
struct Held<std::optional<Figure<T>>> {
  using Value = T;
  static constexpr bool is_figure = true, is_optional = true;
};

inline constexpr std::tuple level_fields{
    Field(&Level::capacity, {.name = "capacity",
                             .unit = "`\"32KiB\"` or bytes",
                             .help = "of a cache: sets x ways x line",
                             .part = Part::geometry,
                             .varied = Sense::better,
                             .in_formulas = true}),
    Field(&Level::ways, {.name = "ways",
                         .unit = "whole number",
                         .help = "of a cache: lines in a set",
                         .part = Part::geometry,
                         .varied = Sense::unknown,
                         .in_formulas = true}),
    Field(&Level::line, {.name = "line",
                         .unit = "`\"64B\"` or bytes",
                         .help = "a power of two from 8 to 4096 bytes; of a cache, required",
                         .part = Part::geometry,
                         .varied = Sense::unknown,
                         .in_formulas = true}),
    Field(&Level::replacement,
          {.name = "replacement",
           .unit = "`lru` (default), `fifo`, `random`, `tree-plru`, `bit-plru`, `srrip`, `brrip`",
           .help = "which line leaves a full set",
           .part = Part::policy}),
    Field(&Level::inclusion, {.name = "inclusion",
                              .unit = "`neither` (default), `inclusive`, `exclusive`",
                              .help = "what the level holds of those inside it",
                              .part = Part::policy}),
    Field(&Level::write, {.name = "write",
                          .unit = "`write-back` (default), `write-through`",
                          .help = "when a store goes on to the next level",
                          .part = Part::policy,
                          .always_written = true}),
    Field(&Level::write_allocate, {.name = "write_allocate",
                                   .unit = "`true` (default), `false`",
                                   .help = "whether a store that misses fetches the line",
                                   .part = Part::policy,
                                   .always_written = true}),
    Field(&Level::prefetch, {.name = "prefetch",
                             .unit = "`none` (default), `next-line`, `stride`, `adjacent-line`, "
                                     "`streamer`, `streamer+adjacent-line`",
                             .help = "lines that the level fetches before they are asked for",
                             .part = Part::policy,
                             .always_written = true,
                             .in_hash_line = false}),
    Field(&Level::prefetch_ahead,
          {.name = "prefetch_ahead",
           .unit = "whole number",
           .help = "lines that a streamer runs ahead of a request; default 20",
           .problem = "prefetches {} lines ahead",
           .example = "a whole number",
           .limits = " from 1 to 512",
           .noun = "lines",
           .range = Range{1, 512},
           .part = Part::policy,
           .in_hash_line = false}),
    Field(&Level::index, {.name = "index",
                          .unit = "`modulo` (default), `hashed`, `sliced-2`, `sliced-4`, "
                                  "`sliced-8`, or masks",
                          .help = "which set a line lies in, see *Sets and slices*",
                          .part = Part::policy,
                          .in_hash_line = false}),
    Field(&Level::victim_lines,
          {.name = "victim_lines",
           .unit = "whole number",
           .help = "lines of a victim cache beside the level; default 0, none",
           .problem = "has a victim cache of {} lines",
           .example = "a whole number",
           .limits = " from 0 to 64",
           .noun = "lines",
           .range = Range{0, 64},
           .part = Part::policy,
           .in_hash_line = false}),
    Field(&Level::shared_by, {.name = "shared_by",
                              .unit = "whole number",
                              .help = "cores that share it; default 1",
                              .problem = "is shared by {} cores",
                              .example = "a whole number",
                              .limits = " of at least 1",
                              .noun = "cores",
                              .range = from_one,
                              .always_written = true,
                              .in_formulas = true}),
    Field(&Level::bandwidth, {.name = "bandwidth",
                              .unit = "`\"25.6GB/s\"`, `\"25.28B/cycle\"`",
                              .help = "of the link to the level inside this one",
                              .problem = "has a bandwidth of {}",
                              .example = "a bandwidth such as 25.6GB/s or 25.28B/cycle",
                              .range = Range{1e-9, 1e18},
                              .required = true,
                              .varied = Sense::better,
                              .in_formulas = true}),
    Field(&Level::latency, {.name = "latency",
                            .unit = "cycles",
                            .help = "of a load that hits here",
                            .problem = "has a latency of {}",
                            .example = "a number of cycles",
                            .limits = " greater than 0",
                            .range = above_zero,
                            .varied = Sense::unknown,
                            .in_formulas = true}),
    Field(&Level::energy, {.name = "energy",
                           .unit = "`\"25pJ/B\"`, or a number of pJ per byte",
                           .help = "of moving a byte over the same link",
                           .problem = "has an energy of {} joules per byte",
                           .example = "an energy such as 25pJ/B",
                           .range = above_zero,
                           .in_hash_line = false}),
    Field(&Level::exposed,
          {.name = "exposed",
           .unit = "number from 0 to 1",
           .help = "share of the time of packed operands on the same link that computation does "
                   "not hide",
           .problem = "has an exposed share of {}",
           .example = "a number",
           .limits = " from 0 to 1",
           .range = Range{0, 1},
           .in_hash_line = false,
           .varied = Sense::unknown}),
    Field(&Level::loads,
          {.name = "loads",
           .unit = "number from 0.5",
           .help = "bytes that come in over the same link while none go out, as a multiple of the "
                   "bandwidth; default 1",
           .problem = "has loads at {} times the bandwidth",
           .example = "a number",
           .limits = " of at least 0.5",
           .range = Range{0.5, 1e6},
           .in_hash_line = false}),
    Field(&Level::processes,
          {.name = "processes",
           .unit = "whole number",
           .help = "of explicit levels: processes that share it, each with a level inside it and a "
                   "link of its own; default 1",
           .problem = "is shared by {} processes",
           .example = "a whole number",
           .limits = " of at least 1",
           .noun = "processes",
           .range = from_one,
           .in_hash_line = false,
           .varied = Sense::better}),
    Field(&Level::transfer,
          {.name = "transfer",
           .unit = "microseconds",
           .help = "of explicit levels: what each transfer over the same link takes before its "
                   "first byte; default 0",
           .problem = "has transfers of {} microseconds",
           .example = "a number of microseconds",
           .limits = " of at least 0",
           .range = from_zero,
           .in_hash_line = false,
           .varied = Sense::worse}),
    Field(&Level::row,
          {.name = "row",
           .unit = "nanoseconds",
           .help = "of explicit levels: what each row of a tile takes over the same link besides "
                   "its bytes, elements that are neighbours on both sides; default 0",
           .problem = "has rows of {} nanoseconds",
           .example = "a number of nanoseconds",
           .limits = " of at least 0",
           .range = from_zero,
           .in_hash_line = false,
           .varied = Sense::worse}),
};

inline constexpr std::tuple core_fields{
    Field(&Core::frequency, {.name = "frequency",
                             .unit = "`\"2.4GHz\"`",
                             .help = "clock of the core",
                             .example = "a frequency such as 2.6GHz",
                             .range = Range{1e3, 1e13},
                             .required = true,
                             .varied = Sense::better,
                             .in_formulas = true}),
    Field(&Core::vector_bits, {.name = "vector_bits",
                               .unit = "whole number",
                               .help = "width of a vector register, a power of two",
                               .example = "a power of two",
                               .limits = " from 64 to 4096, such as 256",
                               .noun = "bits",
                               .label = "vector bits",
                               .range = Range{64, 4096, true},
                               .required = true,
                               .varied = Sense::unknown,
                               .in_formulas = true}),
    Field(&Core::vector_registers, {.name = "vector_registers",
                                    .unit = "whole number",
                                    .help = "architectural vector registers",
                                    .example = "a whole number",
                                    .limits = " of at least 1",
                                    .noun = "registers",
                                    .range = from_one,
                                    .required = true,
                                    .in_formulas = true}),
    Field(&Core::fma_per_cycle, {.name = "fma_per_cycle",
                                 .unit = "number",
                                 .help = "vector multiply-adds started per cycle",
                                 .example = "a number",
                                 .limits = " from 0.001 to 1000",
                                 .label = "FMA per cycle",
                                 .range = Range{1e-3, 1e3},
                                 .required = true,
                                 .varied = Sense::better,
                                 .in_formulas = true}),
    Field(&Core::fma_latency, {.name = "fma_latency",
                               .unit = "cycles",
                               .help = "from a multiply-add to its use by the next",
                               .example = "a number of cycles",
                               .limits = " greater than 0",
                               .range = above_zero,
                               .required = true}),
    Field(&Core::efficiency,
          {.name = "efficiency",
           .unit = "number above 0, at most 1",
           .help = "of the peak, what contractions of tiles reach in explicit levels; default 1",
           .example = "a number",
           .limits = " from 0.000001 to 1",
           .range = Range{1e-6, 1},
           .in_hash_line = false}),
    Field(&Core::tile_byte,
          {.name = "tile_byte",
           .unit = "nanoseconds",
           .help = "for each byte of tiles in explicit levels that a statement reads and writes, "
                   "besides computing; default 0",
           .example = "a number of nanoseconds",
           .limits = " from 0 to 1000000",
           .range = Range{0, 1e6},
           .in_hash_line = false}),
    Field(&Core::cores, {.name = "cores",
                         .unit = "whole number",
                         .help = "at work at the same time, see *Several cores*; default 1",
                         .example = "a whole number",
                         .limits = " of at least 1",
                         .noun = "cores",
                         .label = "cores at work",
                         .range = from_one,
                         .in_hash_line = false,
                         .varied = Sense::worse,
                         .in_formulas = true}),
};

// Cycles that a core loses.
constexpr auto lost_cycles(Figure<Cycles> Overhead::*member, std::string_view name,
                           std::string_view help) {
  return Field(member, {.name = name,
                        .unit = "cycles",
                        .help = help,
                        .example = "a number of cycles",
                        .limits = " of at least 0",
                        .range = from_zero,
                        .in_hash_line = false,
                        .varied = Sense::unknown});
}
// Bytes that memory could have moved meanwhile.
constexpr auto lost_bytes(Figure<double> Overhead::*member, std::string_view name,
                          std::string_view help) {
  return Field(member, {.name = name,
                        .unit = "bytes",
                        .help = help,
                        .example = "a number of bytes",
                        .limits = " of at least 0",
                        .range = from_zero,
                        .in_hash_line = false,
                        .varied = Sense::unknown});
}
inline constexpr std::tuple overhead_fields{
    lost_cycles(&Overhead::pack, "pack", "each time that a pack begins: it waits for memory"),
    lost_cycles(&Overhead::piece, "piece",
                "each page that a pack begins with: its address translation"),
    lost_cycles(
        &Overhead::far_line, "far_line",
        "each line that a pack writes here and there, where the buffer is beyond the last cache"),
    lost_cycles(
        &Overhead::far_page, "far_page",
        "the same where the buffer is in the last cache, but beyond the reach of translation"),
    lost_cycles(&Overhead::task, "task", "each task: the tiles of the innermost loop"),
    lost_cycles(&Overhead::call, "call", "each tile of a task"),
    lost_cycles(&Overhead::partial, "partial",
                "on top of that, each tile with fewer rows or columns than the kernel"),
    lost_cycles(&Overhead::broken, "broken",
                "on top of that, each tile whose rows are not all neighbours in C"),
    lost_cycles(&Overhead::scatter, "scatter",
                "each result that is stored by itself, since no rows are neighbours in C"),
    lost_cycles(&Overhead::load, "load",
                "each vector, and each element for all lanes, that a kernel loads while "
                "multiply-adds go on: the longer of both counts"),
    Field(&Overhead::apart, {.name = "apart",
                             .unit = "number",
                             .help = "share by which computation takes longer where the right "
                                     "operand's columns are apart",
                             .example = "a number",
                             .limits = " of at least 0",
                             .range = from_zero,
                             .in_hash_line = false,
                             .varied = Sense::unknown}),
    Field(&Overhead::results, {.name = "results",
                               .unit = "number from 0 to 1",
                               .help = "share of the time of C's traffic that computation does not "
                                       "hide, over all links but the innermost",
                               .example = "a number",
                               .limits = " from 0 to 1",
                               .range = Range{0, 1},
                               .in_hash_line = false,
                               .varied = Sense::unknown}),
    lost_bytes(&Overhead::result_piece, "result_piece",
               "the beginning of a piece of C, neighbours in memory, where memory decides: what "
               "that moves meanwhile"),
    lost_bytes(&Overhead::far_result_piece, "far_result_piece",
               "the same of a piece that is 32 KiB or more from the one before"),
};
// Their knobs are core.overhead.FIELD.
inline constexpr std::string_view overhead_prefix = "overhead.";

inline constexpr std::tuple tlb_fields{
    Field(&Tlb::entries, {.name = "entries",
                          .unit = "whole number",
                          .help = "pages that it translates",
                          .required = true}),
    Field(&Tlb::ways, {.name = "ways",
                       .unit = "whole number",
                       .help = "as many as entries where it is fully associative",
                       .required = true}),
    Field(&Tlb::page, {.name = "page",
                       .unit = "`\"4KiB\"` or bytes",
                       .help = "what an entry translates, a power of two",
                       .required = true}),
};

inline constexpr std::tuple accounting_fields{
    Field(&Accounting::write_backs,
          {.name = "write_backs",
           .unit = "`true`",
           .help = "bytes that leave a level count as well as those that enter it",
           .always_written = true}),
    Field(&Accounting::compute_roof, {.name = "compute_roof",
                                      .unit = "`true`",
                                      .help = "time is at least the flops at the peak",
                                      .always_written = true}),
    Field(&Accounting::packing, {.name = "packing",
                                 .unit = "`true`",
                                 .help = "what packing moves counts",
                                 .always_written = true}),
    Field(&Accounting::halve_register_loads,
          {.name = "halve_register_loads",
           .unit = "`false`",
           .help = "bytes between registers and the innermost level take half the time that its "
                   "bandwidth says",
           .always_written = true,
           .in_hash_line = false}),
};

template <class Owner>
constexpr const auto& fields_of() {
  if constexpr (std::is_same_v<Owner, Level>) {
    return level_fields;
  } else if constexpr (std::is_same_v<Owner, Core>) {
    return core_fields;
  } else if constexpr (std::is_same_v<Owner, Overhead>) {
    return overhead_fields;
  } else if constexpr (std::is_same_v<Owner, Tlb>) {
    return tlb_fields;
  } else {
    static_assert(std::is_same_v<Owner, Accounting>);
    return accounting_fields;
  }
}

// Calls visit(field) for each field of Owner, in the order above.
template <class Owner, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, fields_of<Owner>());
}

// Whether a field is what a file without it means.
template <class Owner, class Member>
bool is_usual(const Owner& owner, const Field<Owner, Member>& field) {
  static const Owner usual;
  return owner.*field.member == usual.*field.member;
}

// Every value of an enum that is a field's.
template <class Enum>
constexpr const auto& all_values() {
  if constexpr (std::is_same_v<Enum, Replacement>) {
    return all_replacements;
  } else if constexpr (std::is_same_v<Enum, Inclusion>) {
    return all_inclusions;
  } else if constexpr (std::is_same_v<Enum, WritePolicy>) {
    return all_write_policies;
  } else {
    static_assert(std::is_same_v<Enum, Prefetch>);
    return all_prefetches;
  }
}

// Whether a level of that kind has the field.
inline bool belongs(const Declared& field, LevelKind kind) {
  return kind == LevelKind::cache || field.part == Part::other || field.name == "capacity";
}

// The number that a value is, in bytes, cycles, hertz, joules per byte or none; a bandwidth in its
// own unit. Nothing of what is no number.
template <class T>
std::optional<double> number_of(const T& value) {
  if constexpr (std::is_same_v<T, Bandwidth>) {
    return value.value;
  } else if constexpr (requires { value.value(); }) {
    return static_cast<double>(value.value());
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<double>(value);
  } else {
    return {};
  }
}

// The value of a field, as what `Held` says of its member: nullptr where an optional one is not
// there.
template <class Owner, class Member>
const auto* value_of(const Owner& owner, const Field<Owner, Member>& field) {
  const Member& member = owner.*field.member;
  if constexpr (Held<Member>::is_optional) {
    return member ? &member->value : nullptr;
  } else if constexpr (Held<Member>::is_figure) {
    return &member.value;
  } else {
    return &member;
  }
}

// The same as a number, by the field's name; nothing if there is no such field, it is no number or
// the owner has none.
template <class Owner>
std::optional<double> number_of(const Owner& owner, std::string_view name) {
  std::optional<double> number;
  for_each_field<Owner>([&](const auto& field) {
    if (field.name != name) return;
    if (const auto* value = value_of(owner, field)) number = number_of(*value);
  });
  return number;
}

// What people read of a knob's last part.
inline std::string_view label_of(std::string_view field_name) {
  std::string_view label = field_name;
  const auto look = [&](const Declared& field) {
    if (field.name == field_name && !field.label.empty()) label = field.label;
  };
  for_each_field<Level>(look);
  for_each_field<Core>(look);
  return label;
}

// The names of those that a study's formulas know, `sets` of a level among them.
template <class Owner>
std::vector<std::string> formula_names() {
  std::vector<std::string> names;
  for_each_field<Owner>([&](const Declared& field) {
    if (!field.in_formulas) return;
    names.emplace_back(field.name);
    if (std::is_same_v<Owner, Level> && field.name == "line") names.emplace_back("sets");
  });
  return names;
}

}  // namespace tcsim
