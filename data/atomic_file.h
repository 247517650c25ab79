// Files that appear whole or not at all: written beside their destination under a hidden temporary
// name, synced, then renamed. Until the rename the old file stays as it was; a failure leaves no trace.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace shoal::data {

// Appends bytes to the file being written. Throws Error (disk full, ...).
using Append = std::function<void(std::string_view bytes)>;

// Calls `writer` once. Whatever it throws passes through, with the temporary file removed.
void write_atomically(const std::filesystem::path& file, const std::function<void(const Append&)>& writer);

// The same for a text at hand.
void write_atomically(const std::filesystem::path& file, std::string_view text);

// A name beside `path` that no other thread or process of this machine uses: ".NAME.tmp-PID-N".
std::filesystem::path temporary_sibling(const std::filesystem::path& path);

// Makes renames inside `folder` durable. File systems that cannot are passed over.
void sync_folder(const std::filesystem::path& folder);

}  // namespace shoal::data
