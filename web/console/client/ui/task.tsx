import { useRef, useState } from 'preact/hooks'
import type { Failure } from '../../../session/failure.ts'
import { Field, TextField } from '../../../ui/form.tsx'
import { dateText } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { Initials, Logo, Name } from '../../../ui/text.tsx'
import type { Schemas } from '../api.ts'
import { AssigneeField } from './assignee.tsx'
import { AttachButton, Attached, type AttachedFile } from './attach.tsx'

type Task = Schemas['WorkspaceTask']
export type TaskStatus = Task['status']
export type Priority = Task['priority']

/** Statuses in workflow order. */
export const STATUSES: readonly [status: TaskStatus, label: string][] = [
  ['todo', t('To do')],
  ['in_progress', t('In progress')],
  ['discuss', t('Needs an answer')],
  ['review', t('In review')],
  ['done', t('Done')],
]

export const statusLabel = (status: TaskStatus): string => STATUSES.find(([one]) => one === status)?.[1] ?? status

/** Priorities, highest first. */
export const PRIORITIES: Readonly<Record<Priority, string>> = {
  urgent: t('Urgent'),
  high: t('High'),
  normal: t('Normal'),
  low: t('Low'),
}

/** Id of the agent or person that has a task, or empty. */
export const assigneeId = ({ assignee, assigned_person }: Pick<Task, 'assignee' | 'assigned_person'>): string =>
  assignee?.installation_id ?? assigned_person?.user_id ?? ''

/** Fields of a request that gives a task to somebody. @param id of an agent's installation or a person; empty for nobody */
export const assigneeBody = (id: string) => {
  if (id.startsWith('usr_')) return { user_id: id }
  return id ? { installation_id: id } : { installation_id: null, user_id: null }
}

export const Assignee = ({ task: { assignee, assigned_person } }: { task: Task }) =>
  assignee ? (
    <>
      <Logo name={assignee.name} /> <Name>{assignee.name}</Name>
    </>
  ) : assigned_person ? (
    <>
      <Initials name={assigned_person.name} /> <Name>{assigned_person.name}</Name>
    </>
  ) : (
    t('Unassigned')
  )

/** Calendar date in the browser's time zone. @param days days from today */
export const dateFromToday = (days: number): string => {
  const date = new Date()
  date.setDate(date.getDate() + days)
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`
}

export const Due = ({ task: { due_date, status } }: { task: Pick<Task, 'due_date' | 'status'> }) => {
  if (!due_date) return null
  const isLate = status !== 'done' && due_date < dateFromToday(0)
  return (
    <time dateTime={due_date} class={isLate ? 'due late' : 'due'}>
      {isLate ? t('Overdue: ') : t('Due ')}
      {dateText(due_date)}
    </time>
  )
}

export const PriorityMark = ({ priority }: { priority: Priority }) =>
  priority === 'normal' ? null : <span class={`priority ${priority}`}>{PRIORITIES[priority]}</span>

export const Labels = ({ labels }: { labels: readonly string[] }) =>
  labels.length === 0 ? null : (
    <ul class="tags labels" aria-label={t('Labels')}>
      {labels.map((label) => (
        <li key={label}>
          <Name>{label}</Name>
        </li>
      ))}
    </ul>
  )

/** Input of the task form. */
export interface TaskDraft {
  title: string
  description: string
  /** Id of an installation or a person, or empty. */
  assignee: string
  priority: Priority
  due: string
  labels: string
  files: readonly AttachedFile[]
}

export const NEW_TASK: TaskDraft = {
  title: '',
  description: '',
  assignee: '',
  priority: 'normal',
  due: '',
  labels: '',
  files: [],
}

export const draftOf = (task: Task): TaskDraft => ({
  title: task.title,
  description: task.description,
  assignee: assigneeId(task),
  priority: task.priority,
  due: task.due_date ?? '',
  labels: task.labels.join(', '),
  files: task.attachments.map(({ file_id, name }) => ({ id: file_id, name })),
})

/** Fields of a request that creates or changes a task. */
export const bodyOf = ({ title, description, priority, labels, files }: TaskDraft) => ({
  title: title.trim(),
  description,
  priority,
  labels: labels
    .split(',')
    .map((label) => label.trim())
    .filter(Boolean),
  attachments: files.map(({ id }) => id),
})

export const TaskFields = ({
  draft,
  change,
  failure,
}: {
  draft: TaskDraft
  change: (draft: TaskDraft) => void
  failure: Failure | undefined
}) => {
  const now = useRef(draft)
  now.current = draft
  const [problem, setProblem] = useState<Failure>()
  const problems = fieldProblems(failure)
  const labelProblem = Object.entries(problems).find(([field]) => field.startsWith('labels'))?.[1]
  return (
    <>
      <TextField
        label={t('Title')}
        problem={problems.title}
        required
        maxLength={300}
        value={draft.title}
        onText={(title) => change({ ...draft, title })}
      />
      <TextField
        label={t('Description')}
        problem={problems.description}
        rows={5}
        maxLength={8000}
        value={draft.description}
        onText={(description) => change({ ...draft, description })}
      />
      <AssigneeField
        label={t('Assignee')}
        people
        value={draft.assignee}
        onChange={(assignee) => change({ ...draft, assignee })}
      />
      <div class="pair">
        <Field label={t('Priority')}>
          {(field) => (
            <select
              {...field}
              value={draft.priority}
              onChange={(event) => change({ ...draft, priority: event.currentTarget.value as Priority })}
            >
              {Object.entries(PRIORITIES).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={t('Due date')} problem={problems.due_date}>
          {(field) => (
            <input
              {...field}
              type="date"
              value={draft.due}
              onChange={(event) => change({ ...draft, due: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
      <TextField
        label={t('Labels')}
        hint={t('Separate them with commas. Up to 10.')}
        problem={labelProblem}
        value={draft.labels}
        onText={(labels) => change({ ...draft, labels })}
      />
      <Attached files={draft.files} onRemove={(files) => change({ ...draft, files })} />
      <AttachButton
        label={t('Attach files')}
        failure={problem}
        onFailure={setProblem}
        onFile={(file) => change({ ...now.current, files: [...now.current.files, file] })}
      />
    </>
  )
}
