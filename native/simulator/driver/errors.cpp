// Names of error codes.
#include "simulator/trace.h"

using namespace sim;

namespace {

struct Error {
  CUresult code;
  const char *name, *text;
};
constexpr Error ERRORS[] = {{SUCCESS, "CUDA_SUCCESS", "no error"},
#define X(name, code, text) {name, "CUDA_ERROR_" #name, text},
                            SIM_ERRORS(X)
#undef X
};

CUresult find(CUresult code, const char **text, bool name) {
  if (!text) return INVALID_VALUE;
  *text = nullptr;
  for (const Error &error : ERRORS) {
    if (error.code == code) *text = name ? error.name : error.text;
  }
  return *text ? SUCCESS : INVALID_VALUE;
}

}  // namespace

SIM_EXPORT CUresult cuGetErrorName(CUresult code, const char **name) { return find(code, name, true); }
SIM_EXPORT CUresult cuGetErrorString(CUresult code, const char **text) { return find(code, text, false); }
