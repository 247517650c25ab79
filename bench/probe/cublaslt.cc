#include "bench/probe/cublaslt.h"

#include <dlfcn.h>

#include <stdexcept>
#include <vector>

#define PROBE_LT(lt, call) (lt).check((lt).call, #call)

namespace shoal::probe {
namespace {

std::vector<std::string> places(const std::string& path) {
  if (!path.empty()) return {path};
  std::vector<std::string> found;
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/",
                             "/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/"}) {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"})
      found.push_back(std::string(folder) + name);
  }
  return found;
}

}  // namespace

LtLibrary::LtLibrary(const std::string& path) {
  std::string why;
  for (const std::string& place : places(path)) {
    library_ = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) break;
    if (why.empty()) why = dlerror();
  }
  if (library_ == nullptr) throw std::runtime_error("no cuBLASLt (" + why + "); name it with --cublaslt");
  const auto find = [this](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("cuBLASLt lacks ") + name);
  };
  find(get_version, "cublasLtGetVersion");
  find(status_name, "cublasLtGetStatusName");
  find(create, "cublasLtCreate");
  find(destroy, "cublasLtDestroy");
  find(matmul, "cublasLtMatmul");
  find(desc_create, "cublasLtMatmulDescCreate");
  find(desc_destroy, "cublasLtMatmulDescDestroy");
  find(desc_set, "cublasLtMatmulDescSetAttribute");
  find(layout_create, "cublasLtMatrixLayoutCreate");
  find(layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(layout_set, "cublasLtMatrixLayoutSetAttribute");
  find(preference_create, "cublasLtMatmulPreferenceCreate");
  find(preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(algo_check, "cublasLtMatmulAlgoCheck");
  find(algo_get, "cublasLtMatmulAlgoConfigGetAttribute");
  check(create(&handle), "cublasLtCreate");
}

// The library stays open: it may still be ending its own threads.
LtLibrary::~LtLibrary() {
  if (handle != nullptr) destroy(handle);
}

void LtLibrary::check(cublasStatus_t status, const char* call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " + status_name(status));
}

std::string describe(const LtLibrary& lt, const LtAlgo& algo) {
  struct Field {
    const char* name;
    cublasLtMatmulAlgoConfigAttributes_t attribute;
    std::size_t bytes;
  };
  static constexpr Field kFields[] = {
      {"id", CUBLASLT_ALGO_CONFIG_ID, 4},
      {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
      {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
      {"splitk", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
      {"scheme", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
      {"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
      {"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
      {"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
      {"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
  };
  std::string text;
  for (const Field& field : kFields) {
    std::uint32_t value = 0;  // little-endian: two bytes land in its lower half
    std::size_t written = 0;
    const bool known =
        lt.algo_get(&algo, field.attribute, &value, field.bytes, &written) == CUBLAS_STATUS_SUCCESS;
    text += (text.empty() ? "" : " ") + std::string(field.name) + "=" + (known ? std::to_string(value) : "?");
  }
  return text;
}

namespace {
LtStrides end_to_end(const Gemm& g) {
  return {g.a.elements(), g.b.elements(), g.d.elements()};
}
}  // namespace

LtGemm::LtGemm(const LtLibrary& lt, const GemmRole& role, std::int64_t tokens, int batch)
    : LtGemm(lt, role, tokens, batch, end_to_end(column_major(role, tokens))) {}

LtGemm::LtGemm(const LtLibrary& lt, const GemmRole& role, std::int64_t tokens, int batch,
               const LtStrides& strides)
    : lt_(lt), shape_(column_major(role, tokens)), batch_(batch), result_bytes_(role.f32_result() ? 4 : 2) {
  PROBE_LT(lt_, desc_create(&desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const auto transpose = [this](cublasLtMatmulDescAttributes_t attribute, bool transposed) {
    const std::int32_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    PROBE_LT(lt_, desc_set(desc_, attribute, &op, sizeof op));
  };
  transpose(CUBLASLT_MATMUL_DESC_TRANSA, shape_.a.transposed);
  transpose(CUBLASLT_MATMUL_DESC_TRANSB, shape_.b.transposed);
  a_ = layout(shape_.a, CUDA_R_16BF, strides.a);
  b_ = layout(shape_.b, CUDA_R_16BF, strides.b);
  d_ = layout(shape_.d, role.f32_result() ? CUDA_R_32F : CUDA_R_16BF, strides.d);
}

LtGemm::~LtGemm() {
  for (cublasLtMatrixLayout_t l : {a_, b_, d_}) {
    if (l != nullptr) lt_.layout_destroy(l);
  }
  if (desc_ != nullptr) lt_.desc_destroy(desc_);
}

cublasLtMatrixLayout_t LtGemm::layout(const Operand& operand, cudaDataType_t type,
                                      std::int64_t stride) const {
  cublasLtMatrixLayout_t made = nullptr;
  PROBE_LT(lt_, layout_create(&made, type, static_cast<std::uint64_t>(operand.rows),
                              static_cast<std::uint64_t>(operand.cols), operand.ld));
  const std::int32_t count = batch_;
  PROBE_LT(lt_, layout_set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
  PROBE_LT(lt_, layout_set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
  return made;
}

std::optional<LtAlgo> LtGemm::choose(std::uint64_t workspace, std::uint32_t schemes, bool unsplit) const {
  constexpr int kAsked = 32;
  cublasLtMatmulPreference_t preference = nullptr;
  PROBE_LT(lt_, preference_create(&preference));
  cublasLtMatmulHeuristicResult_t results[kAsked] = {};
  int found = 0;
  lt_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
  lt_.preference_set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes);
  const cublasStatus_t status =
      lt_.heuristic(lt_.handle, desc_, a_, b_, d_, d_, preference, unsplit ? kAsked : 1, results, &found);
  lt_.preference_destroy(preference);
  if (status != CUBLAS_STATUS_SUCCESS) return std::nullopt;  // it has none for this shape
  for (int i = 0; i < found; ++i) {
    if (results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    std::int32_t parts = 1;
    std::uint32_t scheme = 0;
    std::size_t written = 0;
    lt_.algo_get(&results[i].algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts, &written);
    lt_.algo_get(&results[i].algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme, &written);
    if (!unsplit || (parts <= 1 && scheme == 0)) return results[i].algo;
  }
  return std::nullopt;
}

std::optional<LtAlgo> LtGemm::free_choice() const {
  return choose(kLtWorkspace, CUBLASLT_REDUCTION_SCHEME_MASK, false);
}
std::optional<LtAlgo> LtGemm::unsplit_choice() const {
  return choose(0, CUBLASLT_REDUCTION_SCHEME_NONE, true);
}

bool LtGemm::accepts(const LtAlgo& algo) const {
  cublasLtMatmulHeuristicResult_t result = {};
  return lt_.algo_check(lt_.handle, desc_, a_, b_, d_, d_, &algo, &result) == CUBLAS_STATUS_SUCCESS &&
         result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= kLtWorkspace;
}

void LtGemm::run(const LtAlgo& algo, void* d, const void* a, const void* b, void* workspace,
                 cudaStream_t stream) const {
  const float one = 1, zero = 0;
  PROBE_LT(lt_, matmul(lt_.handle, desc_, &one, a, a_, b, b_, &zero, d, d_, d, d_, &algo, workspace,
                       kLtWorkspace, stream));
}

}  // namespace shoal::probe
