#include "models/safetensors_header.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "kernels/base/error.h"

namespace shoal::models {
namespace {

// Receives the parser's events; answering false stops it, with error() saying why.
class HeaderEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderEvents(SafetensorsHeader& header) : header_(header) {}

  const std::string& error() const { return error_; }

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return unexpected(text); }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::kShape &&
        value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      tensor_.shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ == Place::kOffsets && offsets_ < 2) {
      (offsets_++ == 0 ? tensor_.begin : tensor_.end) = value;
      return true;
    }
    return unexpected(std::to_string(value));
  }

  bool string(string_t& value) override {
    if (place_ == Place::kMetadata) {
      header_.metadata[key_] = value;
      return true;
    }
    if (place_ == Place::kTensor && key_ == "dtype") {
      if (bits_of(value) == 0)
        return stop(fmt::format("tensor '{}' has the unknown type '{}'", tensor_.name, value));
      tensor_.dtype = value;
      return true;
    }
    return unexpected("\"" + value + "\"");
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kOutside) return go(Place::kNames);
    if (place_ != Place::kNames) return unexpected("{");
    if (key_ == "__metadata__") return go(Place::kMetadata);
    tensor_ = StoredTensor{.name = key_, .dtype = {}, .shape = {}};
    offsets_ = 0;
    has_shape_ = has_offsets_ = false;
    return go(Place::kTensor);
  }

  bool key(string_t& value) override {
    key_ = value;
    if (place_ == Place::kNames)
      return names_.insert(value).second || stop(fmt::format("'{}' stands twice in the header", value));
    if (place_ == Place::kMetadata)
      return !header_.metadata.contains(value) || stop(fmt::format("__metadata__ has '{}' twice", value));
    const bool twice = (value == "dtype" && !tensor_.dtype.empty()) || (value == "shape" && has_shape_) ||
                       (value == "data_offsets" && has_offsets_);
    if (twice) return stop(fmt::format("tensor '{}' has '{}' twice", tensor_.name, value));
    return value == "dtype" || value == "shape" || value == "data_offsets" ||
           stop(fmt::format("tensor '{}' has the unknown key '{}'", tensor_.name, value));
  }

  bool end_object() override {
    if (place_ == Place::kNames) return go(Place::kOutside);
    if (place_ == Place::kTensor) {
      for (const auto& [key, there] :
           {std::pair{"dtype", !tensor_.dtype.empty()}, std::pair{"shape", has_shape_},
            std::pair{"data_offsets", offsets_ == 2}})
        if (!there) return stop(fmt::format("tensor '{}' lacks '{}'", tensor_.name, key));
      header_.tensors.push_back(std::move(tensor_));
    }
    return go(Place::kNames);
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::kTensor || key_ == "dtype") return unexpected("[");
    (key_ == "shape" ? has_shape_ : has_offsets_) = true;
    return go(key_ == "shape" ? Place::kShape : Place::kOffsets);
  }

  bool end_array() override { return go(Place::kTensor); }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception&) override {
    return stop(fmt::format("the header is not valid JSON at byte {}", byte));
  }

 private:
  enum class Place { kOutside, kNames, kMetadata, kTensor, kShape, kOffsets };

  bool go(Place place) {
    place_ = place;
    return true;
  }

  bool stop(std::string error) {
    error_ = std::move(error);
    return false;
  }

  bool unexpected(const std::string& what) {
    switch (place_) {
      case Place::kOutside:
        return stop("the header is not a JSON object");
      case Place::kNames:
        return stop(fmt::format("'{}' is {}; allowed: an object", key_, what));
      case Place::kMetadata:
        return stop(fmt::format("__metadata__ '{}' is {}; allowed: a string", key_, what));
      case Place::kTensor:
        return stop(fmt::format("tensor '{}': {} is {}; allowed: {}", tensor_.name, key_, what,
                                key_ == "dtype" ? "a type's name" : "an array"));
      case Place::kShape:
        break;
      case Place::kOffsets:
        if (offsets_ == 2)
          return stop(fmt::format("tensor '{}': data_offsets has more than two entries", tensor_.name));
    }
    return stop(
        fmt::format("tensor '{}': {} holds {}; allowed: whole numbers from 0", tensor_.name, key_, what));
  }

  SafetensorsHeader& header_;
  Place place_ = Place::kOutside;
  std::string key_;
  std::string error_;
  StoredTensor tensor_;
  int offsets_ = 0;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  std::unordered_set<std::string> names_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::filesystem::path& file, std::string_view text) {
  SafetensorsHeader header;
  HeaderEvents events(header);
  const bool good = nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  require(good, "{}: error: {}", file.string(), events.error());
  return header;
}

unsigned bits_of(std::string_view dtype) {
  struct Type {
    std::string_view name;
    unsigned bits;
  };
  constexpr std::array<Type, 20> types = {{{"BOOL", 8},    {"U8", 8},      {"I8", 8},   {"F8_E5M2", 8},
                                           {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6},
                                           {"F6_E3M2", 6}, {"I16", 16},    {"U16", 16}, {"F16", 16},
                                           {"BF16", 16},   {"I32", 32},    {"U32", 32}, {"F32", 32},
                                           {"I64", 64},    {"U64", 64},    {"F64", 64}, {"C64", 64}}};
  for (const Type& type : types)
    if (type.name == dtype) return type.bits;
  return 0;
}

}  // namespace shoal::models
