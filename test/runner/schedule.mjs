// Runs stages side by side. A stage: {name, what, after: [names], cores, run}. It starts when what it comes after has ended and
// its cores are free. One that waits for cores only is not overtaken: a long one would wait for many short ones.
import { inPart } from '../project/progress.mjs';

/** Calls `ended(result)` at the end of each; resolves with all results, in the order of their ends. */
export async function runStages(stages, cores, ended) {
  const waiting = [...stages];
  const running = new Map();
  const results = [];
  const began = Date.now();
  const names = new Set(stages.map(({ name }) => name));
  const isOver = name => !names.has(name) || results.some(result => result.name === name);
  const free = () => cores - [...running.keys()].reduce((sum, stage) => sum + stage.cores, 0);
  const isReady = stage => (stage.after ?? []).every(isOver);
  const fits = stage => running.size === 0 || stage.cores <= free() + 0.01;

  const start = async stage => {
    const from = (Date.now() - began) / 1000;
    const { value, error, output, seconds } = await inPart(stage.name, stage.run);
    const counted = error ? { failed: 1 } : value;
    const result = { passed: 0, failed: 0, skipped: [], notes: [], ...counted, name: stage.name, from, seconds };
    running.delete(stage);
    results.push(result);
    ended(stage, result, error ? `${output}${error.message}\n` : output);
  };
  while (waiting.length > 0 || running.size > 0) {
    for (const stage of waiting.filter(isReady)) {
      if (!fits(stage)) break;
      waiting.splice(waiting.indexOf(stage), 1);
      running.set(stage, start(stage));
    }
    await Promise.race(running.values());
  }
  return results;
}
