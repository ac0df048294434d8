import { ConversationEntity, MessageEntity } from '../../../entities/conversations.ts'
import type { Installation } from '../../../entities/installations.ts'
import { NotificationEntity } from '../../../entities/notifications.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '../../../entities/runs.ts'
import type { Seed } from '../../../entities/sandbox.ts'
import { AssignedTaskEntity, type Task, TaskEntity } from '../../../entities/tasks.ts'
import { MINUTE, SECOND } from '../../../kernel/clock.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Write } from '../../../table/entity.ts'
import { newConversation, newMessage } from '../../conversations/new.ts'
import type { Work } from '../../deps.ts'
import { newNotification } from '../../notifications/new.ts'
import { entered } from '../../runs/numbers.ts'
import { newRun } from '../../runs/start.ts'
import { prepareSteps } from '../../runs/steps.ts'
import { newTask } from '../../tasks/create.ts'
import { MESSAGES, NOTIFICATIONS, RUNS, TASKS } from './contents.ts'

/** The trigger of seeded runs. */
const SEED_TRIGGER = 'seed'

/** Who a seeded workspace belongs to, and the agents that its records speak of. */
export interface Scene {
  seedId: string
  workspaceId: string
  owner: { id: string; name: string }
  agents: [Installation, ...Installation[]]
}

type Made = Pick<Seed, 'task_ids' | 'runs' | 'notification_ids' | 'conversation_ids'>

/**
 * Tasks, runs, notifications and a conversation, made by the same constructors as real ones and then aged: what already
 * happened wakes no dispatcher, tells nobody and counts nowhere, so only the records are written.
 */
export const seedRecords = async (
  work: Work,
  scene: Scene,
): Promise<{ made: Made; messages: number; writes: Write[] }> => {
  const tasks = TASKS.map((_, i) => seedTask(work, scene, i))
  const runs = await Promise.all(RUNS.map((_, i) => seedRun(work, scene, i)))
  const notifications = NOTIFICATIONS.map((_, i) => seedNotification(work, scene, i))
  const conversation = seedConversation(work, scene)
  return {
    made: {
      task_ids: tasks.map(({ task }) => task.id),
      runs: runs.map(({ run }) => run),
      notification_ids: notifications.map(({ id }) => id),
      conversation_ids: [...tasks.map(({ task }) => task.conversation_id), conversation.id],
    },
    messages: MESSAGES.length,
    writes: [...tasks, ...runs, ...notifications, conversation].flatMap(({ writes }) => writes),
  }
}

/** The work as it was so many minutes ago; its ids sort by then. */
const past = (work: Work, { seedId }: Scene, what: string, ago: number): Work => {
  const at = work.clock.now() - ago * MINUTE
  let made = 0
  return {
    ...work,
    clock: { now: () => at },
    id: (kind) => derivedId(kind, at, `${seedId}\n${what}\n${made++}`),
  }
}

const agentFor = ({ agents }: Scene, i: number): Installation => agents[i % agents.length] ?? agents[0]

const at = <T>(list: readonly T[], i: number): T => list[i] as T

const seedTask = (work: Work, scene: Scene, i: number) => {
  const { ago, title, description, status, report } = at(TASKS, i)
  const then = past(work, scene, `task ${i}`, ago)
  const made = newTask(then, {
    workspace_id: scene.workspaceId,
    title,
    description,
    audience: 'member',
    created_by: { type: 'user', ...scene.owner },
    chain_depth: 0,
    assignee: agentFor(scene, i),
  })
  const task: Task = {
    ...made.task,
    status,
    ...(report !== undefined && { result: { text: report, at: then.clock.now() } }),
  }
  const beside = made.writes.filter(({ entity }) =>
    [ConversationEntity.name, AssignedTaskEntity.name].includes(entity.name),
  )
  return { task, writes: [TaskEntity.create(task), ...beside] }
}

const seedRun = async (work: Work, scene: Scene, i: number) => {
  const { ago, status, seconds, input, output, error } = at(RUNS, i)
  const then = past(work, scene, `run ${i}`, ago)
  const installation = agentFor(scene, i)
  const { run: queued, writes } = await newRun(then, {
    installation,
    input,
    trigger: SEED_TRIGGER,
    actor: scene.owner,
  })
  const running: Run = { ...queued, ...entered(queued, 'running'), status: 'running' }
  const said = error?.error_message ?? output?.text ?? 'I begin.'
  const steps = await prepareSteps(then, running, [{ type: 'message', output: { text: said } }])
  const ended = {
    ...running,
    ...steps.counts,
    ...entered({ ...running, ...steps.counts }, status),
    status,
    ...(output && { output: { json: JSON.stringify(output) }, cost_units: 1 }),
    ...error,
    started_at: then.clock.now(),
    finished_at: then.clock.now() + seconds * SECOND,
    due_at: undefined,
  }
  const listed = writes.filter(({ entity }) => entity.name === WorkspaceRunEntity.name)
  return {
    run: { installation_id: installation.id, run_id: ended.id, steps: steps.counts.step_count },
    writes: [RunEntity.create(ended), ...listed, ...steps.writes],
  }
}

const seedNotification = (work: Work, scene: Scene, i: number) => {
  const { ago, ...fields } = at(NOTIFICATIONS, i)
  const { id, app_id } = agentFor(scene, i)
  const { notification, writes } = newNotification(past(work, scene, `notification ${i}`, ago), {
    ...fields,
    workspace_id: scene.workspaceId,
    installation_id: id,
    app_id,
  })
  return { id: notification.id, writes: writes.filter(({ entity }) => entity.name === NotificationEntity.name) }
}

const seedConversation = (work: Work, scene: Scene) => {
  const [agent] = scene.agents
  const first = at(MESSAGES, 0)
  const { conversation } = newConversation(past(work, scene, 'conversation', first.ago), {
    workspace_id: scene.workspaceId,
    kind: 'agent',
    title: agent.app_name,
    installation_id: agent.id,
  })
  const authors = {
    user: { type: 'user' as const, ...scene.owner },
    agent: { type: 'agent' as const, id: agent.id, name: agent.app_name },
  }
  const messages = MESSAGES.map(({ ago, by, text }, i) =>
    newMessage(past(work, scene, `message ${i}`, ago), conversation, { author: authors[by], text }),
  )
  const last_message_at = messages.at(-1)?.message.created_at
  return {
    id: conversation.id,
    writes: [
      ConversationEntity.create({ ...conversation, last_message_at }),
      ...messages.map(({ message }) => MessageEntity.create(message)),
    ],
  }
}
