// The native parts for arm64 by a cross compiler, in build/arm64/native.
import { availableParallelism } from 'node:os';
import { inRoot, must, which } from '../project/root.mjs';
import { machine } from './machine.mjs';

/** Makes CMake's `targets`; what ships goes to `shipped`. `python`: of arm64, which runs the tests that are in Python. */
export async function crossBuild(targets, shipped = machine('dist/native'), python = null) {
  const cache = which('ccache') ? ['-DCMAKE_C_COMPILER_LAUNCHER=ccache', '-DCMAKE_CXX_COMPILER_LAUNCHER=ccache'] : [];
  await must('cmake', [
    ...['-S', 'native', '-B', machine('native'), `-DCMAKE_TOOLCHAIN_FILE=${inRoot('test/arm64/toolchain.cmake')}`],
    ...[`-DGMT_DIST=${shipped}`, `-DGMT_SIMULATOR=${machine('build/simulator')}`, ...cache],
    ...(python ? [`-DGMT_PYTHON3=${python}`] : []),
  ]);
  await must('cmake', ['--build', machine('native'), '-j', String(availableParallelism()), '--target', ...targets]);
}
