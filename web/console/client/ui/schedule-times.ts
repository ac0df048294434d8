import { locale, withZone } from '../../../ui/format.ts'
import { language } from '../../../ui/messages.ts'

/** Formats a time with its weekday, in the user's zone or the given one. */
export const inZone = (at: string, zone?: string): string => {
  const format = (timeZone: string | undefined) =>
    new Intl.DateTimeFormat(locale(), {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: 'numeric',
      minute: '2-digit',
      timeZone,
    }).format(new Date(at))
  return zone === undefined ? withZone(format) : format(zone)
}

/** Returns the name of the user's time zone. */
export const readerZone = (): string =>
  withZone((zone) => new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone)

/** Formats a time of day such as `09:00`. */
export const timeOfDay = (time: string): string =>
  new Intl.DateTimeFormat(locale(), { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' }).format(
    new Date(`1970-01-01T${time}:00Z`),
  )

/** Formats only the time of day of a time, in the user's zone. */
export const clockTime = (at: string): string =>
  withZone((zone) =>
    new Intl.DateTimeFormat(locale(), { hour: 'numeric', minute: '2-digit', timeZone: zone }).format(new Date(at)),
  )

/** Formats the day of a time in the user's zone: “Mon, 30 Nov”. */
export const dayText = (at: string): string =>
  withZone((zone) =>
    new Intl.DateTimeFormat(locale(), { weekday: 'short', day: 'numeric', month: 'short', timeZone: zone }).format(
      new Date(at),
    ),
  )

/** Returns the name of a weekday. @param weekday 0 is Sunday */
export const weekdayName = (weekday: number): string =>
  // 1 January 2023 was a Sunday.
  new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(
    new Date(Date.UTC(2023, 0, 1 + weekday)),
  )
