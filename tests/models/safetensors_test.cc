// The safetensors reader trusts nothing (cases 31 and 32); the writer writes what everybody can read.
#include "models/safetensors.h"

#include <cstring>
#include <random>

#include "tests/models/support.h"

namespace shoal::models {
namespace {

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}

std::string file_of(const std::string& header, const std::string& data) {
  return with_length(header.size(), header + data);
}

class SafetensorsReader : public testing::Test {
 protected:
  // The message without the file's name in front; "no error" where the file is accepted.
  std::string error_for(const std::string& bytes) {
    write_file(file_, bytes);
    const std::string error = error_of([&] { SafetensorsFile{file_}; });
    const std::string place = file_.string() + ": error: ";
    return error.starts_with(place) ? error.substr(place.size()) : error;
  }
  std::string header_error(const std::string& header) {
    return error_for(file_of(header, std::string(8, '\1')));
  }

  TempFolder folder_;
  std::filesystem::path file_ = folder_ / "model.safetensors";
};

constexpr const char* kA = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";

std::string with_a(const std::string& more) {
  return std::string("{") + kA + "," + more + "}";
}

TEST_F(SafetensorsReader, ReadsAGoodFile) {
  const std::string header = with_a(R"("b":{"shape":[2,1],"data_offsets":[4,8],"dtype":"BF16"})") + "   ";
  write_file(file_, file_of(header, std::string("\0\0\x80\x3f\1\2\3\4", 8)));
  const SafetensorsFile file(file_);
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[1].shape, (std::vector<std::int64_t>{2, 1}));
  float one = 0;
  std::memcpy(&one, file.bytes(file.tensors()[0]).data(), 4);
  EXPECT_EQ(one, 1.0f);
  EXPECT_EQ(file.bytes(file.tensors()[1]).size(), 4u);
}

TEST_F(SafetensorsReader, AcceptsScalarsAndEmptyTensors) {
  EXPECT_EQ(header_error(R"({"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}})"), "no error");
  EXPECT_EQ(header_error(R"({"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
                         R"("e":{"dtype":"F32","shape":[0,7],"data_offsets":[8,8]},)"
                         R"("f":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"),
            "no error");
  EXPECT_EQ(error_for(file_of("{}", "")), "no error");
}

TEST_F(SafetensorsReader, Case31RefusesAHeaderThatLies) {
  const auto b = [](const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
    return with_a(R"("b":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
                  "}");
  };
  EXPECT_EQ(header_error(b("[1]", "[4,8]")), "no error");
  EXPECT_EQ(header_error(b("[1]", "[2,6]")), "tensor 'b' at [2,6] overlaps the one before it");
  EXPECT_EQ(header_error(b("[1]", "[0,4]")), "tensor 'b' at [0,4] overlaps the one before it");
  EXPECT_EQ(header_error(b("[1]", "[8,12]")),
            "tensor 'b': data_offsets [8,12] are outside the 8 bytes of data");
  EXPECT_EQ(header_error(b("[1]", "[6,4]")),
            "tensor 'b': data_offsets [6,4] are outside the 8 bytes of data");
  EXPECT_EQ(header_error(b("[1]", "[4,18446744073709551615]")),
            "tensor 'b': data_offsets [4,18446744073709551615] are outside the 8 bytes of data");
  EXPECT_EQ(header_error(b("[3]", "[4,8]")), "tensor 'b': F32 [3] takes 12 bytes, data_offsets [4,8] give 4");
  EXPECT_EQ(header_error(b("[1]", "[4,8]", "I64")),
            "tensor 'b': I64 [1] takes 8 bytes, data_offsets [4,8] give 4");
  EXPECT_EQ(header_error(b("[4294967296,4294967296]", "[4,8]")),
            "tensor 'b': the size of shape [4294967296,4294967296] overflows");
  EXPECT_EQ(header_error(b("[2305843009213693953]", "[4,8]")),
            "tensor 'b': the size of shape [2305843009213693953] overflows");
  EXPECT_EQ(header_error(std::string("{") + kA + "," + kA + "}"), "'a' stands twice in the header");
  EXPECT_EQ(header_error(std::string("{") + kA + R"(,"\u0061":{}})"), "'a' stands twice in the header");
  EXPECT_EQ(header_error(std::string("{") + kA + "}"), "the last 4 bytes belong to no tensor");
  EXPECT_EQ(header_error(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
            "bytes 0 to 4 belong to no tensor");
}

TEST_F(SafetensorsReader, Case31RefusesOtherKindsOfNumbersAndKeys) {
  const auto a = [](const std::string& inside) { return R"({"a":{)" + inside + "}}"; };
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":[-1,8])")),
            "tensor 'a': data_offsets holds -1; allowed: whole numbers from 0");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":[0.0,8])")),
            "tensor 'a': data_offsets holds 0.0; allowed: whole numbers from 0");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":[0,8e0])")),
            "tensor 'a': data_offsets holds 8e0; allowed: whole numbers from 0");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":["0",8])")),
            "tensor 'a': data_offsets holds \"0\"; allowed: whole numbers from 0");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":[0,99999999999999999999])")),
            "tensor 'a': data_offsets holds 99999999999999999999; allowed: whole numbers from 0");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":[0,4,8])")),
            "tensor 'a': data_offsets has more than two entries");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":[0])")),
            "tensor 'a' lacks 'data_offsets'");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])")),
            "tensor 'a': shape holds -2; allowed: whole numbers from 0");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])")),
            "tensor 'a': shape holds [; allowed: whole numbers from 0");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":2,"data_offsets":[0,8])")),
            "tensor 'a': shape is 2; allowed: an array");
  EXPECT_EQ(header_error(a(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])")),
            "tensor 'a' has the unknown type 'F31'");
  EXPECT_EQ(header_error(a(R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])")),
            "tensor 'a': dtype is [; allowed: a type's name");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])")),
            "tensor 'a' has 'dtype' twice");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])")),
            "tensor 'a' has 'shape' twice");
  EXPECT_EQ(header_error(a(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":1)")),
            "tensor 'a' has the unknown key 'extra'");
  EXPECT_EQ(header_error(R"({"a":7})"), "'a' is 7; allowed: an object");
  EXPECT_EQ(header_error(R"({"a":null})"), "'a' is null; allowed: an object");
}

