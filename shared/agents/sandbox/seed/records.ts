import type { Installation } from '#shared/access/installations/index.ts'
import type { Work, WorkWrite } from '#shared/foundation/work/index.ts'
import { NotificationEntity, newNotification } from '#shared/identity/notifications/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { derivedId } from '#shared/kernel/ids.ts'
import { chatPlace } from '#shared/work/answering/index.ts'
import {
  ConversationEntity,
  MessageEntity,
  newConversation,
  newMessage,
  PersonChatEntity,
} from '#shared/work/conversations/index.ts'
import {
  emitRunEvent,
  newRun,
  prepareSteps,
  type Run,
  RunEntity,
  stateFields,
  WorkspaceRunEntity,
} from '#shared/work/runs/index.ts'
import { AssignedTaskEntity, newTask, type Task, TaskEntity } from '#shared/work/tasks/index.ts'
import type { Seed } from '../entity.ts'
import { MESSAGES, NOTIFICATIONS, RUNS, TASKS } from './contents.ts'

/** Trigger of seeded runs. */
const SEED_TRIGGER = 'seed'

/** Owner of a seeded workspace, and the agents that appear in its records. */
export interface Scene {
  seedId: string
  workspaceId: string
  owner: { id: string; name: string }
  agents: [Installation, ...Installation[]]
  /** The owner looks at the console: figures count the runs, and the conversation is theirs. */
  isForPerson?: boolean
}

type Made = Pick<Seed, 'task_ids' | 'runs' | 'notification_ids' | 'conversation_ids'>

/**
 * Creates tasks, runs, notifications and a conversation with the same constructors as real ones, then backdates them.
 * Only the records are written: past events wake no dispatcher, notify nobody and count in no statistics unless
 * they are for a person.
 */
export const seedRecords = async (
  work: Work,
  scene: Scene,
): Promise<{ made: Made; messages: number; writes: WorkWrite[] }> => {
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

/** Returns a context whose clock is `ago` minutes back, so that ids sort by that time. */
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
  const related = made.writes.filter(({ entity }) =>
    [ConversationEntity.name, AssignedTaskEntity.name].includes(entity.name),
  )
  return { task, writes: [TaskEntity.create(task), ...related] }
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
  const running: Run = { ...queued, ...stateFields(queued, 'running'), status: 'running' }
  const text = error?.error_message ?? output?.text ?? 'I begin.'
  const steps = await prepareSteps(then, running, [{ type: 'message', output: { text } }])
  const ended = {
    ...running,
    ...steps.counts,
    ...stateFields({ ...running, ...steps.counts }, status),
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
    writes: [
      RunEntity.create(ended),
      ...listed,
      ...steps.writes,
      ...(scene.isForPerson
        ? [emitRunEvent(past(work, scene, `end ${i}`, ago - seconds / 60), `run.${status}`, ended)]
        : []),
    ],
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
    ...(scene.isForPerson && { user_id: scene.owner.id }),
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
      ...(scene.isForPerson
        ? [
            PersonChatEntity.create({
              workspace_id: scene.workspaceId,
              user_id: scene.owner.id,
              place: chatPlace(conversation),
              conversation_id: conversation.id,
            }),
          ]
        : []),
    ],
  }
}
