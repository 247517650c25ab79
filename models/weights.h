// Fills a job's weight row: from a Hugging Face folder, or at random; and writes a folder back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"
#include "models/layout.h"

namespace shoal::models {

// FNV-1a, 64 bits, over the bytes of a name.
std::uint64_t name_hash(std::string_view name);

// Hugging Face's random initialisation of one tensor part: weights N(0, initializer_range), biases 0,
// LayerNorm 1 and 0, the padding row of the word embeddings 0 (padding_row -1: none). values.size() says how
// many elements there are. Element i of tensor `hf_name` is a function of (seed, hf_name, i) alone:
// neighbours, slots and other tensors change nothing.
//
// Rule: h = name_hash(hf_name); v = philox4x32_10(key = seed, c0 = i / 4, c1 = 0x494e4954 "INIT",
// c2 = low 32 bits of h, c3 = high 32 bits of h). Of the two pairs (v[0], v[1]) and (v[2], v[3]) pair (i % 4)
// / 2 gives, in double, u = (first + 0.5) / 2^32 and a = 2 pi (second + 0.5) / 2^32; the element is
// float(initializer_range * sqrt(-2 ln u) * (i % 2 == 0 ? cos a : sin a)): the same on every machine up to
// the last bit of its libm.
void initialise(const TensorSpec& part, std::uint64_t seed, double initializer_range,
                std::int64_t padding_row, std::span<float> values);

// Every tensor of the layout at random.
void initialise_row(const Layout& layout, Extents own, const BertConfig& config, std::uint64_t seed,
                    std::span<float> row);

// What an import did beyond the plain copy, one line each, to be shown to the user.
struct ImportReport {
  std::int64_t matched = 0;        // tensors taken from the file
  std::int64_t initialised = 0;    // head modules that the file lacks, or has for another number of labels
  std::vector<std::string> notes;  // "no pooler in the file: initialised with seed 1", ...
};

// model.safetensors of `folder` (or model.safetensors.index.json with its shards) into row
// [layout.row_elements()], widened exactly to f32. Accepted: F32, F16, BF16; names with and without the
// prefix "bert."; gamma/beta for LayerNorm; embeddings.position_ids of any type (ignored); other heads
// (cls.*, ...: ignored, noted once). Missing head tensors and a classifier of another size are initialised
// from (seed, name), noted. Error: a missing trunk tensor (by name, all of them), a wrong shape, NaN or
// infinity in a weight, another dtype; only pytorch_model.bin (the message holds the one-line conversion).
ImportReport import_weights(const std::filesystem::path& folder, const Layout& layout, Extents own,
                            const BertConfig& config, std::uint64_t seed, std::span<float> row);

enum class SaveType : std::uint8_t { kF32, kF16, kBF16 };

// "float32", "float16", "bfloat16": the names of config.json and of the key save_dtype.
const char* name_of(SaveType type);

// row -> model.safetensors: HF names, own extents, {"format":"pt"}. Written whole or not at all. Error: a
// value that is not finite in the type to be stored, with the tensor's name; disk full and the like.
void export_weights(const std::filesystem::path& file, const Layout& layout, Extents own,
                    std::span<const float> row, SaveType type);

}  // namespace shoal::models
