import { signal } from '@preact/signals'

/** Whose language and time zone count; without them the browser's do. */
export const reader = signal<{ locale?: string | null; time_zone?: string | null }>({})

/** The time that relative times are relative to; moves on every half minute. */
const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 30_000)

const locale = (): string | undefined => {
  const own = reader.value.locale
  try {
    return own ? Intl.getCanonicalLocales(own)[0] : undefined
  } catch {
    return undefined
  }
}

const timeZone = (): string | undefined => reader.value.time_zone || undefined

const withZone = <T>(make: (timeZone: string | undefined) => T): T => {
  try {
    return make(timeZone())
  } catch {
    // A zone that this browser does not know.
    return make(undefined)
  }
}

/** A point in time in the person's language and time zone. */
export const fullTime = (at: string): string =>
  withZone((zone) =>
    new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short', timeZone: zone }).format(new Date(at)),
  )

const STEPS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** “5 minutes ago” within a week; then the date. */
export const shortTime = (at: string): string => {
  const seconds = Math.round((Date.parse(at) - now.value) / 1_000)
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' })
  if (Math.abs(seconds) > 6 * 86_400) {
    return withZone((zone) =>
      new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: zone }).format(new Date(at)),
    )
  }
  const [unit, size] = STEPS.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 1]
  // A clock that is a little behind the platform's must not speak of the future.
  return unit === 'second' ? words.format(0, 'second') : words.format(Math.trunc(seconds / size), unit)
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

export const count = (value: number): string => new Intl.NumberFormat(locale()).format(value)

export const bytes = (size: number): string => {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']
  let [value, unit] = [size, 0]
  while (value >= 1_000 && unit < units.length - 1) [value, unit] = [value / 1_000, unit + 1]
  return new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: units[unit] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(value)
}

/** A word of the API as people read it: `awaiting_approval` → “Awaiting approval”. */
export const words = (name: string): string => {
  const text = name.replaceAll(/[._]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const TRIGGERS: Record<string, string> = {
  api: 'Its own service',
  chat: 'Chat',
  task: 'Task',
  agent: 'Another agent',
  manual: 'By hand',
}

/** What a run was started by; agents’ services may give labels of their own. */
export const triggerWords = (trigger: string): string => TRIGGERS[trigger] ?? words(trigger)
