//===- VocabularyFiles.cpp - Reading a checkpoint's tokenizer files -------===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both parsers refuse instead of repairing: one wrong rank gives other ids than the model was
// trained with, and the text that comes out is fluent enough for nobody to notice.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/VocabularyFiles.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

using namespace k3;
using Json = nlohmann::json;

/// TEXT in quotes for a message: cut to what fits a line, control characters and other bytes as
/// \xNN.
static std::string quote(std::string_view text) {
  constexpr size_t kShown = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (char c : text.substr(0, kShown)) {
    uint8_t byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7F)
      out += c;
    else
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out + (text.size() > kShown ? "…'" : "'");
}

/// TEXT as a decimal number from 0 to the largest id; digits only.
static std::optional<int32_t> parseId(std::string_view text) {
  int32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<std::string> k3::decodeBase64(std::string_view text) {
  if (text.size() % 4 != 0)
    return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
    ++padding;
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text.substr(0, text.size() - padding)) {
    uint32_t value;
    if (c >= 'A' && c <= 'Z')
      value = static_cast<uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      value = static_cast<uint32_t>(c - 'a') + 26;
    else if (c >= '0' && c <= '9')
      value = static_cast<uint32_t>(c - '0') + 52;
    else if (c == '+' || c == '/')
      value = c == '+' ? 62 : 63;
    else
      return std::nullopt;
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  // Bits behind the last byte must be 0, or two spellings would stand for one token.
  if ((bits & ((1u << count) - 1)) != 0)
    return std::nullopt;
  return bytes;
}

namespace {

/// Watches a parse for what the JSON library does not tell: where an error is, and keys given
/// twice.
class JsonWatcher : public nlohmann::json_sax<Json> {
public:
  std::optional<size_t> errorPosition;
  std::string duplicateKey;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool key(string_t &key) override {
    if (keys_.back().insert(key).second)
      return true;
    duplicateKey = key;
    return false;
  }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    errorPosition = position;
    return false;
  }

private:
  std::vector<std::set<std::string>> keys_;
};

} // namespace

