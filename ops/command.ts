import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Error that stops a command. The message gives the reason and the fix, and contains no secrets. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

const messageOf = (error: unknown): unknown => (error instanceof Error ? error.message : error)

/** Runs an operator's command. Errors are printed without a stack trace, and the exit code is then 1. */
export function runCommand(command: () => Promise<void>, explained: (error: unknown) => unknown = messageOf): void {
  command().catch((error: unknown) => {
    console.error(explained(error))
    process.exitCode = 1
  })
}

/**
 * Reads a script's command line. Doesn't return after `--help`, which prints the help and exits with 0, or after an option or
 * argument that the script doesn't take, which prints one line and exits with 2.
 */
export function readCommandLine<const C extends ParseArgsConfig>(
  help: string,
  config: C,
): ReturnType<typeof parseArgs<C>> {
  try {
    const read = parseArgs({ ...config, options: { ...config.options, help: { type: 'boolean' } } })
    if (!('help' in read.values)) return read as ReturnType<typeof parseArgs<C>>
    console.log(help)
    process.exit()
  } catch (error) {
    return exitForUsage(error instanceof Error ? (error.message.split(/[.?]\s/)[0] ?? '') : String(error))
  }
}

/** Exits with code 2 after printing one line about wrong usage. */
export function exitForUsage(problem: string): never {
  console.error(`${problem.replace(/\.$/, '')}. Use --help to see what this command takes.`)
  process.exit(2)
}

/**
 * Returns the command that the first argument names.
 *
 * @param positionals arguments other than options
 * @throws {OperatorError} with the help, unless there is exactly one argument and it names a command
 */
export function chooseCommand<C>(
  commands: Readonly<Record<string, C>>,
  [name = '', ...more]: readonly string[],
  help: string,
): { name: string; command: C } {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined || more.length > 0) throw new OperatorError(`Give one command.\n\n${help}`)
  return { name, command }
}
