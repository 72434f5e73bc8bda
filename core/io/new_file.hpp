// Files that appear under their names when they are whole and on the disk, so that neither a full
// disk nor a power cut leaves half of one. What fails throws std::system_error with the errno.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tcsim {

// A new file, written from its beginning. Whatever has its name already, a link above all, may be
// somebody else's: then it is not opened (EEXIST). Not for several threads at once.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  // Without keep(): nothing has happened.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gathered: what has failed may be told by a later call.
  void write(std::string_view text);
  // The rights of the file `mode` (of stat()); otherwise those that the umask leaves.
  void set_mode(unsigned mode);
  // All of it is on the disk, and it is closed. Its name is not until sync_folder().
  void end();
  // It stays when this object goes: it was renamed, or somebody else goes on with it. After end().
  void keep() { kept_ = true; }

 private:
  void flush();
  std::filesystem::path path_;
  std::string gathered_;
  int file_ = -1;
  bool kept_ = false;
};

// The names in a folder are on the disk. A folder that may not be read cannot be asked for it.
void sync_folder(const std::filesystem::path& folder);

// Writes `text` to a file beside `file`, on the disk, which then takes its name, on the disk too.
// A failure leaves what was there before. Not for several threads of a process at once.
void replace_file(const std::filesystem::path& file, std::string_view text);

// What to do when a file cannot be written for that errno: make room, allow larger files;
// otherwise `mend`.
std::string mend_of_writing(int error, const std::string& mend);

// All bytes to an open file; -1 with errno where that fails.
int write_whole(int file, std::string_view text);

}  // namespace tcsim
