#include "inject/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace gmt::inject {
namespace {

constexpr const char *kNames[] = {
    // torchrun, Accelerate, DeepSpeed, Ray Train, Lightning
    "RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "ROLE_NAME",
    "TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT",
    // Slurm
    "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS",
    // Open MPI; MPICH and Intel MPI
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "PMI_RANK",
    "PMI_SIZE", "MPI_LOCALRANKID",
    // Kubernetes, Ray
    "JOB_COMPLETION_INDEX", "JOB_NAME", "RAY_JOB_ID",
    // one's own word
    "GPU_MEMTRACE_RUN", "GPU_MEMTRACE_RANK"};

}  // namespace

void write_job(Thread &thread) {
  char text[1000], host[65] = {};
  gethostname(host, sizeof host - 1);
  int at = snprintf(text, sizeof text, "host=%s", host);
  for (const char *name : kNames) {
    const char *value = getenv(name);
    if (!value || !*value) continue;
    const int end = at + snprintf(text + at, sizeof text - at, "\n%s=%s", name, value);
    if (end < static_cast<int>(sizeof text)) at = end;
  }
  text[at] = 0;
  write_note(thread, GMT_NOTE_JOB, text);
}

void uuid_text(const char *kind, const uint8_t uuid[16], char (&text)[48]) {
  int at = snprintf(text, sizeof text, "%s-", kind);
  for (int i = 0; i < 16; i++)
    at += snprintf(text + at, sizeof text - at, i >= 4 && i <= 10 && i % 2 == 0 ? "-%02x" : "%02x", uuid[i]);
}

void write_gpu(Thread &thread, uint32_t device, const uint8_t uuid[16]) {
  char id[48], text[400];
  uuid_text("GPU", uuid, id);
  // As it is when a GPU is first used: a program may set it before.
  const char *settings = getenv("PYTORCH_ALLOC_CONF");
  if (!settings) settings = getenv("PYTORCH_CUDA_ALLOC_CONF");
  snprintf(text, sizeof text, "gpu%u=%s%s%.300s", device, id, settings ? "\nallocator=" : "", settings ? settings : "");
  write_note(thread, GMT_NOTE_JOB, text);
}

}  // namespace gmt::inject
