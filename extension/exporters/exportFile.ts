import { open, rename, rm } from 'node:fs/promises';

/** Writes a file through another beside it, so that there is the whole file or none. Rejects as what it reads, and as `fs` does. */
export async function writeExport(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const part = `${file}.part`;
  const handle = await open(part, 'w');
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk);
    await handle.close();
    await rename(part, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}
