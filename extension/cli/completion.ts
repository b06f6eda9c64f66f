// Scripts that complete the command line in a shell. They are made of the help, so they have what it has.
import { quoted } from '../capture/launch/shellWords';
import type { Shell } from './arguments/arguments';
import type { HelpOption, HelpVerb, Value } from './arguments/helpOptions';

/** Makes the script of each shell. */
export const COMPLETIONS: Record<Shell, (verbs: readonly HelpVerb[]) => string> = { bash, zsh, fish };

const namesOf = ({ options }: HelpVerb): string[] => options.flatMap(({ names }) => names);
const verbNames = (verbs: readonly HelpVerb[]): string => verbs.map(({ verb }) => verb).join(' ');

/** A word with @ is a kind; `?`: only a value behind `=` belongs to the option. */
const bashValue = ({ words, kind }: Value): string => (kind === 'words' ? words.join(' ') : `@${kind}`);

function bash(verbs: readonly HelpVerb[]): string {
  const cases = verbs.flatMap(of => [
    [`'${of.verb} -'`, namesOf(of).join(' ')],
    ...of.places.map((place, at) => [
      `'${of.verb} '[${at}${at + 1 === of.places.length ? '-9' : ''}]`,
      bashValue(place),
    ]),
    ...of.options.flatMap(({ names, value, optional }) => {
      const keys = names.map(name => `'${of.verb} ${name}'`).join('|');
      return value === null ? [] : [[keys, `${optional ? '?' : ''}${bashValue(value)}`]];
    }),
  ]);
  return `# Completion of gpu-memtrace in bash
_gpu_memtrace_of() {
  case "$1 $2" in
${cases.map(([keys = '', value = '']) => `    ${keys}) echo ${quoted(value)} ;;`).join('\n')}
  esac
}
_gpu_memtrace() {
  local verb=\${COMP_WORDS[1]} word=\${COMP_WORDS[COMP_CWORD]} at=0 option= value= each i IFS=$'\\n'
  COMPREPLY=()
  for (( i = 2; i < COMP_CWORD; i++ )); do
    each=\${COMP_WORDS[i]}
    if [[ $each == = ]]; then value=$option # --name=value is three words
    elif [[ $value && $each != -- ]]; then value=
    elif [[ $each == -?* && $each != -- ]]; then
      option=$(_gpu_memtrace_of "$verb" "$each") value=$option
      [[ $option == \\?* ]] && value=
    elif [[ $(_gpu_memtrace_of "$verb" "$at") == @command ]]; then
      [[ $each == -- ]] && (( ++i ))
      if (( i < COMP_CWORD )); then
        if declare -F _command_offset > /dev/null; then _command_offset "$i"; else compopt -o default; fi
        return
      fi
      value=@command
      break
    else (( ++at )); fi
  done
  [[ $word == = ]] && word= value=$option
  if (( COMP_CWORD == 1 )); then value=${quoted(`${verbNames(verbs)} --help --version`)}
  elif [[ -z $value && $word != -* ]]; then value=$(_gpu_memtrace_of "$verb" "$at"); value=\${value#@other}; fi
  [[ $value ]] || value=$(_gpu_memtrace_of "$verb" -)
  case \${value#\\?} in
    @trace)
      compopt -o filenames -o default
      COMPREPLY=($(compgen -f -X '!*.gputrace' -- "$word"; compgen -f -X '!*.pickle' -- "$word"; compgen -d -- "$word")) ;;
    @file) compopt -o filenames -o default ;;
    @folder) compopt -o filenames; COMPREPLY=($(compgen -d -- "$word")) ;;
    @command) COMPREPLY=($(compgen -c -- "$word")) ;;
    @other) ;;
    *) IFS=$' \\n'; COMPREPLY=($(compgen -W "\${value#\\?}" -- "$word")) ;;
  esac
}
complete -F _gpu_memtrace gpu-memtrace
`;
}

const ZSH: Record<Value['kind'], string> = {
  words: '',
  trace: '_files -g "*.(gputrace|pickle)"',
  file: '_files',
  folder: '_files -/',
  command: '_command_names -e',
  other: ' ',
};
const zshValue = ({ words, kind }: Value): string => (kind === 'words' ? `(${words.join(' ')})` : ZSH[kind]);

function zshOption({ names, value, optional, text }: HelpOption): string[] {
  const about = `[${text.replace(/[[\]:]/g, '\\$&')}]`;
  return names.map(name => {
    const others = names.length > 1 ? `(${names.join(' ')})` : '';
    if (value === null) return quoted(`${others}${name}${about}`);
    const equals = name.startsWith('--') ? (optional ? '=-' : '=') : '';
    return quoted(`${others}${name}${equals}${about}${optional ? '::' : ':'}value:${zshValue(value)}`);
  });
}

function zshPlaces(places: readonly Value[]): string[] {
  return places.flatMap((place, at) => {
    const command = place.kind === 'command';
    const number = command ? '(-)1' : at + 1 === places.length ? '*' : at + 1;
    const one = quoted(`${number}:value:${zshValue(place)}`);
    return command ? [one, quoted('*::arguments:_normal')] : [one];
  });
}

function zsh(verbs: readonly HelpVerb[]): string {
  const cases = verbs.map(({ verb, options, places }) => {
    const specs = [...options.flatMap(zshOption), ...zshPlaces(places)];
    return `    ${verb}) _arguments -S ${specs.map(spec => `\\\n      ${spec}`).join(' ')} ;;`;
  });
  return `#compdef gpu-memtrace
_gpu_memtrace() {
  local -a verbs=(${verbs.map(({ verb, text }) => `\\\n    ${quoted(`${verb}:${text}`)}`).join(' ')})
  if (( CURRENT == 2 )); then
    _describe command verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _gpu_memtrace gpu-memtrace
`;
}

const FISH: Record<Value['kind'], string> = {
  words: '',
  trace: "-k -x -a '(__fish_complete_suffix .gputrace)'",
  file: '-r -F',
  folder: "-x -a '(__fish_complete_directories)'",
  command: '',
  other: '-x',
};
const fishValue = ({ words, kind }: Value): string =>
  kind === 'words' ? `-x -a ${quoted(words.join(' '))}` : FISH[kind];

function fish(verbs: readonly HelpVerb[]): string {
  const lines = verbs.flatMap(({ verb, text, options, places }) => {
    const begin = `complete -c gpu-memtrace -n '__gpu_memtrace_verb ${verb}'`;
    const valued = options.filter(({ value, optional }) => value !== null && !optional);
    const command = quoted(`(__fish_complete_subcommand --fcs-skip=2 ${valued.flatMap(of => of.names).join(' ')})`);
    return [
      `complete -c gpu-memtrace -n __fish_use_subcommand -a ${verb} -d ${quoted(text)}`,
      ...options.map(({ names, value, optional, text: about }) => {
        const short = names.map(name => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
        const words = value === null || (optional && value.kind === 'other') ? '' : ` ${fishValue(value)}`;
        return `${begin} ${short.join(' ')}${optional ? words.replace(' -x', '') : words} -d ${quoted(about)}`;
      }),
      ...places
        .filter(({ kind }) => kind !== 'other')
        .map(place => `${begin} ${place.kind === 'command' ? `-x -a ${command}` : fishValue(place)}`),
    ];
  });
  return `# Completion of gpu-memtrace in fish
function __gpu_memtrace_verb
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end
complete -c gpu-memtrace -f
${lines.join('\n')}
`;
}
