import * as z from 'zod'
import { ProposedScheduleSchema } from '#shared/catalogue/versions/index.ts'
import { idField, name, time } from '#shared/foundation/schemas/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { RUN_STATUSES } from '#shared/work/runs/index.ts'
import { MISSED, OCCURRENCE_STATUSES, OVERLAPS, PAUSE_REASONS, SCHEDULE_STATUSES, SKIP_REASONS } from './entity.ts'

const json = () => z.record(z.string(), z.unknown())

const countOf = (value: object, keys: readonly string[]): number =>
  keys.filter((key) => (value as Record<string, unknown>)[key] !== undefined).length

const START_EXAMPLE = { input: { question: 'What happened this week?' } }

const WHEN_EXAMPLE = { cron: '0 9 * * MON-FRI', time_zone: 'Europe/Amsterdam' }

/** Input, tool call or message with which a schedule starts its runs. */
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
    .meta({ id: 'ScheduleStartInput', example: START_EXAMPLE })

export type StartInput = z.infer<ReturnType<typeof startInput>>

/** Values that the data of an event must have. */
const eventMatch = () =>
  z
    .record(
      z
        .string()
        .max(100)
        .regex(/^[\w-]+(\.[\w-]+){0,4}$/, 'must be a field of data, such as status or order.kind'),
      z.union([z.string().max(200), z.number(), z.boolean(), z.null()]),
    )
    .refine((match) => Object.keys(match).length <= 10, 'must have at most 10 fields')
    .meta({ description: 'Values that fields of the event’s `data` must have, by path, such as `order.kind`.' })

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
      event: z
        .string()
        .max(120)
        .optional()
        .meta({ description: 'Type of the events that start runs, or a mask such as `task.*`.' }),
      match: eventMatch().optional(),
    })
    .refine(
      (given) => countOf(given, ['cron', 'every', 'at', 'event']) === 1,
      'must have exactly one of cron, every, at and event',
    )
    .refine((given) => given.match === undefined || given.event !== undefined, {
      path: ['match'],
      error: 'needs an event',
    })
    .refine((given) => (given.cron === undefined) === (given.time_zone === undefined), {
      path: ['time_zone'],
      error: 'is needed with cron, and only with it',
    })
    .meta({ id: 'ScheduleWhenInput', example: WHEN_EXAMPLE })

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
export const NewPersonSchedule = () =>
  z.strictObject({
    installation_id: idField('ins').max(64),
    ...creation(),
    proposal: z.string().min(1).max(64).optional().meta({
      description: 'Key of the manifest’s proposal that it comes from, so that it isn’t proposed to you again.',
    }),
  })

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

/** Body of `POST …/schedules/{id}/run`. */
export const RunSchedule = () =>
  z.strictObject({
    event_id: idField('evt').max(64).optional().meta({
      description: 'Event that the run gets, as if it had started it. Only for a schedule that events start.',
    }),
  })

export type RunSchedule = z.infer<ReturnType<typeof RunSchedule>>

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
      start: z
        .object({
          input: json().optional(),
          tool: z.string().optional(),
          arguments: json().optional(),
          message: z.string().optional(),
        })
        .meta({ example: START_EXAMPLE }),
      when: z
        .object({
          cron: z.string().optional(),
          time_zone: z.string().optional(),
          every: z.string().optional(),
          at: z.string().optional(),
          event: z.string().optional(),
          match: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
        })
        .meta({ example: WHEN_EXAMPLE }),
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
      proposal: z.string().nullable().meta({ description: 'Key of the manifest’s proposal that it comes from.' }),
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
      event: z
        .object({ id: z.string(), type: z.string() })
        .nullable()
        .meta({ description: 'Event at which it fell due.' }),
      run: z
        .object({ id: z.string(), status: z.enum(RUN_STATUSES).nullable() })
        .nullable()
        .meta({ description: 'Its `status` is null once the run is deleted.' }),
      reason: z.string().nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    })
    .meta({ id: 'ScheduleOccurrence' })

/** Times of the schedules in the next days. */
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

/** Response of `GET /console/schedules/proposals`. */
export const ProposalsSchema = () =>
  z
    .object({
      items: z.array(
        ProposedScheduleSchema()
          .extend({
            schedule_id: z
              .string()
              .nullable()
              .meta({ description: 'The schedule that you see and that comes from it; null while it is off.' }),
          })
          .meta({ id: 'ScheduleProposal' }),
      ),
    })
    .meta({ id: 'ScheduleProposals' })
