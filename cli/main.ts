import { readFileSync } from 'node:fs'
import { ApiError } from './api.ts'
import { type Command, readInvocation, UsageError } from './command.ts'
import { apps } from './commands/apps.ts'
import { listen } from './commands/listen.ts'
import { logs } from './commands/logs.ts'
import { promote } from './commands/promote.ts'
import { publish } from './commands/publish.ts'
import { replay } from './commands/replay.ts'
import { submit } from './commands/submit.ts'
import { testRun } from './commands/test-run.ts'
import { trigger } from './commands/trigger.ts'
import { validate } from './commands/validate.ts'
import { verifyReceiptCommand } from './commands/verify-receipt.ts'
import { createOutput } from './output.ts'

const COMMANDS: readonly Command[] = [
  apps,
  validate,
  publish,
  testRun,
  promote,
  submit,
  listen,
  trigger,
  replay,
  logs,
  verifyReceiptCommand,
]

const OVERVIEW = `aip: build an agent for the platform on your own machine

Usage: aip <command> [options]

${COMMANDS.map(({ usage, summary }) => `  ${usage.padEnd(42)} ${summary}`).join('\n')}

Options of every command:
  --json              print JSON to standard output, one value per line
  --base-url <url>    the platform’s address; default: PLATFORM_URL, or http://127.0.0.1:3000
  --key <key>         your developer key; default: DEVELOPER_KEY, which is safer because it stays out of the process list
  --help              describe a command, with examples
  --version           print the version

Exit codes: 0 success; 1 refused, failed or invalid; 2 wrong usage or unreadable file.`

/** Set while the package is built. */
declare const CLI_VERSION: string | undefined

const version = (): string =>
  typeof CLI_VERSION === 'string'
    ? CLI_VERSION
    : JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** @returns the exit code */
const run = async (args: readonly string[]): Promise<number> => {
  const [name, ...rest] = args
  const out = createOutput(args.includes('--json'))
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    console.log(OVERVIEW)
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v') {
    console.log(version())
    return 0
  }
  try {
    const command = COMMANDS.find((candidate) => candidate.name === name)
    if (!command) throw new UsageError(`Unknown command: ${JSON.stringify(name)}.`)
    if (rest.includes('--help') || rest.includes('-h')) {
      console.log(`Usage: aip ${command.usage}\n\n${command.help}`)
      return 0
    }
    return await command.run(readInvocation(command, rest, process.env, out))
  } catch (error) {
    if (error instanceof UsageError) {
      out.error({
        code: 'usage',
        message: error.message,
        fix: `Run: aip ${error.command ?? ''} --help`.replace('  ', ' '),
      })
      return 2
    }
    if (!(error instanceof ApiError)) throw error
    out.error(error)
    return 1
  }
}

process.exitCode = await run(process.argv.slice(2))
