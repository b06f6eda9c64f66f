// The same answers with long names of files, as they come in training code, and with figures that have many letters.
const NAMES: Readonly<Record<string, string>> = {
  'train.py': 'long_name_contrastive_pretraining.py',
  'model.py': 'eval_outputs.py',
  'metrics.py': 'distributedvalidationmetrics.py',
};
const FIGURES: Readonly<Record<string, number>> = { heldAtStep: 15_350 };

/** Renames in all texts of an answer; columns of numbers stay as they are. */
export function longNames(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\b(?:train|model|metrics)\.py\b/g, name => NAMES[name]!);
  if (Array.isArray(value)) return value.map(longNames);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, FIGURES[key] ?? longNames(one)]));
}
