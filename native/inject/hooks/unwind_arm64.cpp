// One step up by the frame records of arm64 (AAPCS64 §6.4.6), which its compilers write unless they are forbidden to:
// | the caller's frame register | return address |
#include "inject/hooks/unwind.h"
#include "wire/processor.h"

namespace gmt::inject {

UnwindRule unwind_rule(uintptr_t, uintptr_t) { return {UnwindRule::kFrame, UnwindRule::kFromFrame, 0, 0}; }

bool unwind(const UnwindRule &rule, Registers *at) {
  const bool above = at->fp >= at->sp && at->fp - at->sp < kMostStack && at->fp % 16 == 0;
  if (rule.base == UnwindRule::kNone || !above) return false;
  const auto *record = reinterpret_cast<const uintptr_t *>(at->fp);
  *at = {return_address(record[1]), at->fp + sizeof(uintptr_t[2]), record[0]};
  return true;
}

}  // namespace gmt::inject
