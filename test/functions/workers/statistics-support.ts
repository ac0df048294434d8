import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import type { EventType } from '#shared/delivery/catalogue/catalogue.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/entity.ts'
import { type NewEvent, newEvent } from '#shared/foundation/outbox/outbox.ts'
import type { WorkerWork } from '#shared/foundation/work/work.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { newId, siblingId, stampOf } from '#shared/kernel/ids.ts'
import { withoutTableAttributes } from '#shared/table/indexes.ts'
import { Table } from '#shared/table/table.ts'
import { type Run, RunEntity } from '#shared/work/runs/entity.ts'
import { isActive, type RunStatus } from '#shared/work/runs/status.ts'
import { type Task, TaskEntity } from '#shared/work/tasks/entity.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import type { TestPlatform } from '#testkit/platform.ts'

/** Builds the record of a finished run, or of an active one in its current state. */
export const runOf = ({ installation, app }: Installed, at: number, over: Partial<Run> = {}): Run => {
  const id = newId('run', at)
  const status: RunStatus = over.status ?? 'succeeded'
  return {
    ...stampOf(id),
    installation_id: installation.id,
    workspace_id: installation.workspace_id,
    app_id: app.id,
    agent_id: installation.agent_id,
    version: installation.version,
    version_id: installation.version_id,
    status,
    trigger: 'api',
    input: { json: '{}' },
    is_sandbox: installation.is_sandbox,
    request_id: newId('request', at),
    audience: 'member',
    chain_id: id,
    chain_depth: 0,
    chain_deadline: at + 60_000,
    step_count: 0,
    last_seq: 0,
    step_bytes: 0,
    stream_seq: 1,
    transitions: [{ seq: 1, status: 'queued' }],
    started_at: at,
    ...(!isActive(status) && { finished_at: at + 40 }),
    ...over,
  }
}

export const taskOf = ({ installation }: Installed, at: number, status: Task['status']): Task => ({
  ...stampOf(newId('task', at)),
  workspace_id: installation.workspace_id,
  title: 'A task',
  description: 'All.',
  status,
  audience: 'member',
  created_by: { type: 'user', id: 'usr_1', name: 'Ann' },
  conversation_id: newId('conversation', at),
  chain_depth: 0,
  revision: 1,
  updated_at: at,
})

const eventAt = (type: EventType, at: number, who: Omit<NewEvent, 'type' | 'data'>, data: object, id?: string) =>
  newEvent({ now: () => at }, { type, ...who, data: { ...data } }, id)

export const runEvent = (type: EventType, run: Run, at: number = run.created_at): OutboxEvent => {
  const { id: run_id, workspace_id, installation_id, app_id } = run
  const known = type === 'run.created' ? siblingId('event', run_id) : undefined
  return eventAt(type, at, { workspace_id, installation_id, app_id }, { run_id, installation_id, app_id }, known)
}

/** Lists the events of a run up to its current state. */
export const eventsOf = (run: Run): OutboxEvent[] => [
  runEvent('run.created', run),
  ...(run.pending_step === undefined ? [] : [runEvent('run.awaiting_approval', run)]),
  ...(isActive(run.status) ? [] : [runEvent(`run.${run.status}` as EventType, run, run.finished_at)]),
]

export const installationEvent = (
  type: 'installation.created' | 'installation.removed',
  { installation, app }: Installed,
  at: number,
): OutboxEvent => {
  const { id: installation_id, workspace_id } = installation
  return eventAt(type, at, { workspace_id, installation_id, app_id: app.id }, { installation_id, app_id: app.id })
}

export const taskEvent = (type: 'task.created' | 'task.updated', task: Task): OutboxEvent =>
  eventAt(type, task.created_at, { workspace_id: task.workspace_id }, { task_id: task.id })

/** Creates a table in the platform's store with the given records, and a worker for it. */
export const createStatisticsTable = async (
  { store, deps }: TestPlatform,
  records: { apps: readonly Installed[]; runs: readonly Run[]; tasks?: readonly Task[] },
) => {
  const client = DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } })
  const tableName = await store.createTable()
  const table = new Table({ client, tableName, shards: 2, checkWrites: true })
  const writes = [
    ...records.apps.map(({ installation }) => InstallationEntity.replace(installation)),
    ...records.runs.map((run) => RunEntity.create(run)),
    ...(records.tasks ?? []).map((task) => TaskEntity.create(task)),
  ]
  for (let from = 0; from < writes.length; from += 100) await table.transact(writes.slice(from, from + 100))
  const work: WorkerWork = { ...createWorkerWork(deps), table }
  return { table, work, counted: () => countedIn(store.client, tableName) }
}

const SUMS = new Set(['app-total', 'app-day', 'agent-day', 'person-day', 'platform-hour', 'workspace-now'])
const PLACES = new Set(['app-log', 'observed-run', 'active-run', 'counted-state', 'counted-event'])

/** Reads all counters and log entries, independently of their shards. */
const countedIn = async (client: TestPlatform['store']['client'], TableName: string) => {
  const sums: Record<string, Record<string, number>> = {}
  const places: string[] = []
  let ExclusiveStartKey: Record<string, never> | undefined
  do {
    const page = await client.send(new ScanCommand({ TableName, ExclusiveStartKey }))
    for (const raw of page.Items ?? []) {
      const item = unmarshall(raw)
      const { shard: _, ...fields } = withoutTableAttributes(item)
      const entries = Object.entries(fields)
      if (PLACES.has(item._e)) places.push(JSON.stringify([item._e, entries.toSorted()]))
      if (!SUMS.has(item._e)) continue
      const name = JSON.stringify([item._e, ...entries.filter(([, value]) => typeof value === 'string').toSorted()])
      sums[name] ??= {}
      for (const [field, n] of entries) {
        if (typeof n === 'number' && n !== 0) sums[name][field] = Number(((sums[name][field] ?? 0) + n).toFixed(9))
      }
    }
    ExclusiveStartKey = page.LastEvaluatedKey as typeof ExclusiveStartKey
  } while (ExclusiveStartKey)
  for (const [name, fields] of Object.entries(sums)) {
    for (const field of Object.keys(fields)) if (fields[field] === 0) delete fields[field]
    if (Object.keys(fields).length === 0) delete sums[name]
  }
  return { sums, places: places.toSorted() }
}

export type StatisticsTable = Awaited<ReturnType<typeof createStatisticsTable>>

/** Creates apps in workspaces. Each pair shares one. */
export const appsOf = async ({ deps }: TestPlatform, count: number): Promise<Installed[]> => {
  const apps: Installed[] = []
  for (let i = 0; i < count; i++) {
    const before = apps.at(-1)
    apps.push(await installed(deps, i % 2 && before ? { workspaceId: before.workspaceId } : {}))
  }
  return apps
}
