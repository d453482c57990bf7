//===- Status.h - Errors as values ------------------------------*- C++ -*-===//
//
// Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error type that crosses every interface of the runtime and of the importer: no exceptions,
// one sentence a failure. The code decides the exit status of the tools; the message is for a
// person.
//
//===----------------------------------------------------------------------===//

#ifndef K3_SUPPORT_STATUS_H
#define K3_SUPPORT_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace k3 {

/// What kind of failure it is; `exitCode` maps it to the exit status of a command line tool.
enum class Code {
  Ok,
  /// Work that was accepted and then failed: I/O, memory, a non-finite value. Exit status 1.
  Failed,
  /// Input or a command line that is not accepted. Exit status 2.
  Refused,
};

/// A success, or a failure with one sentence: `subject: what is wrong (got X, expected Y); what to
/// do next`.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status ok() { return {}; }
  static Status failed(std::string message) { return Status(Code::Failed, std::move(message)); }
  static Status refused(std::string message) { return Status(Code::Refused, std::move(message)); }

  bool isOk() const { return code_ == Code::Ok; }
  explicit operator bool() const { return isOk(); }
  Code code() const { return code_; }
  const std::string &message() const { return message_; }
  /// 0 done, 1 failed at work, 2 refused input or wrong command line.
  int exitCode() const { return code_ == Code::Ok ? 0 : code_ == Code::Failed ? 1 : 2; }

private:
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  Code code_ = Code::Ok;
  std::string message_;
};

/// A value or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    assert(!status_.isOk() && "a Result without a value needs a failure");
  }

  bool isOk() const { return value_.has_value(); }
  explicit operator bool() const { return isOk(); }
  const Status &status() const { return status_; }
  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return std::move(*value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

/// Returns the failure of EXPR, if it is one, from the enclosing function.
#define K3_RETURN_IF_ERROR(EXPR)                                                                   \
  do {                                                                                             \
    if (::k3::Status k3Status_ = (EXPR); !k3Status_.isOk())                                        \
      return k3Status_;                                                                            \
  } while (false)

#define K3_CONCAT_INNER(A, B) A##B
#define K3_CONCAT(A, B) K3_CONCAT_INNER(A, B)
/// Declares DECL and sets it to the value of EXPR, a Result; returns its Status when there is no
/// value.
#define K3_ASSIGN_OR_RETURN(DECL, EXPR)                                                            \
  K3_ASSIGN_OR_RETURN_IMPL(K3_CONCAT(k3Result_, __LINE__), DECL, EXPR)
#define K3_ASSIGN_OR_RETURN_IMPL(TMP, DECL, EXPR)                                                  \
  auto TMP = (EXPR);                                                                               \
  if (!TMP.isOk())                                                                                 \
    return TMP.status();                                                                           \
  DECL = std::move(*TMP)

} // namespace k3

#endif // K3_SUPPORT_STATUS_H
