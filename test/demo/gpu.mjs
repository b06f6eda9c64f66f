// Whether a real GPU works here: the driver's own answer, asked through Python, which the sample needs anyhow.
import { must } from '../project/root.mjs';

const PROBE = `
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
count, name = ctypes.c_int(), ctypes.create_string_buffer(256)
ok = cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
ok = ok and cuda.cuDeviceGetName(name, 256, 0) == 0
sys.stdout.write(name.value.decode() if ok else "")
`;

/** The first GPU's name, or null where none works. */
export async function realGpu(python) {
  try {
    return (await must(python, ['-c', PROBE])).trim() || null;
  } catch {
    return null; // no driver library
  }
}
