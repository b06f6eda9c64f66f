// Stands for a tool that CUDA_INJECTION64_PATH names: counts how often the driver starts it.
extern "C" __attribute__((visibility("default"))) int injection_count;
int injection_count = 0;

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  ++injection_count;
  return 1;
}
