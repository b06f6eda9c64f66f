import type { AllocatorSettings } from '../native/native';

// PYTORCH_CUDA_ALLOC_CONF, as text and as what the allocator's rules take.

const MIB = 2 ** 20;
/** What changes nothing that a replay sees. */
const WITHOUT_EFFECT = /^(pinned_|release_lock_on_|graph_capture_|per_process_memory_fraction|use_cuda_host_register)/;

type Read = (settings: AllocatorSettings, value: string) => boolean;

const number = (value: string, set: (value: number) => void): boolean => {
  const read = Number(value);
  const fine = value.trim() !== '' && Number.isFinite(read) && read >= 0;
  if (fine) set(read);
  return fine;
};

const OPTIONS: Record<string, Read> = {
  expandable_segments: (settings, value) => {
    settings.expandableSegments = /^true$/i.test(value);
    return /^(true|false)$/i.test(value);
  },
  max_split_size_mb: (settings, value) => number(value, mib => (settings.maxSplitBytes = mib * MIB)),
  max_non_split_rounding_mb: (settings, value) => number(value, mib => (settings.maxUnsplitRoundingBytes = mib * MIB)),
  roundup_power2_divisions: (settings, value) =>
    number(value, divisions => (settings.roundupPower2Divisions = divisions)),
  garbage_collection_threshold: (settings, value) =>
    number(value, threshold => (settings.garbageCollectionThreshold = threshold)),
  backend: (_, value) => value === 'native',
};

/** The settings that the text names; the error is the option that cannot be replayed. */
export function readSettings(text: string): AllocatorSettings | { error: string } {
  const settings: AllocatorSettings = {};
  for (const option of text.split(/,(?![^[]*\])/).map(each => each.trim())) {
    if (option === '') continue;
    const [name = '', value = ''] = option.split(/:(.*)/).map(each => each.trim());
    if (WITHOUT_EFFECT.test(name)) continue;
    if (OPTIONS[name]?.(settings, value) !== true) return { error: option };
  }
  return settings;
}
