// dlsym as the traced program sees it. It must be a jump, not a call: the real one finds out from its return address which
// library asks (RTLD_NEXT, RTLD_DEFAULT). gmt_dlsym_choice answers a replacement or null.
#if defined(__x86_64__)
  .text
  .globl dlsym
  .type dlsym, @function
  .p2align 4
dlsym:
  endbr64
  pushq %rdi
  pushq %rsi
  subq $8, %rsp
  call gmt_dlsym_choice
  addq $8, %rsp
  popq %rsi
  popq %rdi
  testq %rax, %rax
  jne 1f
  movq gmt_dlsym_real(%rip), %rax
  jmp *%rax
1:
  ret
  .size dlsym, .-dlsym
#elif defined(__aarch64__)
  .text
  .globl dlsym
  .type dlsym, %function
  .p2align 4
dlsym:
  stp x0, x1, [sp, #-32]!
  str x30, [sp, #16]
  bl gmt_dlsym_choice
  mov x16, x0
  ldr x30, [sp, #16]
  ldp x0, x1, [sp], #32
  cbnz x16, 1f
  adrp x16, gmt_dlsym_real
  ldr x16, [x16, #:lo12:gmt_dlsym_real]
  br x16
1:
  mov x0, x16
  ret
  .size dlsym, .-dlsym
#endif
  .section .note.GNU-stack, "", %progbits
