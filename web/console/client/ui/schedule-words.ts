import { duration } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import type { Schemas } from '../api.ts'
import { EVENT_WORDS } from './event-words.ts'
import { inZone, timeOfDay, weekdayName } from './schedule-times.ts'

export type When = Schemas['Schedule']['when']

/** A cron expression that the editor can show in words. */
export type Rhythm =
  | { repeats: 'hourly'; minute: number }
  | { repeats: 'daily' | 'weekdays'; time: string }
  | { repeats: 'weekly'; time: string; weekday: number }
  | { repeats: 'monthly'; time: string; day: number }

const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const twoDigits = (value: string): string => value.padStart(2, '0')

/** Reads a cron expression as one of the rhythms; undefined if none says the same. */
export const rhythmOf = (cron: string): Rhythm | undefined => {
  const [minute = '', hour = '', day, month, weekday = ''] = cron.trim().toUpperCase().split(/\s+/)
  if (!/^\d\d?$/.test(minute) || month !== '*') return undefined
  if (hour === '*') return day === '*' && weekday === '*' ? { repeats: 'hourly', minute: Number(minute) } : undefined
  if (!/^\d\d?$/.test(hour)) return undefined
  const time = `${twoDigits(hour)}:${twoDigits(minute)}`
  if (weekday === '*' && /^\d\d?$/.test(day ?? '')) return { repeats: 'monthly', time, day: Number(day) }
  if (day !== '*') return undefined
  if (weekday === '*') return { repeats: 'daily', time }
  if (weekday === 'MON-FRI' || weekday === '1-5') return { repeats: 'weekdays', time }
  const one = DAYS.includes(weekday) ? DAYS.indexOf(weekday) : /^[0-7]$/.test(weekday) ? Number(weekday) % 7 : undefined
  return one === undefined ? undefined : { repeats: 'weekly', time, weekday: one }
}

export const cronOf = (rhythm: Rhythm): string => {
  if (rhythm.repeats === 'hourly') return `${rhythm.minute} * * * *`
  const [hour, minute] = rhythm.time.split(':').map(Number)
  const at = `${minute} ${hour}`
  if (rhythm.repeats === 'monthly') return `${at} ${rhythm.day} * *`
  if (rhythm.repeats === 'weekly') return `${at} * * ${DAYS[rhythm.weekday]}`
  return `${at} * * ${rhythm.repeats === 'weekdays' ? 'MON-FRI' : '*'}`
}

const rhythmWords = (rhythm: Rhythm): string => {
  if (rhythm.repeats === 'hourly') return t('Every hour, {minute} minutes past', { minute: rhythm.minute })
  const time = timeOfDay(rhythm.time)
  if (rhythm.repeats === 'monthly') return t('On day {day} of each month at {time}', { day: rhythm.day, time })
  if (rhythm.repeats === 'weekly') {
    return t('Every {weekday} at {time}', { weekday: weekdayName(rhythm.weekday), time })
  }
  return rhythm.repeats === 'weekdays' ? t('Weekdays at {time}', { time }) : t('Every day at {time}', { time })
}

/** Returns the place that a zone is named after: `Europe/Amsterdam` → “Amsterdam”. */
export const placeOf = (zone: string): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')

/** Reads a duration as a number of its unit, or of minutes if it has several units; undefined if it has others. */
export const intervalOf = (every: string): { amount: number; unit: Unit } | undefined => {
  const found = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(every)
  if (!found) return undefined
  const [days, hours, minutes] = [Number(found[1] ?? 0), Number(found[2] ?? 0), Number(found[3] ?? 0)]
  if (!hours && !minutes) return { amount: days, unit: 'day' }
  if (!days && !minutes) return { amount: hours, unit: 'hour' }
  return { amount: (days * 24 + hours) * 60 + minutes, unit: 'minute' }
}

export type Unit = 'minute' | 'hour' | 'day'

const intervalWords = (every: string): string => {
  const interval = intervalOf(every)
  if (!interval) return t('Every {duration}', { duration: every })
  if (interval.unit === 'day') return t('Every {days, plural, one {day} other {# days}}', { days: interval.amount })
  if (interval.unit === 'hour')
    return t('Every {hours, plural, one {hour} other {# hours}}', { hours: interval.amount })
  return t('Every {duration}', { duration: duration(interval.amount * 60_000) })
}

const eventWords = (event: string, match: NonNullable<When['match']>): string => {
  const what = EVENT_WORDS[event]
  const words = what ? t('When {what}', { what }) : t('When {event} happens', { event })
  const conditions = Object.entries(match).map(([path, value]) => `${path} = ${String(value)}`)
  return [words, ...conditions].join(', ')
}

/** Says when a schedule falls due: “Weekdays at 9:00 in Amsterdam”, “When a task is created”. */
export const whenWords = ({ cron, time_zone = 'UTC', every, at, event, match = {} }: When): string => {
  if (event !== undefined) return eventWords(event, match)
  if (every !== undefined) return intervalWords(every)
  if (at !== undefined) return t('Once, {time}', { time: inZone(at) })
  const rhythm = rhythmOf(cron ?? '')
  const words = rhythm ? rhythmWords(rhythm) : t('At the times of {cron}', { cron: cron ?? '' })
  return t('{words} in {place}', { words, place: placeOf(time_zone) })
}
