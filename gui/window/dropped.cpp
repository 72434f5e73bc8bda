#include "gui/window/dropped.hpp"

#include <QFileInfo>

#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"
#include "core/workload/program.hpp"

namespace tcsim::gui {

namespace {

// A machine's levels have bandwidths, a cost model's have rules alone.
FileKind kindOfLevels(const toml::array& levels) {
  for (const toml::node& node : levels) {
    const toml::table* level = node.as_table();
    if (level == nullptr) continue;
    if (level->contains("bandwidth")) return FileKind::machine;
    for (const char* rule : {"area", "energy", "power"}) {
      if (level->contains(rule)) return FileKind::costModel;
    }
  }
  return FileKind::unknown;
}

}  // namespace

FileKind kindOfFile(const QString& file) {
  const QFileInfo info(file);
  if (info.isDir()) return FileKind::results;
  const std::string path = file.toStdString();
  if (is_program_file(path)) return FileKind::program;
  try {
    const toml::table root = parse_toml(read_file(path, "name a file"), path);
    if (root.contains("design")) return FileKind::session;
    if (root.contains("machines") || root.contains("machine")) return FileKind::study;
    if (const toml::array* levels = root.get_as<toml::array>("level")) {
      return kindOfLevels(*levels);
    }
  } catch (const std::exception&) {
  }
  return FileKind::unknown;
}

}  // namespace tcsim::gui
