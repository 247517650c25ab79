// A BERT vocabulary: token <-> id, as vocab.txt has it.
//
// id = physical line number from 0, lines split on \n only; a \r before it is dropped; a blank line keeps
// its id (nothing maps to it), blank lines at the very end make none. Of a token that stands twice the
// last id counts, as in Hugging Face's loader. Immutable, so free to share between threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::data {

class Vocabulary {
 public:
  static constexpr std::string_view kPad = "[PAD]", kUnk = "[UNK]", kCls = "[CLS]", kSep = "[SEP]",
                                    kMask = "[MASK]";
  static constexpr std::string_view kInner = "##";  // how a piece begins that continues a word

  // Reads vocab.txt. Error if one of the five special tokens is missing, naming all that are.
  static Vocabulary read(const std::filesystem::path& file);
  // The same from the bytes of a vocab.txt; `name` is for messages.
  static Vocabulary parse(std::string bytes, const std::filesystem::path& name);
  // From tokens in id order (tokenizer.json); "" is an id without a token.
  static Vocabulary from_tokens(const std::vector<std::string>& tokens, const std::filesystem::path& name);

  std::int32_t size() const { return static_cast<std::int32_t>(spans_.size()); }
  std::string_view token(std::int32_t id) const;
  std::int32_t find(std::string_view token) const;        // -1: not there
  std::int32_t find_inner(std::string_view piece) const;  // id of "##" + piece, -1: not there
  std::size_t longest() const { return longest_; }        // bytes of the longest token
  const std::string& bytes() const { return bytes_; }     // vocab.txt as it was read

  std::int32_t pad() const { return pad_; }
  std::int32_t unk() const { return unk_; }
  std::int32_t cls() const { return cls_; }
  std::int32_t sep() const { return sep_; }
  std::int32_t mask() const { return mask_; }

 private:
  struct Span {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  // Open addressing, linear probing: 8 bytes a slot, and most misses end at the first slot.
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t id = -1;
  };
  class Index {
   public:
    void reserve(std::size_t count);
    template <typename TextOf>
    void insert(std::string_view text, std::int32_t id, const TextOf& text_of);
    template <typename TextOf>
    std::int32_t find(std::string_view text, const TextOf& text_of) const;

   private:
    std::vector<Slot> slots_;  // a power of two
  };

  void build(const std::filesystem::path& name);

  std::string bytes_;
  std::vector<Span> spans_;  // of each id in bytes_
  Index whole_, inner_;      // all tokens; tokens that start with "##", without it
  std::size_t longest_ = 0;
  std::int32_t pad_ = -1, unk_ = -1, cls_ = -1, sep_ = -1, mask_ = -1;
};

}  // namespace shoal::data
