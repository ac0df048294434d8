import { type ParseArgsConfig, parseArgs } from 'node:util'

/** A command cannot be carried out. The message says why and what to do, and holds no secret. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

const messageOf = (error: unknown): unknown => (error instanceof Error ? error.message : error)

/** Runs a command of the operator's: what stops it is told in its own words, without a stack trace, and the exit code is 1. */
export function runCommand(command: () => Promise<void>, explained: (error: unknown) => unknown = messageOf): void {
  command().catch((error: unknown) => {
    console.error(explained(error))
    process.exitCode = 1
  })
}

/**
 * What a script's command line says. Whoever asks for `--help` gets that, and who gives what there is not gets told so; neither
 * comes back.
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
    console.error(`${messageOf(error)}\n\n${help}`)
    process.exit(1)
  }
}

/**
 * The one of several commands that was asked for.
 *
 * @param positionals what stands on the command line beside the options
 * @throws {OperatorError} with the help, unless it is the name of just one
 */
export function chosenOf<C>(
  commands: Readonly<Record<string, C>>,
  [name = '', ...more]: readonly string[],
  help: string,
): { name: string; command: C } {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined || more.length > 0) throw new OperatorError(`Give one command.\n\n${help}`)
  return { name, command }
}