TEST_F(SafetensorsReader, Case31RefusesWhatIsNoHeader) {
  EXPECT_EQ(error_for(""), "not a safetensors file: not a regular file of at least 8 bytes");
  EXPECT_EQ(error_for("1234567"), "not a safetensors file: not a regular file of at least 8 bytes");
  EXPECT_EQ(error_for(with_length(2, "{")), "the file ends inside its header of 2 bytes");
  EXPECT_EQ(error_for(with_length(100000001, "{}")),
            "not a safetensors file: its header would be 100000001 bytes, the limit is 100000000");
  EXPECT_EQ(error_for(with_length(~std::uint64_t{0}, "{}")),
            "not a safetensors file: its header would be 18446744073709551615 bytes, the limit is 100000000");
  EXPECT_EQ(error_for(with_length(0, "")), "not a safetensors file: its header does not start with '{'");
  EXPECT_EQ(error_for(file_of(" {}", "")), "not a safetensors file: its header does not start with '{'");
  EXPECT_EQ(error_for(file_of("[]", "")), "not a safetensors file: its header does not start with '{'");
  EXPECT_EQ(error_for(file_of("{", "")), "the header is not valid JSON at byte 2");
  EXPECT_EQ(error_for(file_of("{}}", "")), "the header is not valid JSON at byte 3");
  EXPECT_EQ(error_for(file_of("{\"\xff\":{}}", "")), "the header is not valid JSON at byte 3");
  EXPECT_EQ(error_of([&] { SafetensorsFile(folder_ / "none"); }),
            (folder_ / "none").string() + ": error: cannot open the file: No such file or directory");
}

TEST_F(SafetensorsReader, Case32AcceptsAnyMetadata) {
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_EQ(header_error("{" + a + "}"), "no error");
  EXPECT_EQ(header_error(R"({"__metadata__":{},)" + a + "}"), "no error");
  EXPECT_EQ(header_error("{" + a + R"(,"__metadata__":{"format":"pt","who":"me"}})"), "no error");
  EXPECT_EQ(SafetensorsFile(file_).metadata().at("who"), "me");
  EXPECT_EQ(header_error(R"({"__metadata__":{"n":1},)" + a + "}"),
            "__metadata__ 'n' is 1; allowed: a string");
  EXPECT_EQ(header_error(R"({"__metadata__":{"n":"1","n":"2"},)" + a + "}"), "__metadata__ has 'n' twice");
}

TEST_F(SafetensorsReader, SurvivesDamage) {
  const std::string good =
      file_of(with_a(R"("b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]})"), "12345678");
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(error_for(good.substr(0, size)), "no error") << size;
  EXPECT_NE(error_for(good + "x"), "no error");
  // Each byte changed twice, alone: an Error or a file whose tensors can be read to their last byte.
  std::mt19937 random(1);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int n = 0; n < 2; ++n) {
      std::string bad = good;
      bad[at] = static_cast<char>(random());
      if (error_for(bad) != "no error") continue;
      const SafetensorsFile file(file_);
      unsigned sum = 0;
      for (const StoredTensor& tensor : file.tensors())
        for (const std::byte byte : file.bytes(tensor)) sum += static_cast<unsigned>(byte);
      EXPECT_GT(sum, 0u);
    }
  }
}

TEST_F(SafetensorsReader, NestingCostsNothing) {
  EXPECT_EQ(error_for(file_of("{\"a\":" + std::string(1 << 20, '['), "")), "'a' is [; allowed: an object");
  EXPECT_EQ(error_for(file_of("{\"a\":{\"a\":", "")), "tensor 'a' has the unknown key 'a'");
}

TEST(SafetensorsWriter, Case32AlwaysWritesTheFormatAndAlignsTheData) {
  const TempFolder folder;
  const auto append_text = [](const std::string& text) {
    return [text](const data::Append& append) { append(text); };
  };
  write_safetensors(folder / "m", {{"x\"y", "F32", {1, 2}, append_text("12345678")},
                                   {"z", "BF16", {3}, append_text("abcdef")}});
  const std::string bytes = read_file(folder / "m");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_TRUE(bytes.substr(8).starts_with(R"({"__metadata__":{"format":"pt"},"x\"y":{"dtype":"F32")"))
      << bytes;
  EXPECT_TRUE(bytes.ends_with("12345678abcdef"));
  const SafetensorsFile file(folder / "m");
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  EXPECT_EQ(file.tensors()[1].name, "z");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m"});
}

TEST(SafetensorsWriter, RefusesAProducerOfTheWrongSize) {
  const TempFolder folder;
  EXPECT_THROW(write_safetensors(folder / "m",
                                 {{"x", "F32", {2}, [](const data::Append& append) { append("1234"); }}}),
               Error);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace shoal::models
