import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

export const CHECK_STATUSES = ['passed', 'failed', 'warning', 'skipped'] as const

const check = () =>
  z.object({
    id: z.string(),
    status: z.enum(CHECK_STATUSES),
    message: z.string(),
    fix: z.string().optional(),
    evidence: z.record(z.string(), z.unknown()),
    checked_at: z.number(),
    duration_ms: z.number(),
  })

export type Check = z.infer<ReturnType<typeof check>>

const appChecks = () =>
  z.object({
    app_id: z.string(),
    version_id: z.string(),
    version: z.string(),
    /** The app's state that was checked. A newer one makes these findings stale. */
    app_updated_at: z.number(),
    checks: z.array(check()),
    checked_at: z.number(),
  })

export type AppChecks = z.infer<ReturnType<typeof appChecks>>

/** The latest findings of the automatic checks of a version, with their evidence. */
export const AppChecksEntity = defineEntity({
  name: 'app-checks',
  schema: appChecks,
  pk: 'APP#{app_id}',
  sk: 'CHECKS#{version_id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
