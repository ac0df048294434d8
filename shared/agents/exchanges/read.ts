import * as z from 'zod'
import { loadOwnApp } from '#shared/catalogue/apps/index.ts'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type RunExchange, RunExchangeEntity } from './entity.ts'

const message = () => ({
  headers: z.record(z.string(), z.string()).meta({ description: 'Names in lower case.' }),
  body: z.string(),
  truncated: z.boolean().meta({ description: 'Only the first 16 KiB are kept.' }),
})

/** Request and response between a sandbox run and its agent, one pair for each attempt and resumption. */
export const RunExchangeSchema = () =>
  z
    .object({
      run_id: idField('run'),
      attempt: z.number().int(),
      sent_at: time(),
      duration_ms: z.number().int(),
      request: z.object({
        url: z.string(),
        ...message(),
      }),
      response: z.object({ status: z.number().int(), ...message() }).nullable(),
      error: z.string().nullable().meta({ description: 'Why there was no complete response.' }),
      hint: z.string().nullable().meta({ description: 'The likely cause, and how to fix it.' }),
    })
    .meta({ id: 'RunExchange' })

type RunExchangeView = z.infer<ReturnType<typeof RunExchangeSchema>>

/**
 * Lists what a run exchanged with its agent, oldest first (`GET /api/v1/dev/apps/{id}/runs/{run}/exchanges`).
 * @throws `not_found` for another developer's app, and for customers' runs, of which nothing is stored
 */
export const listExchanges = async (
  deps: Pick<Deps, 'table'>,
  developerId: string,
  appId: string,
  runId: string,
): Promise<RunExchangeView[]> => {
  const { id: app_id } = await loadOwnApp(deps, developerId, appId)
  const { items } = await deps.table.query(
    RunExchangeEntity,
    { run_id: runId },
    { limit: LIMITS.exchangesPerRun, ascending: true },
  )
  const own = items.filter((exchange) => exchange.app_id === app_id)
  if (own.length === 0) {
    throw fail('not_found', {
      message: 'Nothing that this run exchanged with its agent is kept.',
      fix: 'Only runs in your own sandbox that were sent to an address are kept, with the run’s content.',
    })
  }
  return own.map(present)
}

const present = ({
  run_id,
  attempt,
  sent_at,
  duration_ms,
  url,
  request,
  response,
  error,
  hint,
}: RunExchange): RunExchangeView => ({
  run_id,
  attempt,
  sent_at: iso(sent_at),
  duration_ms,
  request: { url, ...request },
  response: response ?? null,
  error: error ?? null,
  hint: hint ?? null,
})