/// Parses TEXT or says on which line it is not JSON.
static Result<Json> parseJson(const std::string &path, std::string_view text) {
  JsonWatcher watcher;
  if (!Json::sax_parse(text.begin(), text.end(), &watcher)) {
    if (!watcher.errorPosition)
      return Status::refused(path + ": key " + quote(watcher.duplicateKey) +
                             " stands twice in one object (expected once); remove one of the two");
    // The position counts the byte that does not fit; the end of the file counts as one more byte.
    bool atEnd = *watcher.errorPosition > text.size();
    std::string_view before = text.substr(0, *watcher.errorPosition - 1);
    auto line = 1 + std::count(before.begin(), before.end(), '\n');
    size_t lineStart = before.rfind('\n') + 1;
    std::string_view seen = text.substr(lineStart, *watcher.errorPosition - lineStart);
    return Status::refused(
        path + ":" + std::to_string(line) + ": not JSON (got " +
        (atEnd ? "the end of the file"
               : quote(seen.substr(seen.size() - std::min<size_t>(seen.size(), 40))) +
                     ", wrong from its last byte") +
        ", expected one complete JSON value); fetch the file again");
  }
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

/// The added token that KEY and VALUE describe, checked on its own.
static Result<AddedToken> parseAddedToken(const std::string &where, const Json &value) {
  if (!value.is_object())
    return Status::refused(where + ": is no object (got " + value.type_name() +
                           ", expected {\"content\": …, \"special\": …}); fetch the file again");
  auto content = value.find("content");
  if (content == value.end() || !content->is_string() ||
      content->get_ref<const std::string &>().empty())
    return Status::refused(where + ".content: is no text (got " +
                           (content == value.end() ? "nothing"
                            : content->is_string() ? "an empty string"
                                                   : content->type_name()) +
                           ", expected the spelling of the token); fetch the file again");
  AddedToken token{content->get<std::string>()};
  if (auto special = value.find("special"); special != value.end()) {
    if (!special->is_boolean())
      return Status::refused(where + ".special: is no truth value (got " + special->type_name() +
                             ", expected true or false); fetch the file again");
    token.special = special->get<bool>();
  }
  return token;
}

Result<AddedTokens> k3::parseTokenizerConfig(const std::string &path, std::string_view text) {
  K3_ASSIGN_OR_RETURN(Json config, parseJson(path, text));
  if (!config.is_object() || !config.contains("added_tokens_decoder"))
    return Status::refused(path + ": has no added_tokens_decoder (got " +
                           (config.is_object() ? "an object without it" : config.type_name()) +
                           ", expected the ids of the control tokens there); fetch the file again");
  const Json &decoder = config["added_tokens_decoder"];
  if (!decoder.is_object())
    return Status::refused(path + ": added_tokens_decoder: is no object (got " +
                           decoder.type_name() +
                           ", expected {\"id\": token}); fetch the file again");
  AddedTokens added;
  std::map<std::string, int32_t> idOfContent;
  for (const auto &[key, value] : decoder.items()) {
    std::string where = path + ": added_tokens_decoder." + key;
    std::optional<int32_t> id = parseId(key);
    if (!id)
      return Status::refused(path + ": added_tokens_decoder: key is no token id (got " +
                             quote(key) + ", expected a number from 0 to " +
                             std::to_string(std::numeric_limits<int32_t>::max()) +
                             "); fetch the file again");
    K3_ASSIGN_OR_RETURN(AddedToken token, parseAddedToken(where, value));
    auto [other, isNew] = idOfContent.emplace(token.content, *id);
    if (!isNew)
      return Status::refused(where + ": " + quote(token.content) + " has two ids (got " +
                             std::to_string(*id) + " and " + std::to_string(other->second) +
                             ", expected one); fetch the file again");
    if (!added.emplace(*id, std::move(token)).second)
      return Status::refused(
          where + ": id " + std::to_string(*id) +
          " is spelled in two ways (expected one key for it); fetch the file again");
  }
  return added;
}

namespace {

/// Parses one line of `tiktoken.model` after the other into an encoder.
class TiktokenParser {
public:
  TiktokenParser(const std::string &path, std::string_view text, const AddedTokens &added)
      : path_(path), text_(text), added_(added), encoder_(text.size()) {
    size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) +
                   (!text.empty() && text.back() != '\n');
    idLimit_ = lines + added.size();
  }

  Result<BytePairEncoder> parse() {
    for (size_t offset = 0; offset < text_.size();) {
      size_t end = std::min(text_.find('\n', offset), text_.size());
      ++line_;
      K3_RETURN_IF_ERROR(parseLine(text_.substr(offset, end - offset)));
      offset = end + 1;
    }
    K3_RETURN_IF_ERROR(checkComplete());
    return std::move(encoder_);
  }

private:
  Status refuse(const std::string &what) const {
    return Status::refused(path_ + ":" + std::to_string(line_) + ": " + what +
                           "; fetch the file again");
  }

  Status parseLine(std::string_view line) {
    size_t space = line.find(' ');
    if (space == std::string_view::npos)
      return refuse("line is no token and rank (got " + quote(line) + ", expected 'base64 rank')");
    std::string_view token = line.substr(0, space), number = line.substr(space + 1);
    std::optional<std::string> bytes = decodeBase64(token);
    if (!bytes || bytes->empty())
      return refuse("token is not base64 (got " + quote(token) + ", expected padded base64)");
    std::optional<int32_t> rank = parseId(number);
    // Without gaps no id can be larger; the limit also keeps one wild number from taking all
    // memory.
    if (!rank || static_cast<size_t>(*rank) >= idLimit_)
      return refuse("rank is out of range (got " + quote(number) + ", expected a number below " +
                    std::to_string(idLimit_) + ", the lines here and the added tokens together)");
    if (auto other = added_.find(*rank); other != added_.end())
      return refuse("rank " + std::to_string(*rank) + " is also an added token (got " +
                    quote(other->second.content) +
                    " for it in tokenizer_config.json, expected one meaning an id)");
    if (encoder_.bytesOf(*rank))
      return refuse("rank " + std::to_string(*rank) + " stands twice (got it for " + quote(*bytes) +
                    " and for " + quote(*encoder_.bytesOf(*rank)) + ", expected it once)");
    if (!encoder_.add(*bytes, *rank))
      return refuse("token " + quote(*bytes) + " stands twice (got ranks " +
                    std::to_string(*encoder_.find(*bytes)) + " and " + std::to_string(*rank) +
                    ", expected one)");
    largest_ = std::max(largest_, *rank);
    return Status::ok();
  }

  Status checkComplete() const {
    for (int byte = 0; byte < 256; ++byte) {
      std::string one(1, static_cast<char>(byte));
      if (!encoder_.find(one))
        return Status::refused(path_ + ": no token for the single byte " + quote(one) + " (got " +
                               std::to_string(encoder_.size()) +
                               " tokens, expected all 256 bytes among them); fetch the file again");
    }
    for (int32_t id = 0; id <= largest_; ++id)
      if (!encoder_.bytesOf(id) && !added_.count(id))
        return Status::refused(path_ + ": no token for rank " + std::to_string(id) +
                               " (got ranks up to " + std::to_string(largest_) +
                               ", expected none left out); fetch the file again");
    return Status::ok();
  }

  const std::string &path_;
  std::string_view text_;
  const AddedTokens &added_;
  BytePairEncoder encoder_;
  size_t idLimit_ = 0;
  size_t line_ = 0;
  int32_t largest_ = -1;
};

} // namespace

Result<BytePairEncoder> k3::parseTiktokenModel(const std::string &path, std::string_view text,
                                               const AddedTokens &added) {
  return TiktokenParser(path, text, added).parse();
}
