import { type Output, oneLine } from './output.ts'
import type { Run, Step } from './sandbox.ts'

/** Statuses of runs that have ended. */
const COLOURS: Record<string, 'green' | 'red' | 'yellow'> = { succeeded: 'green', failed: 'red', cancelled: 'yellow' }

export const statusText = ({ paint }: Output, status: string): string => paint(COLOURS[status] ?? 'cyan', status)

export const stepText = ({ paint }: Output, { seq, type, tool, status, output }: Step): string => {
  const text =
    typeof output.text === 'string' ? output.text : Object.keys(output).length > 0 ? JSON.stringify(output) : ''
  const name = tool ?? type
  const state = status === 'done' ? '' : paint('yellow', ` ${status}`)
  return oneLine(`  ${String(seq).padStart(3)}  ${name}${state}${text === '' ? '' : `: ${cut(text)}`}`)
}

const cut = (text: string): string => (text.length > 300 ? `${text.slice(0, 299)}…` : text)

/** The lines below a run's headline: its error with the fix, and its output. */
export const resultLines = ({ paint }: Output, { error, output }: Pick<Run, 'error' | 'output'>): string[] => [
  ...(error ? [oneLine(`  ${error.code}: ${error.message}`), oneLine(`  ${paint('green', 'fix')} ${error.fix}`)] : []),
  ...(output == null ? [] : [JSON.stringify(output, null, 2)]),
]
