import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { Task } from './entity.ts'
import type { TaskView } from './schemas.ts'

/** Presents a task as in the API. */
export const presentTask = async (deps: Pick<Deps, 'objects'>, task: Task): Promise<TaskView> => ({
  id: task.id,
  title: task.title,
  description: task.description,
  status: task.status,
  audience: task.audience,
  assignee: task.assignee
    ? { installation_id: task.assignee.installation_id, agent: task.assignee.slug, name: task.assignee.name }
    : null,
  assigned_person: task.person ? { user_id: task.person.id, name: task.person.name } : null,
  priority: task.priority ?? 'normal',
  due_date: task.due_date ?? null,
  labels: task.labels ?? [],
  attachments: task.attachments ?? [],
  created_by: task.created_by,
  is_private: task.private_to !== undefined,
  conversation_id: task.conversation_id,
  parent_run_id: task.parent_run_id ?? null,
  chain_depth: task.chain_depth,
  question: task.question ? { text: task.question.text, asked_at: iso(task.question.at) } : null,
  percent: task.percent ?? null,
  result: task.result ? await presentResult(deps, task.result) : null,
  created_at: iso(task.created_at),
  updated_at: iso(task.updated_at),
})

const presentResult = async (
  deps: Pick<Deps, 'objects'>,
  { text, output, at }: NonNullable<Task['result']>,
): Promise<TaskView['result']> => ({
  text,
  output: output ? ((await loadPayload(deps, output)) as Record<string, unknown> | null) : null,
  reported_at: iso(at),
})
