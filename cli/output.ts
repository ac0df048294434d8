import { randomUUID } from 'node:crypto'
import process, { stderr, stdout } from 'node:process'
import type { Finding } from '../shared/kernel/json-schema/finding.ts'

/** SGR parameters of the styles. Node 20.0 has no `styleText`, and its first one knows no streams. */
const STYLES = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  bold: [1, 22],
  dim: [2, 22],
} as const
type Style = keyof typeof STYLES

/** An error as it is shown, from the API or from the tool. */
export interface ShownError {
  code: string
  message: string
  fix: string
  requestId?: string | undefined
  details?: Record<string, unknown> | undefined
}

/**
 * Writes results to standard output, and progress, notes and errors to standard error. The tool writes nowhere else, so that
 * texts of others reach the terminal without control characters.
 */
export interface Output {
  json: boolean
  /** True if a person may watch standard error. */
  isWatched: boolean
  /** Writes a result, as JSON with `--json` and otherwise as text. */
  result(value: unknown, text: string): void
  /** Writes a note. Does nothing with `--json`. */
  note(text: string): void
  error(error: ShownError): void
  /** Writes a text to standard output, also with `--json`: help, a version, a script. */
  print(text: string): void
  /** Writes a text to standard error, also with `--json`, because a person has to read it. */
  prompt(text: string): void
  /** Shows a spinner until `endProgress`, or a line after a second if standard error is no terminal. */
  progress(text: string): void
  /** Ends the spinner. Commands that go on call it themselves; it is called once a command has ended. */
  endProgress(): void
  paint(style: Style, text: string): string
}

/**
 * Control characters apart from line breaks and tabs, direction overrides, and what is invisible by default. They would let a text
 * of others move the cursor, change what was printed before, or look like another one.
 */
const HIDDEN =
  /(?![\n\t\p{Join_Control}\p{Variation_Selector}])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Stands for the escape character in what the tool itself colours. Texts of others can't contain it. */
const ESCAPE = randomUUID()

const escaped = (character: string): string =>
  [...Array(character.length).keys()].map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/** Returns a text as it may reach a terminal: hidden characters are escaped, in a way that JSON stays the same value. */
const forTerminal = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(HIDDEN, escaped).replaceAll(ESCAPE, '\u001b')

/** Puts a text of others on one line, so that it can't look like several lines of the tool. */
export const oneLine = (text: string): string => text.replaceAll(/\s*[\r\n]\s*/g, ' ')

/** Indents the lines of a text of others after its first. */
export const indented = (text: string, by: number): string => text.replaceAll(/\r\n?|\n/g, `\n${' '.repeat(by)}`)

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const CLEAR = '\r\u001b[2K'

const isColored = ({ isTTY }: { isTTY?: boolean }): boolean => {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTTY === true && !NO_COLOR && TERM !== 'dumb'
}

export const createOutput = (json: boolean): Output => {
  const paintFor = (stream: typeof stdout | typeof stderr) => (style: Style, text: string) => {
    const [on, off] = STYLES[style]
    const shown = forTerminal(text)
    return (isColored(stream) ? `\u001b[${on}m${shown}\u001b[${off}m` : shown).replaceAll('\u001b', ESCAPE)
  }
  const paint = paintFor(stdout)
  const warn = paintFor(stderr)
  let spinning = false
  let timer: NodeJS.Timeout | undefined

  const say = (text: string): void => {
    stderr.write(`${spinning ? CLEAR : ''}${forTerminal(text)}\n`)
  }
  const print = (text: string): void => {
    if (spinning) stderr.write(CLEAR)
    stdout.write(`${forTerminal(text)}\n`)
  }
  return {
    json,
    isWatched: stderr.isTTY === true,
    paint,
    print,
    prompt: say,
    result(value, text) {
      print(json ? JSON.stringify(value) : text)
    },
    note(text) {
      if (!json) say(text)
    },
    error({ code, message, fix, requestId, details }) {
      if (json) return say(JSON.stringify({ error: { code, message, fix, request_id: requestId ?? null, details } }))
      const line = (text: string): void => say(oneLine(text))
      line(`${warn('red', 'error')} ${message} ${warn('dim', `[${code}]`)}`)
      for (const [field, problems] of Object.entries((details?.fields ?? {}) as Record<string, string[]>)) {
        line(`  ${field}: ${problems.join('; ')}`)
      }
      for (const { path, message: problem, fix: remedy } of (details?.errors ?? []) as Finding[]) {
        line(`  ${path === '' ? '(whole file)' : path}: ${problem} ${remedy}`)
      }
      for (const missing of (details?.missing ?? []) as string[]) line(`  missing ${missing}`)
      line(`  ${warn('green', 'fix')}     ${fix}`)
      if (requestId !== undefined) line(`  ${warn('dim', 'request')} ${requestId}`)
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
      timer = setInterval(() => stderr.write(`${CLEAR}${FRAMES[frame++ % FRAMES.length]} ${forTerminal(text)}`), 80)
    },
    endProgress() {
      clearTimeout(timer)
      if (spinning) stderr.write(CLEAR)
      spinning = false
    },
  }
}

/** Ends the tool when the reader of its output, such as `head`, closes the pipe. */
export const endOnClosedPipe = (): void => {
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0)
      throw error
    })
  }
}

/** Formats the time of day in the local time zone. */
export const timeOfDay = (at: Date): string => at.toTimeString().slice(0, 8)
