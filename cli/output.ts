import { stderr, stdout } from 'node:process'
import { styleText } from 'node:util'
import type { Finding } from '../shared/kernel/json-schema/finding.ts'

type Style = Parameters<typeof styleText>[0]

/** An error as it is shown, from the API or from the tool. */
export interface ShownError {
  code: string
  message: string
  fix: string
  requestId?: string | undefined
  details?: Record<string, unknown> | undefined
}

/** Writes results to standard output, and progress, notes and errors to standard error. */
export interface Output {
  json: boolean
  /** Writes a result, as JSON with `--json` and otherwise as text. */
  result(value: unknown, text: string): void
  /** Writes a note. Does nothing with `--json`. */
  note(text: string): void
  error(error: ShownError): void
  /** Shows a spinner until `endProgress`, or a line after a second if standard error is no terminal. */
  progress(text: string): void
  /** Ends the spinner. Commands that go on call it themselves; it is called once a command has ended. */
  endProgress(): void
  paint(style: Style, text: string): string
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const CLEAR = '\r\u001b[2K'

export const createOutput = (json: boolean): Output => {
  // styleText itself omits colors if the stream isn't a terminal or NO_COLOR is set.
  const paintFor = (stream: typeof stdout | typeof stderr) => (style: Style, text: string) =>
    styleText(style, text, { stream })
  const paint = paintFor(stdout)
  const warn = paintFor(stderr)
  let spinning = false
  let timer: NodeJS.Timeout | undefined

  const say = (text: string): void => {
    stderr.write(`${spinning ? CLEAR : ''}${text}\n`)
  }
  return {
    json,
    paint,
    result(value, text) {
      if (spinning) stderr.write(CLEAR)
      stdout.write(`${json ? JSON.stringify(value) : text}\n`)
    },
    note(text) {
      if (!json) say(text)
    },
    error({ code, message, fix, requestId, details }) {
      if (json) return say(JSON.stringify({ error: { code, message, fix, request_id: requestId ?? null, details } }))
      say(`${warn('red', 'error')} ${message} ${warn('dim', `[${code}]`)}`)
      for (const [field, problems] of Object.entries((details?.fields ?? {}) as Record<string, string[]>)) {
        say(`  ${field}: ${problems.join('; ')}`)
      }
      for (const { path, message: problem, fix: remedy } of (details?.errors ?? []) as Finding[]) {
        say(`  ${path === '' ? '(whole file)' : path}: ${problem} ${remedy}`)
      }
      for (const missing of (details?.missing ?? []) as string[]) say(`  missing ${missing}`)
      say(`  ${warn('green', 'fix')}     ${fix}`)
      if (requestId !== undefined) say(`  ${warn('dim', 'request')} ${requestId}`)
    },
    progress(text) {
      if (json) return
      if (!stderr.isTTY) {
        // Logs get one line for what takes long.
        timer = setTimeout(() => say(`${text} …`), 1_000)
        return
      }
      spinning = true
      let frame = 0
      timer = setInterval(() => stderr.write(`${CLEAR}${FRAMES[frame++ % FRAMES.length]} ${text}`), 80)
    },
    endProgress() {
      clearTimeout(timer)
      if (spinning) stderr.write(CLEAR)
      spinning = false
    },
  }
}

/** Formats the time of day in the local time zone. */
export const timeOfDay = (at: Date): string => at.toTimeString().slice(0, 8)
