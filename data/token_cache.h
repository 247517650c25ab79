// Tokenised files kept between runs.
//
// A file of the cache is named by a hash (XXH3, 128 bits) of all that decides what it holds: the bytes of
// the text file, the vocabulary, the tokenizer's settings, how the table is read, columns, lengths, labels
// and the version of this format. Whatever changes, the name changes, and the text is tokenised anew. What
// is found under a name is used only if its checksum, its sizes and its indices are right; anything else is
// written over. Files appear whole or not at all. The folder may be emptied at any time; nothing else does.
#pragma once

#include <filesystem>
#include <string>

#include "data/build_dataset.h"

namespace shoal::data {

struct CachedDataset {
  Dataset dataset;
  bool found = false;  // in the cache
  std::string note;    // why it could not be kept, for the user; empty: it was, or was there
};

// build_dataset(), unless `folder` has what that would give. The folder is made where it is missing. An
// empty `folder`, or a text that is no regular file (/dev/stdin): build_dataset() alone.
CachedDataset build_dataset_cached(const std::filesystem::path& folder, const std::filesystem::path& file,
                                   const BertTokenizer& tokenizer, const LabelMap* labels,
                                   const DatasetOptions& options);

// Where it is kept. Error if `file` cannot be read.
std::filesystem::path cache_file(const std::filesystem::path& folder, const std::filesystem::path& file,
                                 const BertTokenizer& tokenizer, const LabelMap* labels,
                                 const DatasetOptions& options);

}  // namespace shoal::data
