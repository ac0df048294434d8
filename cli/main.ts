import { nearest } from '../shared/kernel/nearest.ts'
import { ApiError } from './api.ts'
import { COMMON, type Command, readInvocation, UsageError } from './command.ts'
import { apps, createAppCommand, showApp, updateApp } from './commands/apps.ts'
import { completionOf } from './commands/completion.ts'
import { deliveries } from './commands/deliveries.ts'
import { init } from './commands/init.ts'
import { listen } from './commands/listen.ts'
import { login, logout, register, whoami } from './commands/login.ts'
import { logs } from './commands/logs.ts'
import { open } from './commands/open.ts'
import { promote } from './commands/promote.ts'
import { publish } from './commands/publish.ts'
import { replay } from './commands/replay.ts'
import { showRun } from './commands/runs-show.ts'
import {
  createSchedule,
  deleteSchedule,
  listSchedules,
  nextTimes,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  showSchedule,
} from './commands/schedules.ts'
import { addScreenshot, moveScreenshot, removeScreenshot, screenshots } from './commands/screenshots.ts'
import { rotateSecret } from './commands/secrets-rotate.ts'
import { submit } from './commands/submit.ts'
import { testRun } from './commands/test-run.ts'
import { trigger } from './commands/trigger.ts'
import { validate } from './commands/validate.ts'
import { verifyReceiptCommand } from './commands/verify-receipt.ts'
import { createOutput, endOnClosedPipe } from './output.ts'
import { createUpdates } from './updates.ts'
import { version } from './version.ts'

const COMMANDS: readonly Command[] = [
  register,
  login,
  logout,
  whoami,
  init,
  apps,
  createAppCommand,
  showApp,
  updateApp,
  screenshots,
  addScreenshot,
  removeScreenshot,
  moveScreenshot,
  validate,
  publish,
  testRun,
  promote,
  submit,
  showRun,
  logs,
  listen,
  trigger,
  deliveries,
  replay,
  listSchedules,
  createSchedule,
  showSchedule,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  deleteSchedule,
  nextTimes,
  rotateSecret,
  open,
  verifyReceiptCommand,
  completionOf(() => COMMANDS),
]

const OVERVIEW = `aip: build an agent for the platform on your own machine

Usage: aip <command> [options]

${COMMANDS.map(({ usage, summary }) => `  ${usage.padEnd(42)} ${summary}`).join('\n')}

Options of every command:
  --json              print JSON to standard output, one value per line
  --base-url <url>    the platform’s address; default: PLATFORM_URL, your profile’s, or http://127.0.0.1:3000
  --profile <name>    the account to use; default: AIP_PROFILE, or the one that signed in last
  --key <key>         your developer key; default: DEVELOPER_KEY, or your profile’s
  --help              describe a command, with examples
  --version           print the version

Once a day, the tool says on standard error if the platform has a newer version of it. It doesn’t in CI or without a terminal,
with --json, or if NO_UPDATE_NOTIFIER is set.

Exit codes: 0 success; 1 refused, failed or invalid; 2 wrong usage or unreadable file.`

/** Separates the options in front of the command, which are those of every command. @throws {UsageError} */
const splitOptions = (args: readonly string[]): { before: readonly string[]; after: readonly string[] } => {
  let at = 0
  while (args[at]?.startsWith('-')) {
    const [name = '', value] = args[at]?.split(/=(.*)/s) ?? []
    const option = COMMON[name.replace(/^--/, '') as keyof typeof COMMON]
    if (!option && name !== '--help' && name !== '-h') throw new UsageError(`Unknown option: ${JSON.stringify(name)}.`)
    at += option?.type === 'string' && value === undefined ? 2 : 1
  }
  return { before: args.slice(0, at), after: args.slice(at) }
}

/** Finds the command that a command line begins with, by two words or by one. @throws {UsageError} */
const commandOf = (args: readonly string[]): { command: Command; rest: readonly string[] } => {
  for (const count of [2, 1]) {
    const command = COMMANDS.find(({ name }) => name === args.slice(0, count).join(' '))
    if (command) return { command, rest: args.slice(count) }
  }
  const [first = ''] = args
  const longer = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name)
  if (longer.length > 0) throw new UsageError(`Say what to do: aip ${longer.join(', aip ')}.`)
  const meant = nearest(
    first,
    COMMANDS.map(({ name }) => name),
  )
  throw new UsageError(`Unknown command: ${JSON.stringify(first)}.${meant ? ` Did you mean ${meant}?` : ''}`)
}

const isHelpAlone = (args: readonly string[]): boolean => args.length === 1 && ['--help', '-h'].includes(args[0] ?? '')

/** @returns the exit code */
const run = async (args: readonly string[]): Promise<number> => {
  const [name] = args
  const isForPrograms = args.includes('--json')
  const out = createOutput(isForPrograms)
  const updates = createUpdates(process.env, !isForPrograms && out.isWatched)
  if (name === undefined || name === 'help' || isHelpAlone(args)) {
    out.print(OVERVIEW)
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v') {
    out.print(version())
    return 0
  }
  try {
    const { before, after } = splitOptions(args)
    const { command, rest: given } = commandOf(after)
    const rest = [...before, ...given]
    if (rest.includes('--help') || rest.includes('-h')) {
      out.print(`Usage: aip ${command.usage}\n\n${command.help}`)
      return 0
    }
    return await command.run(readInvocation(command, rest, process.env, out, updates.ask))
  } catch (error) {
    if (error instanceof UsageError) {
      out.error({
        code: 'usage',
        message: error.message,
        fix: `Run: aip ${error.command ?? ''} --help`.replace('  ', ' '),
      })
      return 2
    }
    if (error instanceof Error && 'syscall' in error) {
      out.error({ code: 'file', message: error.message, fix: 'Check the path and its permissions.' })
      return 2
    }
    if (error instanceof ApiError) out.error(error)
    // A fault of the tool. Its message can quote what a server sent.
    else out.prompt((error instanceof Error && error.stack) || String(error))
    return 1
  } finally {
    out.endProgress()
    const notice = updates.end()
    if (notice !== undefined) out.note(notice)
  }
}

endOnClosedPipe()

process.exitCode = await run(process.argv.slice(2))
