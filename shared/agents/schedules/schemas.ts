import * as z from 'zod'
import { idField, name, time } from '#shared/foundation/schemas/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { RUN_STATUSES } from '#shared/work/runs/index.ts'
import { MISSED, OCCURRENCE_STATUSES, OVERLAPS, PAUSE_REASONS, SCHEDULE_STATUSES, SKIP_REASONS } from './entity.ts'

const json = () => z.record(z.string(), z.unknown())

const countOf = (value: object, keys: readonly string[]): number =>
  keys.filter((key) => (value as Record<string, unknown>)[key] !== undefined).length

/** What a run of a schedule starts with. */
const startInput = () =>
  z
    .strictObject({
      input: json().optional().meta({ description: 'Input of the run.' }),
      tool: z.string().min(1).max(120).optional().meta({ description: 'A tool that the agent declares.' }),
      arguments: json().optional().meta({ description: 'Arguments of `tool`.' }),
      message: z
        .string()
        .trim()
        .min(1, 'must not be empty')
        .max(LIMITS.messageCharacters)
        .optional()
        .meta({ description: 'A message from you in your conversation with the agent. Only people can send one.' }),
    })
    .refine(
      (start) => countOf(start, ['input', 'tool', 'message']) === 1,
      'must have exactly one of input, tool and message',
    )
    .refine((start) => start.arguments === undefined || start.tool !== undefined, {
      path: ['arguments'],
      error: 'needs a tool',
    })
    .meta({ example: { input: { question: 'What happened this week?' } } })

export type StartInput = z.infer<ReturnType<typeof startInput>>

/** When a schedule falls due. */
const whenInput = () =>
  z
    .strictObject({
      cron: z.string().max(200).optional().meta({
        description: 'Five fields: minute, hour, day of month, month and weekday. Needs `time_zone`.',
      }),
      time_zone: z.string().max(100).optional().meta({ description: 'IANA name, such as `Europe/Amsterdam`.' }),
      every: z
        .string()
        .max(60)
        .optional()
        .meta({ description: 'Elapsed time between two starts: an ISO 8601 duration of a minute or more.' }),
      at: z.string().max(60).optional().meta({ description: 'One time, ISO 8601 with an offset.' }),
    })
    .refine((given) => countOf(given, ['cron', 'every', 'at']) === 1, 'must have exactly one of cron, every and at')
    .refine((given) => (given.cron === undefined) === (given.time_zone === undefined), {
      path: ['time_zone'],
      error: 'is needed with cron, and only with it',
    })
    .meta({ example: { cron: '0 9 * * MON-FRI', time_zone: 'Europe/Amsterdam' } })

export type WhenInput = z.infer<ReturnType<typeof whenInput>>

const endsAt = () =>
  z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-12-31T23:59:00+01:00' })
    .meta({ description: 'Time from which it no longer falls due.', example: '2027-01-01T00:00:00+01:00' })

const fields = () => ({
  name: name(100).meta({ example: 'Weekly summary' }),
  start: startInput(),
  when: whenInput(),
  overlap: z.enum(OVERLAPS).meta({
    description:
      'What happens while the run before is still active, for example because it waits for an approval. `skip` starts ' +
      'no run, `queue` starts one when that run has ended, `allow` starts one at once.',
  }),
  missed: z.enum(MISSED).meta({
    description:
      'What happens after an outage. `latest` starts one run for the latest missed time, if it is at most an hour ago. ' +
      '`skip` starts none.',
  }),
})

const creation = () => {
  const { overlap, missed, ...needed } = fields()
  return { ...needed, overlap: overlap.default('skip'), missed: missed.default('latest'), ends_at: endsAt().optional() }
}

/** Body of `POST /api/v1/schedules`. */
export const NewSchedule = () => z.strictObject(creation())

/** Body of `POST /console/schedules`. */
export const NewPersonSchedule = () => z.strictObject({ installation_id: idField('ins').max(64), ...creation() })

export type NewSchedule = z.infer<ReturnType<typeof NewSchedule>>

/** Body of `PATCH …/schedules/{id}`. */
export const ChangeSchedule = () => {
  const { name: title, start, when, overlap, missed } = fields()
  return z
    .strictObject({
      name: title.optional(),
      start: start.optional(),
      when: when.optional(),
      overlap: overlap.optional(),
      missed: missed.optional(),
      ends_at: endsAt().nullable().optional(),
    })
    .refine((change) => Object.keys(change).length > 0, 'must have at least one field')
}

export type ChangeSchedule = z.infer<ReturnType<typeof ChangeSchedule>>

/** Body of `POST …/schedules/preview`. */
export const PreviewSchedule = () => z.strictObject({ when: whenInput(), ends_at: endsAt().optional() })

export type PreviewSchedule = z.infer<ReturnType<typeof PreviewSchedule>>

const times = () => z.array(time()).meta({ description: 'The next five times, fewer if it ends.' })

export const PreviewSchema = () => z.object({ next_times: times() }).meta({ id: 'SchedulePreview' })

/** A schedule as its readers see it (contract/schedules.md#schedule). */
export const ScheduleSchema = () =>
  z
    .object({
      id: idField('sch'),
      installation_id: idField('ins'),
      agent: z.object({ name: z.string() }),
      name: z.string(),
      start: z.object({
        input: json().optional(),
        tool: z.string().optional(),
        arguments: json().optional(),
        message: z.string().optional(),
      }),
      when: z.object({
        cron: z.string().optional(),
        time_zone: z.string().optional(),
        every: z.string().optional(),
        at: z.string().optional(),
      }),
      overlap: z.enum(OVERLAPS),
      missed: z.enum(MISSED),
      status: z.enum(SCHEDULE_STATUSES),
      next_at: time().nullable(),
      next_times: times(),
      last: z
        .object({
          run_id: z.string().nullable(),
          status: z
            .enum([...RUN_STATUSES, 'skipped', 'refused'])
            .nullable()
            .meta({ description: 'Status of the run; null once the run is deleted.' }),
          at: time(),
          reason: z
            .string()
            .nullable()
            .meta({ description: `Why there is no run: ${SKIP_REASONS.join(', ')}, or the code of an error.` }),
        })
        .nullable(),
      failures: z.number().int().meta({ description: 'Failures in a row. Five pause the schedule.' }),
      paused_reason: z.enum(PAUSE_REASONS).nullable(),
      last_error: z.string().nullable(),
      created_by: z.object({ type: z.enum(['user', 'app']), id: z.string(), name: z.string() }),
      is_private: z
        .boolean()
        .meta({ description: 'Only its creator sees it, because it writes in their conversation.' }),
      ends_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'Schedule' })

export type ScheduleView = z.infer<ReturnType<typeof ScheduleSchema>>

/** One falling due of a schedule, in its history. */
export const OccurrenceSchema = () =>
  z
    .object({
      id: idField('occ'),
      at: time(),
      status: z.enum(OCCURRENCE_STATUSES),
      run: z
        .object({ id: z.string(), status: z.enum(RUN_STATUSES).nullable() })
        .nullable()
        .meta({ description: 'Its `status` is null once the run is deleted.' }),
      reason: z.string().nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    })
    .meta({ id: 'ScheduleOccurrence' })

/** What falls due in the next days. */
export const CalendarSchema = () =>
  z
    .object({
      from: time(),
      to: time(),
      items: z.array(
        z.object({
          schedule_id: idField('sch'),
          name: z.string(),
          times: z.array(time()).meta({ description: 'At most 50.' }),
          has_more: z.boolean(),
        }),
      ),
    })
    .meta({ id: 'ScheduleCalendar' })
