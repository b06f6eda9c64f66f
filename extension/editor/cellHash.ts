/** MurmurHash2 of a cell's text, as ipykernel/compiler.py has it. */
export function hashOf(text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  const whole = bytes.length & ~3;
  const mixed = (value: number): number => Math.imul(value, 0x5bd1e995);
  let hash = 0xc70f6907 ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    const part = mixed(bytes.readInt32LE(at));
    hash = mixed(hash) ^ mixed(part ^ (part >>> 24));
  }
  const rest = bytes.subarray(whole);
  if (rest.length > 0) hash = mixed(hash ^ rest.reduceRight((value, byte) => (value << 8) | byte, 0));
  hash = mixed(hash ^ (hash >>> 13));
  return (hash ^ (hash >>> 15)) >>> 0;
}
