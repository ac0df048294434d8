import { toFailure } from '../../../session/failure.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { type SandboxSchemas, sandboxOf } from '../sandbox.ts'

export interface FoundRun {
  log: Schemas['AppLog'] | undefined
  /** The run with its content, if it’s in the sandbox. */
  run: SandboxSchemas['Run'] | undefined
}

const loadLog = async (app: string, id: string): Promise<Schemas['AppLog'] | undefined> => {
  const params = { path: { id: app }, query: { run_id: id } }
  return (await unwrap(api.GET('/api/v1/dev/apps/{id}/logs', { params }))).items[0]
}

/** Loads a run of an app: from the sandbox with its content, otherwise its metadata. */
export const findRun = async (app: string, id: string): Promise<FoundRun> => {
  const log = await loadLog(app, id)
  if (log && !log.is_sandbox) return { log, run: undefined }
  const { client, take } = sandboxOf(app)
  try {
    return { log, run: await take(client.GET('/api/v1/runs/{id}', { params: { path: { id } } })) }
  } catch (error) {
    // Without the scope runs:read, or after the run’s content expired, the metadata remains.
    if (log && [403, 404].includes(toFailure(error).status)) return { log, run: undefined }
    throw error
  }
}

/**
 * Finds the app of the developer's that a run belongs to, which may be another one than that of the run which started it.
 * @returns undefined for a run of another developer's app
 */
export const findAppOfRun = async (first: string, id: string): Promise<string | undefined> => {
  const here = await findRun(first, id).catch(() => undefined)
  if (here?.log || here?.run) return first
  const { items } = await unwrap(api.GET('/api/v1/dev/apps', { params: { query: { limit: 100 } } }))
  const others = items.filter((app) => app.id !== first)
  const logs = await Promise.all(others.map(({ id: app }) => loadLog(app, id).catch(() => undefined)))
  return others[logs.findIndex(Boolean)]?.id
}
