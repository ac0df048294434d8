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
  /** Shows a spinner, or a line after a second if standard error is no terminal. @returns a function that ends it */
  progress(text: string): () => void
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
  let spinning: { text: string; frame: number } | undefined

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
      if (json) return () => {}
      if (!stderr.isTTY) {
        // Logs get one line for what takes long.
        const timer = setTimeout(() => say(`${text} …`), 1_000)
        return () => clearTimeout(timer)
      }
      const mine = { text, frame: 0 }
      spinning = mine
      const timer = setInterval(() => {
        if (spinning !== mine) return
        stderr.write(`${CLEAR}${FRAMES[mine.frame++ % FRAMES.length]} ${mine.text}`)
      }, 80)
      return () => {
        clearInterval(timer)
        if (spinning !== mine) return
        spinning = undefined
        stderr.write(CLEAR)
      }
    },
  }
}

/** Formats the time of day in the local time zone. */
export const timeOfDay = (at: Date): string => at.toTimeString().slice(0, 8)
