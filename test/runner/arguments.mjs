// What `npm test -- …` names: stages, parts of them (`unit/verdicts/growth`), and, after a stage, words of a test's name.

/**
 * A Map: name of a stage -> {paths, words}, both empty for the whole stage; an empty Map for no argument; a text says what is
 * wrong. `stages`: {name, takes}, where `takes` is which of 'paths' and 'words' choose among a stage's tests.
 */
export function selectStages(stages, given) {
  const selected = new Map();
  let last;
  for (const argument of given) {
    const [, name, path] = /^(\w+)(?:\/(.*))?$/.exec(argument) ?? [];
    const named = stages.find(stage => stage.name === name);
    if (named) {
      last = named;
      if (!selected.has(name)) selected.set(name, { paths: [], words: [] });
      if (path && !named.takes?.includes('paths')) return `The stage ${name} has no parts that can be named.`;
      if (path) selected.get(name).paths.push(path);
    } else if (last?.takes?.includes('words')) {
      selected.get(last.name).words.push(argument);
    } else {
      const known = stages.map(stage => stage.name).join(' ');
      return last
        ? `The stage ${last.name} takes no words of a test's name (“${argument}”).`
        : `There is no stage ${argument}. Stages: ${known}`;
    }
  }
  return selected;
}
