#pragma once
// Command lines are recorded, shown and pasted into reports: what is a secret in them is not. No allocation and no exception: it
// runs in the traced program, before its command line is written.
#include <stddef.h>
#include <string.h>

#include <algorithm>
#include <string_view>

namespace gmt::secrets {

constexpr bool is_one_of(char c, std::string_view all) { return all.find(c) != all.npos; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr bool is_word(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_'; }
constexpr bool is_name_part(char c) { return is_word(c) || c == '.' || c == '-'; }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr bool starts_with(std::string_view text, std::string_view low) {
  return text.size() >= low.size() &&
         std::equal(low.begin(), low.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}

/// Whether a name ends in one of these, at its begin or behind `-`, `_` or `.`.
template <size_t N>
constexpr bool ends_in(std::string_view name, const std::string_view (&ends)[N]) {
  return std::any_of(ends, ends + N, [&](std::string_view end) {
    if (name.size() < end.size() || !starts_with({name.end() - end.size(), end.size()}, end)) return false;
    return name.size() == end.size() || is_one_of(name[name.size() - end.size() - 1], "-_.");
  });
}

/// Whether the value of an option or variable of this name is a secret.
constexpr bool is_secret(std::string_view name) {
  constexpr std::string_view kNames[] = {"token",      "secret",     "pass",         "password",   "passwd",
                                         "passphrase", "pwd",        "credential",   "auth",       "authorization",
                                         "key",        "apikey",     "accesskey",    "privatekey", "secretkey",
                                         "authkey",    "signingkey", "encryptionkey"};
  constexpr std::string_view kPlurals[] = {"secret",  "password", "passwd",    "passphrase", "credential", "apikey",
                                           "api-key", "api_key",  "accesskey", "access_key", "access-key"};
  return ends_in(name, kNames) ||
         (!name.empty() && lower(name.back()) == 's' && ends_in({name.data(), name.size() - 1}, kPlurals));
}

/// One word of a command line, changed in its place: it only gets shorter.
class Word {
 public:
  Word(char *text, size_t size) : text_(text), size_(size) {}

  /// Masks each secret in it. Gives its bytes then.
  size_t mask() {
    for (const auto find : {&Word::in_url, &Word::in_query, &Word::bearer, &Word::assigned, &Word::key_of_service})
      for (size_t i = 0; i < size_; i++)
        if (const Range secret = (this->*find)(i); secret.to > secret.from) i = hide(secret);
    return size_;
  }

  size_t mask_all() { return hide({0, size_}), size_; }

 private:
  struct Range {
    size_t from, to;
  };

  /// Gives where it ends then.
  size_t hide(Range secret) {
    const size_t stars = std::min<size_t>(3, secret.to - secret.from);
    memset(text_ + secret.from, '*', stars);
    memmove(text_ + secret.from + stars, text_ + secret.to, size_ - secret.to);
    size_ -= secret.to - secret.from - stars;
    return secret.from + stars;
  }

  /// `//USER:PASSWORD@`
  Range in_url(size_t i) const {
    if (!rest(i).starts_with("://")) return {};
    const size_t user = while_not(i + 3, "/:@");
    const size_t end = while_not(user + 1, "/@");
    return at(user) == ':' && at(end) == '@' ? Range{user + 1, end} : Range{};
  }

  /// `?token=VALUE&x-signature=VALUE`
  Range in_query(size_t i) const {
    constexpr std::string_view kNames[] = {"token", "key", "secret", "password", "sig", "signature", "auth"};
    if (!is_one_of(at(i), "?&;")) return {};
    const size_t name = skip(i + 1, is_name_part);
    if (at(name) != '=' || !ends_in({text_ + i + 1, name - i - 1}, kNames)) return {};
    return {name + 1, while_not(name + 1, "&;")};
  }

  Range bearer(size_t i) const {
    const size_t name = begins_word(i) ? starts_with(rest(i), "bearer") ? 6 : starts_with(rest(i), "basic") ? 5 : 0 : 0;
    const size_t value = skip(i + name, is_space);
    return name && value > i + name ? Range{value, while_not(value, "")} : Range{};
  }

  /// `NAME=value`, also amid a word: in JSON, in the text of a shell, in overrides as `model.api_key=x`.
  Range assigned(size_t i) const {
    if (i > 0 && !is_space(text_[i - 1]) && !is_one_of(text_[i - 1], ",;'\"{(=")) return {};
    const size_t name = skip(i, is_name_part);
    const auto quote = [&](size_t k) { return k + (is_one_of(at(k), "'\"") && k < size_); };
    const size_t sign = skip(quote(name), is_space);
    if ((at(sign) != '=' && at(sign) != ':') || !is_secret({text_ + i, name - i})) return {};
    const size_t value = quote(skip(sign + 1, is_space));
    return {value, while_not(value, ",;'\"})")};
  }

  /// The key of a well-known service, by its prefix. 40 hexadecimal digits count as one.
  Range key_of_service(size_t i) const {
    constexpr std::string_view kBegins[] = {"hf_",   "sk-",   "pk-lf-",      "sk_live_", "gho_",  "ghp_",      "ghs_",
                                            "ghu_",  "ghr_",  "github_pat_", "glpat-",   "xoxa-", "xoxb-",     "xoxr-",
                                            "xoxe-", "xoxs-", "xoxp-",       "npm_",     "pypi-", "dckr_pat_", "AKIA",
                                            "ASIA",  "AIza",  "ya29.",       "eyJ"};
    if (!begins_word(i)) return {};
    for (const std::string_view begin : kBegins) {
      if (!rest(i).starts_with(begin)) continue;
      const size_t end = skip(i + begin.size(), [](char c) { return is_name_part(c) || is_one_of(c, "+/="); });
      if (end >= i + begin.size() + 8) return {i, end};
    }
    const size_t end = skip(i, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    return end == i + 40 && !is_word(at(end)) ? Range{i, end} : Range{};
  }

  char at(size_t i) const { return i < size_ ? text_[i] : '\0'; }
  std::string_view rest(size_t i) const { return {text_ + i, size_ - i}; }
  bool begins_word(size_t i) const { return i == 0 || !is_word(text_[i - 1]); }
  /// The first place from `i` on that is not so.
  template <typename Is>
  size_t skip(size_t i, Is is) const {
    while (i < size_ && is(text_[i])) i++;
    return i;
  }
  size_t while_not(size_t i, std::string_view ends) const {
    return skip(i, [&](char c) { return !is_space(c) && !is_one_of(c, ends); });
  }

  char *text_;
  size_t size_;
};

/// Masks the secrets of a command line, each word of which ends in NUL (the last one may be cut off), in its place. Gives its bytes then.
inline size_t mask_command(char *text, size_t size) {
  size_t kept = 0;
  bool value_follows = false;
  for (size_t from = 0; from < size;) {
    const void *nul = memchr(text + from, '\0', size - from);
    const size_t bytes = nul ? static_cast<size_t>(static_cast<const char *>(nul) - (text + from)) : size - from;
    memmove(text + kept, text + from, bytes);
    const std::string_view word(text + kept, bytes);
    const size_t dashes = word.starts_with("--") ? 2 : word.starts_with('-') ? 1 : 0;
    const bool is_option = dashes > 0 && bytes > dashes && lower(word[dashes]) >= 'a' && lower(word[dashes]) <= 'z';
    const bool is_value = value_follows && !is_option;
    value_follows = dashes > 0 && word.find('=') == word.npos && is_secret(word);
    Word masked(text + kept, bytes);
    kept += is_value ? masked.mask_all() : masked.mask();
    from += bytes + 1;
    if (nul) text[kept++] = '\0';
  }
  return kept;
}

}  // namespace gmt::secrets
