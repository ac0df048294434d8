import type { Failure } from '../../../session/failure.ts'
import { TextField } from '../../../ui/form.tsx'
import { fieldProblems } from '../../../ui/problem.tsx'
import type { Schemas } from '../api.ts'
import { AssigneeField } from './assignee.tsx'

export type TaskStatus = Schemas['Task']['status']

/** Statuses in workflow order. */
export const STATUSES: readonly [status: TaskStatus, label: string][] = [
  ['todo', 'To do'],
  ['in_progress', 'In progress'],
  ['discuss', 'Needs an answer'],
  ['review', 'In review'],
  ['done', 'Done'],
]

export const statusLabel = (status: TaskStatus): string => STATUSES.find(([one]) => one === status)?.[1] ?? status

/** Input of the task form. `agent` is an installation's id, or empty. */
export interface TaskDraft {
  title: string
  description: string
  agent: string
}

export const TaskFields = ({
  draft,
  change,
  failure,
}: {
  draft: TaskDraft
  change: (draft: TaskDraft) => void
  failure: Failure | undefined
}) => (
  <>
    <TextField
      label="Title"
      problem={fieldProblems(failure).title}
      required
      maxLength={300}
      value={draft.title}
      onText={(title) => change({ ...draft, title })}
    />
    <TextField
      label="Description"
      problem={fieldProblems(failure).description}
      rows={6}
      maxLength={8000}
      value={draft.description}
      onText={(description) => change({ ...draft, description })}
    />
    <AssigneeField value={draft.agent} onChange={(agent) => change({ ...draft, agent })} />
  </>
)
