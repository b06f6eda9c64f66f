// dlsym as the traced program sees it. It must be a jump, not a call: the real one finds out from its return address which
// library asks (RTLD_NEXT, RTLD_DEFAULT). gmt_dlsym_choice answers a replacement or null.
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
  .section .note.GNU-stack, "", %progbits
