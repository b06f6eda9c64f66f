// What the uprobe tracer is built with. It is left out where something is missing, and everything else is built all the same.
import { existsSync } from 'node:fs';
import { ensureFiles } from './systemPackages.mjs';
import { which } from './root.mjs';

const packages = ['clang', 'bpftool', 'libbpf-dev', 'libelf-dev', 'zlib1g-dev'];
const libraries = ['libbpf.a', 'libelf.a', 'libz.a'];
const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib', '/usr/local/lib64', '/usr/local/lib'];

/** What CMake will not find. */
function missing() {
  const lacks = libraries.filter(name => !folders.some(folder => existsSync(`${folder}/${name}`)));
  if (!which('clang') && ![20, 19, 18, 17, 16, 15, 14].some(version => which(`clang-${version}`))) lacks.push('clang');
  if (!which('bpftool') && !existsSync('/usr/sbin/bpftool') && !existsSync('/sbin/bpftool')) lacks.push('bpftool');
  if (!existsSync('/usr/include/bpf/bpf_core_read.h')) lacks.push('bpf_core_read.h');
  return lacks;
}

/** null when the uprobe tracer can be built (now); else one sentence why it is left out. */
export async function ensureUprobeTools() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the uprobe tracer is for Linux on x86-64';
  if (!existsSync('/sys/kernel/btf/vmlinux'))
    return 'the uprobe tracer is left out: this kernel has no type information (/sys/kernel/btf/vmlinux is missing)';
  const reason = await ensureFiles(missing, packages);
  return reason === null ? null : `the uprobe tracer is left out: ${reason}`;
}
