// cuBLASLt opened at run time (the probe must start without it), and one GEMM of BERT-base told to it.
// Column-major throughout, bf16 operands, f32 accumulation; the result is bf16, of wgrad f32.
#pragma once

#include <cublasLt.h>

#include <optional>
#include <string>

#include "bench/probe/gemm_roles.h"
#include "bench/probe/gpu.h"

namespace shoal::probe {

class LtLibrary {
 public:
  explicit LtLibrary(
      const std::string& path);  // empty: the usual names and places; throws where there is none
  ~LtLibrary();
  LtLibrary(const LtLibrary&) = delete;
  LtLibrary& operator=(const LtLibrary&) = delete;

  std::size_t version() const { return get_version(); }
  void check(cublasStatus_t status, const char* call) const;

  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtGetStatusName) status_name = nullptr;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulAlgoCheck) algo_check = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algo_get = nullptr;
  cublasLtHandle_t handle = nullptr;

 private:
  void* library_ = nullptr;
};

using LtAlgo = cublasLtMatmulAlgo_t;
std::string describe(const LtLibrary& lt, const LtAlgo& algo);  // "id=66 tile=20 stages=35 splitk=1 ..."

constexpr std::size_t kLtWorkspace = 32u << 20;

// How the batch of one GEMM lies in memory, in elements from replica to replica.
struct LtStrides {
  std::int64_t a, b, d;
};

class LtGemm {
 public:
  LtGemm(const LtLibrary& lt, const GemmRole& role, std::int64_t tokens, int batch);  // replicas end to end
  LtGemm(const LtLibrary& lt, const GemmRole& role, std::int64_t tokens, int batch, const LtStrides& strides);
  ~LtGemm();
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;

  // What the library takes by itself, workspace and split K allowed.
  std::optional<LtAlgo> free_choice() const;
  // The first that neither splits K nor wants workspace (CUDA_NOTES 1.5).
  std::optional<LtAlgo> unsplit_choice() const;
  bool accepts(const LtAlgo& algo) const;
  void run(const LtAlgo& algo, void* d, const void* a, const void* b, void* workspace,
           cudaStream_t stream) const;

  const Gemm& shape() const { return shape_; }
  int batch() const { return batch_; }
  std::size_t result_bytes() const { return result_bytes_; }  // of one element

 private:
  std::optional<LtAlgo> choose(std::uint64_t workspace, std::uint32_t schemes, bool unsplit) const;
  cublasLtMatrixLayout_t layout(const Operand& operand, cudaDataType_t type, std::int64_t stride) const;

  const LtLibrary& lt_;
  Gemm shape_;
  int batch_;
  std::size_t result_bytes_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, d_ = nullptr;
};

}  // namespace shoal::probe
