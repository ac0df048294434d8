import type { Work } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingRequest, OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import type { Run } from '#shared/work/runs/index.ts'
import type { Target } from '../targets/types.ts'
import { RunExchangeEntity } from './entity.ts'

/** Stands for a value that isn't shown. */
const HIDDEN = '(not shown)'

/**
 * Returns true if the app's developer may read what the run exchanged with the agent: in their own sandbox only. Customers'
 * runs, and those in other developers' sandboxes, stay metadata.
 */
const isOwnSandbox = ({ installation, workspace, app }: Target): boolean =>
  installation.is_sandbox && workspace.is_sandbox && workspace.developer_id === app.developer_id

/**
 * Stores what a run exchanged with its agent. The callback token and the values of settings are left out. A failure is logged,
 * because the run doesn't depend on it.
 */
export const recordExchange = async (
  work: Pick<Work, 'table' | 'log' | 'clock'>,
  run: Run,
  target: Target,
  request: OutgoingRequest,
  result: OutgoingResult,
): Promise<void> => {
  if (!isOwnSandbox(target)) return
  const sent_at = run.dispatched_at ?? work.clock.now()
  try {
    await work.table.transact([
      RunExchangeEntity.replace({
        run_id: run.id,
        app_id: run.app_id,
        workspace_id: run.workspace_id,
        sent_at,
        attempt: run.attempt ?? 1,
        url: request.url,
        request: { headers: lowercased(request.headers ?? {}), ...cut(withoutSecrets(String(request.body ?? ''))) },
        ...(result.kind === 'response'
          ? {
              response: {
                status: result.status,
                headers: cutHeaders(result.headers),
                ...cut(Buffer.from(result.body).toString('utf8').toWellFormed(), result.truncated),
              },
            }
          : { error: result.message }),
        ...(result.hint !== undefined && { hint: result.hint }),
        duration_ms: result.durationMs,
        created_at: run.created_at,
      }),
    ])
  } catch (error) {
    work.log.warn('could not store the exchange of a run', { run_id: run.id, error })
  }
}

const cut = (text: string, isCut = false): { body: string; truncated: boolean } => {
  const body = truncate(text, LIMITS.exchangeBodyBytes)
  return { body, truncated: isCut || body.length < text.length }
}

const lowercased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Headers of a response have up to 16 KiB, and cookies of the agent's server are no use here. */
const cutHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== 'set-cookie')
      .slice(0, 50)
      .map(([name, value]) => [name, value.slice(0, 1_024)]),
  )

const withoutSecrets = (body: string): string => {
  const sent = JSON.parse(body) as {
    callback?: { token?: string }
    installation?: { settings?: Record<string, unknown> | null }
  }
  const { callback, installation } = sent
  return JSON.stringify({
    ...sent,
    ...(callback && { callback: { ...callback, token: HIDDEN } }),
    ...(installation && {
      installation: {
        ...installation,
        settings: Object.fromEntries(Object.keys(installation.settings ?? {}).map((name) => [name, HIDDEN])),
      },
    }),
  })
}
