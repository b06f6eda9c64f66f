// What `npm test -- …` names: stages, parts of them (`unit/verdicts/growth`), and, after a stage, words of a test's name.

/**
 * A Map: name of a stage -> {paths, words}, both empty for the whole stage; an empty Map for no argument; a text says what is
 * wrong. `stages`: {name, takes}, where `takes` is which of 'paths' and 'words' choose among a stage's tests.
 */
export function wantedStages(stages, given) {
  const wanted = new Map();
  let last;
  for (const argument of given) {
    const [, name, path] = /^(\w+)(?:\/(.*))?$/.exec(argument) ?? [];
    const named = stages.find(stage => stage.name === name);
    if (named) {
      last = named;
      if (!wanted.has(name)) wanted.set(name, { paths: [], words: [] });
      if (path && !named.takes?.includes('paths')) return `The stage ${name} has no parts that can be named.`;
      if (path) wanted.get(name).paths.push(path);
    } else if (last?.takes?.includes('words')) {
      wanted.get(last.name).words.push(argument);
    } else {
      const known = stages.map(stage => stage.name).join(' ');
      return last
        ? `The stage ${last.name} takes no words of a test's name (“${argument}”).`
        : `There is no stage ${argument}. Stages: ${known}`;
    }
  }
  return wanted;
}
