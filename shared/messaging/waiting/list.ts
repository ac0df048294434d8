import { InstallationEntity } from '#shared/access/installations/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { translator } from '#shared/kernel/messages.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { loadSnoozes } from '#shared/work/desk/index.ts'
import { listPendingInputs } from '#shared/work/questions/index.ts'
import { ApprovalEntity, RunEntity, searchRuns } from '#shared/work/runs/index.ts'
import { type Task, TaskEntity } from '#shared/work/tasks/index.ts'
import type { AccountViewer } from '#shared/work/threads/index.ts'
import { listDrafts } from '../messenger/index.ts'
import type { WaitingItem } from './schemas.ts'

type Reading = Pick<Deps, 'table' | 'objects' | 'clock'>

type Asker = AccountViewer & { user: { locale: string } }

const TITLE = 200

const EMPTY = {
  agent: null,
  run_id: null,
  text: null,
  chat_id: null,
  status: null,
  tool: null,
  request: null,
  amount: null,
  reason: null,
  is_yours: true,
  bundle: null,
  expires_at: null,
  snoozed_until: null,
}

/** Most items of each kind. Nobody works through more at a time, and the rest follows. */
const MOST = LIMITS.pageMax

/** Lists all that waits for a member: first what expires, the soonest first, then the rest, the oldest first. */
export const listWaiting = async (deps: Reading, asker: Asker): Promise<WaitingItem[]> => {
  const [approvals, questions, tasks, drafts, snoozes] = await Promise.all([
    waitingApprovals(deps, asker),
    waitingQuestions(deps, asker),
    waitingTasks(deps, asker),
    waitingDrafts(deps, asker),
    loadSnoozes(deps, { workspace_id: asker.workspace.id, user_id: asker.user.id }),
  ])
  const all: WaitingItem[] = [...approvals, ...questions, ...tasks, ...drafts]
  const sort = ({ expires_at, created_at }: WaitingItem): string =>
    expires_at === null ? `1${created_at}` : `0${expires_at}`
  const named = await withNames(deps, asker.workspace.id, all)
  return named
    .map((item) => ({ ...item, snoozed_until: snoozes.has(item.id) ? iso(snoozes.get(item.id) as number) : null }))
    .sort((a, b) => (sort(a) < sort(b) ? -1 : 1))
}

/** Fills in the names of agents, which are known by the ids of their installations until here. */
const withNames = async ({ table }: Reading, workspace_id: string, items: WaitingItem[]): Promise<WaitingItem[]> => {
  const ids = [...new Set(items.flatMap(({ agent }) => agent?.id ?? []))]
  const found = await table.getAll(ids.map((id) => InstallationEntity.ref({ workspace_id, id })))
  const names = new Map(found.flatMap((one) => (one ? [[one.id, one.app_name]] : [])))
  return items.map((item) =>
    item.agent ? { ...item, agent: { ...item.agent, name: names.get(item.agent.id) ?? item.agent.name } } : item,
  )
}

const waitingApprovals = async (deps: Reading, { workspace, user }: AccountViewer): Promise<WaitingItem[]> => {
  const page = await searchRuns(deps, workspace.id, user.id, { status: 'awaiting_approval' }, { limit: MOST })
  const runs = page.items.flatMap((run) => (run.pending_step === undefined ? [] : [{ run, step: run.pending_step }]))
  const approvals = await deps.table.getAll(
    runs.map(({ run, step }) => ApprovalEntity.ref({ run_id: run.id, step_id: step })),
  )
  return runs.flatMap(({ run }, i): WaitingItem[] => {
    const approval = approvals[i]
    if (approval?.status !== 'pending') return []
    const { step_id, tool, request, amount, reason, call_hash, installation_id } = approval
    return [
      {
        ...EMPTY,
        kind: 'approval',
        id: step_id,
        title: request ? `${request.method} to ${new URL(request.origin).host}` : `Use ${tool}`,
        agent: { id: installation_id, name: run.agent_id },
        run_id: run.id,
        tool,
        request: request ?? null,
        amount: amount ? { field: amount.field, value: amount.value, currency: amount.currency ?? null } : null,
        reason: reason ?? null,
        is_yours: run.actor?.id === user.id,
        bundle: sha256(`${installation_id}\n${call_hash}`),
        created_at: iso(approval.created_at),
        expires_at: iso(approval.due_at ?? approval.created_at + DAY),
      },
    ]
  })
}

const waitingQuestions = async (deps: Reading, { workspace, user }: Asker): Promise<WaitingItem[]> => {
  const { items } = await listPendingInputs(deps, workspace.id, user.id, { limit: MOST })
  const inLanguage = translator(user.locale)
  const runs = await deps.table.getAll(
    items.map(({ installation_id, run_id: id }) => RunEntity.ref({ installation_id, id })),
  )
  return Promise.all(
    items.map(async (asked, i): Promise<WaitingItem> => {
      const stored = (await loadPayload(deps, asked.asked)) as { input_requests?: Record<string, unknown> } | null
      const [question] = Object.values(stored?.input_requests ?? {}) as { message?: unknown }[]
      return {
        ...EMPTY,
        kind: 'question',
        id: asked.step_id,
        title:
          typeof question?.message === 'string'
            ? truncate(question.message, TITLE)
            : inLanguage('An agent has a question'),
        agent: { id: asked.installation_id, name: 'Agent' },
        run_id: asked.run_id,
        tool: asked.tool ?? null,
        is_yours: runs[i]?.actor?.id === user.id,
        created_at: iso(asked.created_at),
        expires_at: iso(asked.due_at ?? asked.created_at + DAY),
      }
    }),
  )
}

/** Newest tasks among which those that need a person are looked for. */
const LOOKED_AT = 1_000
const STEP = 200

const waitingTasks = async ({ table }: Reading, { workspace, user }: AccountViewer): Promise<WaitingItem[]> => {
  const found: Task[] = []
  let after: string | undefined
  for (let looked = 0; looked < LOOKED_AT && found.length < MOST; looked += STEP) {
    const page = await table.query(TaskEntity, { workspace_id: workspace.id }, { limit: STEP, after })
    found.push(
      ...page.items.filter(
        (task) => (task.status === 'discuss' || task.status === 'review') && isVisibleTo(user.id, task),
      ),
    )
    after = page.next
    if (after === undefined) break
  }
  return found.slice(0, MOST).map((task) => ({
    ...EMPTY,
    kind: 'task',
    id: task.id,
    title: task.title,
    agent: task.assignee?.installation_id ? { id: task.assignee.installation_id, name: 'Agent' } : null,
    status: task.status,
    is_yours: [task.created_by.id, task.person?.id, task.actor?.id].includes(user.id),
    created_at: iso(task.updated_at),
  }))
}

const waitingDrafts = async (deps: Reading, asker: AccountViewer): Promise<WaitingItem[]> =>
  (await listDrafts(deps, asker)).map((draft) => ({
    ...EMPTY,
    kind: 'draft',
    id: draft.id,
    title: truncate(draft.text, TITLE),
    agent: { id: draft.author.id, name: draft.author.name },
    text: draft.text,
    chat_id: draft.thread_id,
    created_at: iso(draft.created_at),
  }))
