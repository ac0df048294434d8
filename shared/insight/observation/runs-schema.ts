import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { isId } from '#shared/kernel/ids.ts'
import { durationOf, RUN_STATUSES, type Run } from '#shared/work/runs/index.ts'
import { OBSERVED_STATES } from '../observed-runs/entity.ts'

const idFilter = (kind: 'app' | 'workspace', description: string) =>
  z
    .string()
    .refine((text) => isId(kind, text), `must be the id of ${kind === 'app' ? 'an app' : 'a workspace'}`)
    .optional()
    .meta({ description })

/** A time bound. Clamped at 1970, because ids can't encode earlier times. */
export const timeBound = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((text) => Math.max(0, Date.parse(text)))
    .optional()
    .meta({ description, type: 'string', format: 'date-time', example: '2026-11-21T00:00:00.000+00:00' })

/** Filters of `GET /admin/runs`, combined with AND. */
export const runFilters = () => ({
  status: z
    .enum(OBSERVED_STATES)
    .optional()
    .meta({ description: '`active`: queued, running or awaiting approval. Default: all.' }),
  app: idFilter('app', 'Runs of this app.'),
  workspace: idFilter('workspace', 'Runs in this workspace.'),
  since: timeBound(
    'Runs created at this time or later. Default: the retention period of runs, 90 days unless configured otherwise.',
  ),
})

export interface RunFilter {
  status?: (typeof OBSERVED_STATES)[number] | undefined
  app?: string | undefined
  workspace?: string | undefined
  since?: number | undefined
}

/** A run as shown to admins: metadata only, never its content. */
export const ObservedRunSchema = () =>
  z
    .object({
      id: idField('run'),
      status: z.enum(RUN_STATUSES),
      app_id: idField('app'),
      installation_id: idField('ins'),
      workspace_id: idField('ws'),
      is_sandbox: z.boolean(),
      agent: z.object({ id: z.string().meta({ example: 'acme.analyst' }), version: z.string() }),
      trigger: z.string(),
      error_code: z
        .string()
        .nullable()
        .meta({ description: 'The error message is omitted, because it may quote customer data.' }),
      cost_units: z.number().nullable(),
      parent_run_id: idField('run').nullable(),
      chain_depth: z.number().int(),
      steps: z.number().int().meta({ description: 'Number of steps.' }),
      request_id: idField('req').nullable(),
      created_at: time(),
      started_at: time().nullable(),
      finished_at: time().nullable(),
      duration_ms: z.number().int().nullable(),
    })
    .meta({ id: 'ObservedRun' })

export type ObservedRunView = z.infer<ReturnType<typeof ObservedRunSchema>>

export const presentObservedRun = (run: Run): ObservedRunView => ({
  id: run.id,
  status: run.status,
  app_id: run.app_id,
  installation_id: run.installation_id,
  workspace_id: run.workspace_id,
  is_sandbox: run.is_sandbox,
  agent: { id: run.agent_id, version: run.version },
  trigger: run.trigger,
  error_code: run.error_code ?? null,
  cost_units: run.cost_units ?? null,
  parent_run_id: run.parent_run_id ?? null,
  chain_depth: run.chain_depth,
  steps: run.step_count,
  request_id: run.request_id ?? null,
  created_at: iso(run.created_at),
  started_at: run.started_at === undefined ? null : iso(run.started_at),
  finished_at: run.finished_at === undefined ? null : iso(run.finished_at),
  duration_ms: durationOf(run) ?? null,
})
