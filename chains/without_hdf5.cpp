// What a tcsim without HDF5 says.
#include "chains/tensor_files.hpp"
#include "core/error.hpp"

namespace tcsim::chains {

struct TensorFile::Handles {};

namespace {

[[noreturn]] void refuse() {
  throw UnsupportedError("fuse --run", "this tcsim was built without HDF5, which holds the tensors",
                         "install libhdf5-dev and build again");
}

}  // namespace

bool has_tensor_files() { return false; }

TensorFile::TensorFile(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}
TensorFile::TensorFile(TensorFile&&) noexcept = default;
TensorFile& TensorFile::operator=(TensorFile&&) noexcept = default;
TensorFile::~TensorFile() = default;

TensorFile TensorFile::open(const std::filesystem::path&, const std::vector<std::int64_t>&,
                            ElementType, Bytes) {
  refuse();
}
TensorFile TensorFile::create(const std::filesystem::path&, const std::vector<std::int64_t>&,
                              const std::vector<std::int64_t>&, ElementType) {
  refuse();
}
Bytes TensorFile::memory() const { refuse(); }
const std::vector<std::int64_t>& TensorFile::chunk() const { refuse(); }
Bytes TensorFile::chunks(const std::vector<fusion::Range>&) const { refuse(); }
void TensorFile::read(const std::vector<fusion::Range>&, void*) const { refuse(); }
void TensorFile::write(const std::vector<fusion::Range>&, const void*) { refuse(); }
void TensorFile::read(const std::vector<fusion::Range>&, Block&) const { refuse(); }
void TensorFile::prepare(const std::vector<fusion::Range>&, Block&) const { refuse(); }
void TensorFile::write(const std::vector<fusion::Range>&, const Block&) { refuse(); }
void TensorFile::read(const std::vector<fusion::Range>&, void*, Block&, Bytes) const { refuse(); }
void TensorFile::write(const std::vector<fusion::Range>&, const void*, Block&, Bytes) { refuse(); }
void TensorFile::flush() { refuse(); }
void TensorFile::forget() { refuse(); }

}  // namespace tcsim::chains
