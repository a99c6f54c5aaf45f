/**
 * Scripts with which shells complete commands, options and the few values that some have. Anywhere
 * else they leave completion to the shell, which completes names of files.
 *
 * Names are letters, digits and dashes; descriptions are quoted. Source: bash(1), Programmable
 * Completion; zshcompsys(1), bashcompinit; fish's complete(1).
 * @module
 */
export interface CompletedOption {
  /** For example `--data`. */
  readonly flag: string
  readonly describes: string
  /** Its values if they are few; an empty list if any text will do, such as a path. */
  readonly values?: readonly string[]
}

export interface CompletedCommand {
  /** Without the name of the program: empty for the program itself. */
  readonly words: readonly string[]
  readonly below: readonly { readonly name: string; readonly describes: string }[]
  readonly options: readonly CompletedOption[]
  /** True if something other than an option may follow. */
  readonly takesArguments: boolean
}

const pathOf = ({ words }: CompletedCommand): string => words.join(' ')

const quoted = (text: string): string => `'${text}'`

/** Words that may come next, except values of options. */
const wordsOf = ({ below, options }: CompletedCommand): string =>
  [...below.map(({ name }) => name), ...options.map(({ flag }) => flag)].join(' ')

/** Cases for options that have a value: names of files unless its values are known. */
function bashValues(command: CompletedCommand): string[] {
  const valued = command.options.flatMap(({ flag, values }) =>
    values === undefined ? [] : [{ at: quoted(`${pathOf(command)}:${flag}`), values }],
  )
  const open = valued.filter(({ values }) => values.length === 0).map(({ at }) => at)
  const few = valued.filter(({ values }) => values.length > 0)
  return [
    ...(open.length === 0 ? [] : [`    ${open.join('|')}) return ;;`]),
    ...few.map(({ at, values }) => `    ${at}) words=${quoted(values.join(' '))} ;;`),
  ]
}

function bashWords(command: CompletedCommand): string {
  // Otherwise options would get in the way of the names of files.
  const only = command.takesArguments ? '[[ $word == -* ]] || return; ' : ''
  return `      ${quoted(pathOf(command))}) ${only}words=${quoted(wordsOf(command))} ;;`
}

const bashFunction = (commands: readonly CompletedCommand[]): string => `_coffer() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path= words= index next
  COMPREPLY=()
  if [[ $word == '=' ]]; then word=
  elif [[ $before == '=' ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    next="\${path:+$path }\${COMP_WORDS[index]}"
    case $next in
      ${commands
        .slice(1)
        .map(command => quoted(pathOf(command)))
        .join('|')}) path=$next ;;
    esac
  done
  case "$path:$before" in
${commands.flatMap(bashValues).join('\n')}
    *) case $path in
${commands.map(bashWords).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _coffer coffer`

export const bashScript = (commands: readonly CompletedCommand[]): string =>
  `# Completion of coffer in bash: source <(coffer completion bash)\n${bashFunction(commands)}`

export const zshScript = (commands: readonly CompletedCommand[]): string =>
  [
    '#compdef coffer',
    '# Completion of coffer in zsh: source <(coffer completion zsh)',
    'autoload -Uz compinit bashcompinit',
    '(( $+functions[compdef] )) || compinit',
    'bashcompinit',
    bashFunction(commands),
  ].join('\n')

const fishQuoted = (text: string): string =>
  quoted(text.replaceAll('\\', '\\\\').replaceAll("'", "\\'"))

const known = (values: readonly string[]): string => fishQuoted(values.join(' '))

function fishLines(command: CompletedCommand): string[] {
  const { below, options, takesArguments } = command
  const start = `complete -c coffer -n ${fishQuoted(`__coffer_at '${pathOf(command)}'`)}`
  const names = below.map(
    ({ name, describes }) => `${start} -a ${name} -d ${fishQuoted(describes)}`,
  )
  const flags = options.map(({ flag, describes, values }) =>
    [
      `${start} -l ${flag.slice(2)}`,
      ...(values === undefined ? [] : [values.length === 0 ? '-r -F' : `-x -a ${known(values)}`]),
      `-d ${fishQuoted(describes)}`,
    ].join(' '),
  )
  return [...(takesArguments ? [`${start} -F`] : []), ...names, ...flags]
}

export const fishScript = (commands: readonly CompletedCommand[]): string =>
  [
    '# Completion of coffer in fish: coffer completion fish | source',
    'function __coffer_at',
    '  set -l path',
    '  for word in (commandline -opc)[2..-1]',
    '    set -l next (string trim -- "$path $word")',
    `    contains -- $next ${commands
      .slice(1)
      .map(command => quoted(pathOf(command)))
      .join(' ')}`,
    '    and set path $next',
    '  end',
    '  test "$path" = "$argv[1]"',
    'end',
    'complete -c coffer -f',
    ...commands.flatMap(fishLines),
  ].join('\n')
