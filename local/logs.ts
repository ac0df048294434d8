import { styleText } from 'node:util'
import type { AccessEntry } from './gateway.ts'

/** A log entry of the local run. */
export type LogEntry =
  | { kind: 'function'; at: Date; functionName: string; line: string }
  | ({ kind: 'access'; at: Date } & AccessEntry)
  | { kind: 'platform'; at: Date; level: 'info' | 'error'; message: string }

export type LogListener = (entry: LogEntry) => void

type Style = Parameters<typeof styleText>[0]

const LEVEL_STYLE: Record<string, Style> = { error: 'red', critical: 'red', warn: 'yellow', debug: 'dim' }

/** Fields in every line of a function's log that are of no use to a reader. */
const HIDDEN = new Set([
  'level',
  'message',
  'timestamp',
  'time',
  'service',
  'function',
  'stage',
  'cold_start',
  'function_name',
  'function_arn',
  'function_memory_size',
  'function_request_id',
  'sampling_rate',
  'xray_trace_id',
])

const compact = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text !== undefined && text.length > 300 ? `${text.slice(0, 300)}…` : (text ?? '')
}

const parseLine = (line: string): Record<string, unknown> | undefined => {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

const errorText = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return compact(error)
  const { name, message, stack, trace: lines } = error as Record<string, unknown>
  const trace = [stack, lines].map((each) => (Array.isArray(each) ? each.join('\n') : each)).find(Boolean)
  return typeof trace === 'string' ? `\n${trace}` : `${name ?? 'Error'}: ${message ?? compact(error)}`
}

/**
 * Formats an entry as one readable line, without metrics in the embedded format, and without a function's
 * line for a request, since the gateway has one.
 *
 * @param colour ANSI colours; for terminals only
 * @returns undefined for entries that are not worth a line
 */
export const formatEntry = (entry: LogEntry, colour: boolean): string | undefined => {
  const paint = (style: Style, text: string) => (colour ? styleText(style, text, { validateStream: false }) : text)
  const time = paint('dim', entry.at.toISOString().slice(11, 23))
  if (entry.kind === 'platform') {
    const text = entry.level === 'error' ? paint('red', entry.message) : entry.message
    return `${time} ${'local'.padEnd(16)} ${text}`
  }
  if (entry.kind === 'access') {
    const { status, method, path, durationMs, functionName = '-' } = entry
    const shown = paint(status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green', String(status))
    return `${time} ${paint('cyan', functionName.padEnd(16))} ${shown} ${method} ${path} ${paint('dim', `${durationMs} ms`)}`
  }
  const name = paint('cyan', entry.functionName.padEnd(16))
  const fields = parseLine(entry.line)
  if (!fields) return `${time} ${name} ${entry.line}`
  if ('_aws' in fields || (fields.message === 'request' && 'endpoint' in fields)) return undefined
  const level = String(fields.level ?? 'info').toLowerCase()
  const message = paint(LEVEL_STYLE[level] ?? 'reset', compact(fields.message ?? ''))
  const rest = Object.entries(fields)
    .filter(([key, value]) => !HIDDEN.has(key) && key !== 'error' && value !== undefined && value !== null)
    .map(([key, value]) => paint('dim', `${key}=${compact(value)}`))
  const error = fields.error === undefined ? [] : [paint('red', errorText(fields.error))]
  return [time, name, ...(level === 'info' ? [] : [level]), message, ...rest, ...error].join(' ')
}

/** Formats an entry as a JSON line, for other programs. A function's own JSON lines stay as they are. */
export const rawEntry = (entry: LogEntry): string =>
  entry.kind === 'function' && entry.line.startsWith('{') ? entry.line : JSON.stringify(entry)

/** Creates a listener that prints entries to the standard output. */
export const createPrinter = (mode: 'readable' | 'json'): LogListener => {
  const colour = process.stdout.isTTY === true && !process.env.NO_COLOR
  return (entry) => {
    const line = mode === 'json' ? rawEntry(entry) : formatEntry(entry, colour)
    if (line !== undefined) process.stdout.write(`${line}\n`)
  }
}
