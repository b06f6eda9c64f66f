// All that a release has, in build/release: VSIX and wheel for both processors, what packages they are made of, checksums.
//   npm run release
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot, log, must, root, run } from './root.mjs';

const folder = inRoot('build/release');
const { version, repository } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
const isPackage = name => /\.(vsix|whl)$/.test(name);
for (const name of readdirSync(root).filter(isPackage)) rmSync(inRoot(name));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const processor of ['arm64', 'x64']) await must(process.execPath, ['test/project/package.mjs', processor]);
for (const name of readdirSync(root).filter(isPackage)) renameSync(inRoot(name), join(folder, name));
const sbom = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--sbom-type', 'application'];
const { output } = await run('npm', sbom, { capture: true, quiet: true });
writeFileSync(join(folder, `gpu-memory-trace-${version}.cdx.json`), output);
const sums = readdirSync(folder)
  .sort()
  .map(name => {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
log(`${sums.length} files in build/release`);
if (repository.url.includes('/OWNER/'))
  log('Before it is published: the owner of the repository in package.json (OWNER).');
