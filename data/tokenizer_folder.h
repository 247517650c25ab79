// Tokenizers in Hugging Face folders: vocab.txt, tokenizer.json, tokenizer_config.json.
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/tokenizer.h"

namespace shoal::data {

// Reads the tokenizer of a folder from vocab.txt, from tokenizer.json, or from both, which then must agree.
// Flags: those of tokenizer.json's normaliser; what tokenizer_config.json says overrides them, as in
// transformers, unless its class is the generic TokenizersBackend; what neither says is HF's default.
// Error, by name, for anything that is not BERT's tokenizer.
BertTokenizer load_tokenizer(const std::filesystem::path& folder);

// Writes vocab.txt (byte for byte as it was read), tokenizer.json (no truncation, no padding) and
// tokenizer_config.json. The folder must exist; files there are overwritten.
void write_tokenizer(const std::filesystem::path& folder, const BertTokenizer& tokenizer,
                     std::int64_t model_max_length);

}  // namespace shoal::data
