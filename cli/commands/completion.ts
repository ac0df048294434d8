import { COMMON, type Command, UsageError } from '../command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** @param commands read when the script is printed, because this command is one of them */
export const completionOf = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  usage: `completion <${SHELLS.join('|')}>`,
  summary: 'Print a script that completes commands in your shell',
  help: `Prints a script that completes commands, options and some arguments.

  <shell>             ${SHELLS.join(', ')}

Examples:
  echo 'source <(aip completion bash)' >> ~/.bashrc
  echo 'source <(aip completion zsh)' >> ~/.zshrc
  aip completion fish > ~/.config/fish/completions/aip.fish`,
  options: {},
  positionals: 1,
  suggests: SHELLS,
  async run({ positionals: [shell = ''], out }) {
    if (shell !== 'bash' && shell !== 'zsh' && shell !== 'fish') {
      throw new UsageError(`Choose a shell: ${SHELLS.join(', ')}.`, 'completion')
    }
    out.print(SCRIPTS[shell](wordsOf(commands())).trimEnd())
    return 0
  },
})

/** Words that can follow a command line's beginning, which is `''`, a command, or the first word of one. */
type Words = Map<string, string[]>

const wordsOf = (commands: readonly Command[]): Words => {
  const words: Words = new Map([['', ['help', '--version', '--help']]])
  const add = (after: string, more: readonly string[]) =>
    words.set(after, [...new Set([...(words.get(after) ?? []), ...more])])
  for (const { name, options, suggests = [] } of commands) {
    const [first = '', second] = name.split(' ')
    add('', [first])
    if (second !== undefined) add(first, [second])
    add(name, [...suggests, ...Object.keys({ ...options, ...COMMON, help: {} }).map((option) => `--${option}`)])
  }
  return words
}

const cases = (words: Words): string =>
  [...words]
    .filter(([after]) => after !== '')
    .sort(([a], [b]) => b.length - a.length)
    .map(([after, next]) => `    "${after}"${after.includes(' ') ? '' : '*'}) words="${next.join(' ')}" ;;`)
    .join('\n')

const SCRIPTS: Record<(typeof SHELLS)[number], (words: Words) => string> = {
  bash: (words) => `_aip() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${words.get('')?.join(' ')}"
  else
    case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases(words)}
    esac
  fi
  case "$current" in
    -*|[a-z]*|'') COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _aip aip
`,
  zsh: (words) => `#compdef aip
_aip() {
  local words_
  if (( CURRENT == 2 )); then
    words_="${words.get('')?.join(' ')}"
  else
    case "$words[2] $words[3]" in
${cases(words).replaceAll(' words=', ' words_=')}
    esac
  fi
  compadd -- \${=words_} || _files
}
if [ "$funcstack[1]" = _aip ]; then
  _aip "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _aip aip
fi
`,
  fish: (words) =>
    [
      'complete -c aip -f',
      `complete -c aip -n __fish_use_subcommand -a '${words.get('')?.join(' ')}'`,
      ...[...words]
        .filter(([after]) => after !== '')
        .map(([after, next]) => {
          const seen = after.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
          return `complete -c aip -F -n '${seen.join('; and ')}' -a '${next.join(' ')}'`
        }),
      '',
    ].join('\n'),
}
