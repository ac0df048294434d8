import { InstallationEntity } from '#shared/access/installations/index.ts'
import { orchestratorId } from '#shared/access/orchestrator/index.ts'
import {
  cutPageToResponseSize,
  payloadBytes,
  type StoredPayload,
  textBytes,
} from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { mergedPage } from '#shared/table/lists.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from './entity.ts'
import { runsWithStatus } from './slots.ts'
import { isActive, RUN_STATUSES, type RunStatus } from './status.ts'

export interface RunFilter {
  status?: RunStatus | undefined
  installation_id?: string | undefined
  trigger?: string | undefined
  /** Person who started it. */
  person?: string | undefined
  error?: string | undefined
  since?: string | undefined
  until?: string | undefined
  q?: string | undefined
}

/** Runs and bytes read for one page at most, so that a rare match costs several short requests instead of one unbounded one. */
const LOOKED_AT = 600
const LOOKED_BYTES = 12 * 1_024 * 1_024
const STEP = 100

/** Most installations that a list is merged from, more than a workspace has at once, including former ones. */
const MERGED_INSTALLATIONS = 100

type Read = (options: Pick<QueryOptions, 'limit' | 'after' | 'from' | 'to'>) => Promise<Page<Run>>

/**
 * Lists a workspace's runs that match, newest first, as one of its members sees them. Status and agent choose the lists that
 * are read, and times the range. The other filters are applied to a bounded number of runs, so a page may be short or empty
 * and still have a next one.
 */
export const searchRuns = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  viewerId: string,
  filter: RunFilter,
  { limit, after }: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Run>> => {
  const read =
    filter.status === undefined && filter.installation_id === undefined
      ? fromWorkspace(deps, workspaceId, viewerId)
      : await fromInstallations(deps, workspaceId, viewerId, filter)
  const matches = matcher(viewerId, filter)
  const step = isNarrow(filter) ? STEP : limit
  const found: Run[] = []
  let at = after
  let more = true
  let bytes = 0
  for (let looked = 0; more && found.length < limit && looked < LOOKED_AT && bytes < LOOKED_BYTES; looked += step) {
    const page = await read({ limit: step, after: at, ...bounds(filter) })
    more = page.next !== undefined
    at = page.next
    for (const run of page.items) {
      if (found.length === limit) {
        more = true
        at = found.at(-1)?.id
        break
      }
      if (matches(run)) found.push(run)
      bytes += shownBytes(run)
    }
  }
  return cutPageToResponseSize({ items: found, next: more ? at : undefined }, shownBytes, ({ id }) => id)
}

/** Returns true if runs are read that may not match. */
const isNarrow = ({ trigger, person, error, q }: RunFilter): boolean =>
  [trigger, person, error, q].some((filter) => filter !== undefined)

const shownBytes = ({ input, output, error_message = '' }: Run): number =>
  payloadBytes(input) + payloadBytes(output) + textBytes(error_message)

const bounds = ({ since, until }: RunFilter) => ({
  ...(since !== undefined && { from: floor(since) }),
  ...(until !== undefined && { to: floor(until) }),
})

/** Clamped, because ids can't encode times before 1970. */
const floor = (at: string): string => idFloor('run', Math.max(0, Date.parse(at)))

/** Reads all runs of a workspace, by the ids of the runs. */
const fromWorkspace =
  ({ table }: Pick<Deps, 'table'>, workspace_id: string, viewerId: string): Read =>
  async ({ limit, ...range }) => {
    const sort = (id: string): string => WorkspaceRunEntity.key({ workspace_id, run_id: id }).sk
    const keys = Object.fromEntries(Object.entries(range).flatMap(([name, id]) => (id ? [[name, sort(id)]] : [])))
    const page = await table.query(WorkspaceRunEntity, { workspace_id }, { limit, ...keys })
    const seen = page.items.filter((ref) => isVisibleTo(viewerId, ref))
    const runs = await table.getAllUnchanging(
      seen.map((ref) => RunEntity.ref({ ...ref, id: ref.run_id })),
      ({ status }) => !isActive(status),
    )
    return {
      items: runs.filter((run): run is Run => run !== undefined),
      next: page.next && page.items.at(-1)?.run_id,
    }
  }

/**
 * Reads the merged lists of each installation by status. The cost grows with the number of agents, and a run's change costs
 * nothing extra.
 */
const fromInstallations = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  viewerId: string,
  { status, installation_id }: RunFilter,
): Promise<Read> => {
  const installed = installation_id
    ? [await table.get(InstallationEntity, { workspace_id: workspaceId, id: installation_id })]
    : (await table.query(InstallationEntity, { workspace_id: workspaceId }, { limit: MERGED_INSTALLATIONS })).items
  // A person's own orchestrator has no record.
  const own = orchestratorId(workspaceId, viewerId)
  const ids = [
    ...installed.flatMap((installation) => installation?.id ?? []),
    ...(installation_id === undefined || installation_id === own ? [own] : []),
  ]
  const lists = await runsWithStatus({ table }, ids, status === undefined ? RUN_STATUSES : [status])
  return async (options) =>
    lists.length === 0 ? { items: [], next: undefined } : mergedPage(table, RunEntity, lists, options)
}

/** Returns a test of all filters, which checks the status again because an index may lag behind the record. */
const matcher = (viewerId: string, { status, trigger, person, error, q }: RunFilter) => {
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return (run: Run): boolean =>
    isVisibleTo(viewerId, run) &&
    (status === undefined || run.status === status) &&
    (trigger === undefined || run.trigger === trigger) &&
    (person === undefined || run.actor?.id === person) &&
    (error === undefined || run.error_code === error) &&
    (words.length === 0 || holdsAll(run, words))
}

/** Looks for words in what the record itself holds. Values in the bucket aren't read. */
const holdsAll = (run: Run, words: readonly string[]): boolean => {
  const { id, agent_id, trigger, error_code = '', error_message = '', actor, caller, tool = '' } = run
  const text = [
    ...[id, agent_id, trigger, error_code, error_message, tool, actor?.name ?? '', caller?.name ?? ''],
    ...[run.input, run.output].map(textOf),
  ]
    .join('\n')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Returns the texts within a stored value, without JSON's escapes and punctuation. */
const textOf = (stored: StoredPayload | undefined): string => {
  if (stored === undefined || !('json' in stored)) return ''
  const texts: string[] = []
  JSON.parse(stored.json, (name, value: unknown) => {
    if (name) texts.push(name)
    if (typeof value !== 'object') texts.push(String(value))
    return value
  })
  return texts.join('\n')
}
