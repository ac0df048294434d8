import { signal } from '@preact/signals'
import { localeOf } from './locale-of.ts'
import { language, t } from './messages.ts'

/** The user's locale and time zone. The browser's apply if they aren't set. */
export const reader = signal<{ locale?: string | null; time_zone?: string | null }>({})

/** Reference point for relative times, updated every 30 seconds. */
const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 30_000)

/** Returns the locale in which the user reads times and numbers. */
export const locale = (): string => localeOf(language, reader.value.locale, navigator.language)

const timeZone = (): string | undefined => reader.value.time_zone || undefined

/** Formats in the user's time zone. */
export const withZone = <T>(make: (timeZone: string | undefined) => T): T => {
  try {
    return make(timeZone())
  } catch {
    // The browser doesn't know this time zone.
    return make(undefined)
  }
}

/** Formats a time in the user's language and time zone. */
export const fullTime = (at: string): string =>
  withZone((zone) =>
    new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short', timeZone: zone }).format(new Date(at)),
  )

/** Formats a calendar date such as `2026-11-30`, which has no time zone. The year is left out if it is the current one. */
export const dateText = (date: string): string => {
  const at = new Date(`${date}T00:00:00Z`)
  const year = at.getUTCFullYear() === new Date().getFullYear() ? undefined : 'numeric'
  return new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', year, timeZone: 'UTC' }).format(at)
}

const STEPS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** Formats a recent time as “5 minutes ago”, or briefly as “5m ago”, and one over six days away as a date. */
export const shortTime = (at: string, style: 'long' | 'narrow' = 'long'): string => {
  const seconds = Math.round((Date.parse(at) - now.value) / 1_000)
  const relative = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style })
  if (Math.abs(seconds) > 6 * 86_400) {
    return withZone((zone) =>
      new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: zone }).format(new Date(at)),
    )
  }
  const [unit, size] = STEPS.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 1]
  // If this clock is slightly behind the platform's, "now" must not become the future.
  return unit === 'second' ? relative.format(0, 'second') : relative.format(Math.trunc(seconds / size), unit)
}

export const duration = (ms: number): string => {
  const number = (value: number, unit: string): string =>
    new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(
      value,
    )
  if (ms < 1_000) return number(ms, 'millisecond')
  if (ms < 60_000) return number(ms / 1_000, 'second')
  return number(ms / 60_000, 'minute')
}

/** Formats a share from 0 to 1. */
export const percent = (share: number, digits = 0): string =>
  new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: digits }).format(share)

export const count = (value: number): string => new Intl.NumberFormat(locale()).format(value)

export const bytes = (size: number): string => {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']
  let [value, unit] = [size, 0]
  while (value >= 1_000 && unit < units.length - 1) [value, unit] = [value / 1_000, unit + 1]
  return new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: units[unit] ?? 'byte',
    unitDisplay: unit === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(value)
}

/** Names of the states and kinds that the pages show most. */
const LABELS: Record<string, string> = {
  queued: t('Queued'),
  running: t('Running'),
  awaiting_approval: t('Awaiting approval'),
  awaiting_input: t('Waits for an answer'),
  succeeded: t('Succeeded'),
  failed: t('Failed'),
  cancelled: t('Cancelled'),
  expired: t('Expired'),
  timed_out: t('Timed out'),
  pending: t('Pending'),
  active: t('Active'),
  suspended: t('Suspended'),
  revoked: t('Revoked'),
  disconnected: t('Disconnected'),
  approved: t('Approved'),
  rejected: t('Rejected'),
  draft: t('Draft'),
  open: t('Open', {}, 'state'),
  todo: t('Todo'),
  in_progress: t('In progress'),
  blocked: t('Blocked'),
  question: t('Question'),
  input_request: t('Question'),
  review: t('Review'),
  done: t('Done', {}, 'state'),
  closed: t('Closed'),
  published: t('Published'),
  unlisted: t('Unlisted'),
  completed: t('Completed'),
  started: t('Started'),
  tool: t('Tool'),
  approval: t('Approval'),
  message: t('Message'),
  input: t('Input'),
  output: t('Output'),
  log: t('Log'),
  error: t('Error'),
  spam: t('Spam'),
  in_review: t('In review'),
  delisted: t('Delisted'),
  disabled: t('Disabled'),
  paused: t('Paused'),
  skipped: t('Skipped'),
  discuss: t('Discuss'),
  claimed: t('Claimed'),
  fulfilled: t('Fulfilled'),
  declined: t('Declined'),
  hidden: t('Hidden'),
  other: t('Other'),
}

/** Makes an API name readable: `awaiting_approval` → “Awaiting approval”. */
export const humanize = (name: string): string => {
  const label = LABELS[name]
  if (label) return label
  const text = name.replaceAll(/[._]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const TRIGGERS: Record<string, string> = {
  api: t('The agent’s service'),
  chat: t('Conversation'),
  task: t('Task'),
  agent: t('Another agent'),
  manual: t('Manual'),
  messenger: t('Messenger'),
  task_result: t('Result of a task'),
  schedule: t('Schedule'),
  event: t('Event'),
  mcp: 'MCP',
  a2a: 'A2A',
  test: t('Test', {}, 'trigger'),
}

/** Describes what started a run. Agents' services may use labels of their own. */
export const triggerLabel = (trigger: string): string => TRIGGERS[trigger] ?? humanize(trigger)
