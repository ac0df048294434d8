import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

export const SCHEDULE_STATUSES = ['active', 'paused', 'ended'] as const
export type ScheduleStatus = (typeof SCHEDULE_STATUSES)[number]
export const OVERLAPS = ['skip', 'queue', 'allow'] as const
export const MISSED = ['latest', 'skip'] as const
export const PAUSE_REASONS = ['by_person', 'by_app', 'failures', 'creator_left'] as const

/** Reasons that an occurrence made no run, if its start wasn't refused. */
export const SKIP_REASONS = ['overlap', 'missed', 'paused'] as const

const eventRef = () => z.object({ id: z.string(), type: z.string() })

const when = () =>
  z.union([
    z.object({ cron: z.string(), time_zone: z.string() }),
    z.object({ every: z.string() }),
    z.object({ at: z.string() }),
    z.object({ event: z.string(), match: z.record(z.string(), scalar()).optional() }),
  ])

const scalar = () => z.union([z.string(), z.number(), z.boolean(), z.null()])

export type When = z.infer<ReturnType<typeof when>>

/** Times at which a schedule falls due. */
export type TimedWhen = Exclude<When, { event: string }>

/** Events at which a schedule falls due. */
export type EventWhen = Extract<When, { event: string }>

export const isTimed = (when: When): when is TimedWhen => !('event' in when)

const schedule = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    installation_id: z.string(),
    app_id: z.string(),
    name: z.string(),
    /** JSON text of what a run starts with, so that any JSON value is kept exactly. */
    start: z.string(),
    when: when(),
    overlap: z.enum(OVERLAPS),
    missed: z.enum(MISSED),
    status: z.enum(SCHEDULE_STATUSES),
    /** Incremented at every change, so that no concurrent change is lost. */
    revision: z.number(),
    /** Time from which elapsed time is counted: creation, the last resumption, or another `when`. */
    anchor: z.number(),
    /** Absent unless it is active. */
    next_at: z.number().optional(),
    /** Occurrence that waits for the end of the run before it. */
    waiting: z.object({ id: z.string(), at: z.number(), since: z.number() }).optional(),
    last: z
      .object({
        at: z.number(),
        status: z.enum(['started', 'skipped', 'refused']),
        run_id: z.string().optional(),
        reason: z.string().optional(),
      })
      .optional(),
    /** Latest run, which may still be active. */
    run_id: z.string().optional(),
    /** The end of that run has been counted. */
    run_counted: z.literal(true).optional(),
    /** Refused starts and failed runs in a row. */
    failures: z.number(),
    last_error: z.string().optional(),
    paused_reason: z.enum(PAUSE_REASONS).optional(),
    created_by: z.object({ type: z.enum(['user', 'app']), id: z.string(), name: z.string() }),
    /** Its creator, if it writes in their conversation with the agent. Nobody else sees it. */
    private_to: z.string().optional(),
    ends_at: z.number().optional(),
    /** Key of the manifest's proposal that it was created from. */
    proposal: z.string().optional(),
    created_at: createdAt(),
    changed_at: z.number(),
    /** Time of its next occurrence, or at which the waiting one is tried again. Absent unless it is active. */
    due_at: z.number().optional(),
  })

export type Schedule = z.infer<ReturnType<typeof schedule>>

/** Owner of the list of an installation's schedules. */
export const schedulesOf = (installationId: string): string => `${installationId}#SCHEDULES`

export const ScheduleEntity = defineEntity({
  name: 'schedule',
  schema: schedule,
  pk: 'WS#{workspace_id}',
  sk: 'SCH#{id}',
  personal: { names: ['created_by'], text: ['name', 'start', 'last_error'] },
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ id }) => [['occurrence', { schedule_id: id }]],
  },
  due: true,
  list: ({ installation_id, id }) => ({ owner: schedulesOf(installation_id), sort: id }),
})

const trigger = () =>
  z.object({
    workspace_id: z.string(),
    installation_id: z.string(),
    schedule_id: z.string(),
    /** Event type or mask. */
    event: z.string(),
    match: z.record(z.string(), scalar()).optional(),
  })

export type Trigger = z.infer<ReturnType<typeof trigger>>

/** An active schedule that events start. The fan-out reads all of an installation's with each event. */
export const TriggerEntity = defineEntity({
  name: 'trigger',
  schema: trigger,
  pk: 'INS#{installation_id}',
  sk: 'TRG#{schedule_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

export const OCCURRENCE_STATUSES = ['waiting', 'started', 'skipped', 'refused'] as const

const occurrence = () =>
  z.object({
    id: z.string(),
    schedule_id: z.string(),
    installation_id: z.string(),
    status: z.enum(OCCURRENCE_STATUSES),
    /** Time at which it fell due. */
    at: z.number(),
    /** Event at which it fell due. */
    event: eventRef().optional(),
    run_id: z.string().optional(),
    reason: z.string().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    created_at: createdAt(),
  })

export type Occurrence = z.infer<ReturnType<typeof occurrence>>

/** One falling due of a schedule. Its id derives from the schedule and the time, so that it can't happen twice. */
export const OccurrenceEntity = defineEntity({
  name: 'occurrence',
  schema: occurrence,
  pk: 'SCH#{schedule_id}',
  sk: 'OCC#{id}',
  personal: { text: ['error'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: ({ created_at }, { payloadDays }) => created_at + payloadDays * 86_400_000,
})
