import { useState } from 'preact/hooks'
import type { Failure } from '../../../session/failure.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { patch, refresh, useData } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { AttachButton, Attached, type AttachedFile } from '../ui/attach.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { FileList, Messages } from '../ui/messages.tsx'
import { Rendered } from '../ui/rendered.tsx'
import {
  Assignee,
  assigneeBody,
  assigneeId,
  bodyOf,
  Due,
  draftOf,
  Labels,
  PRIORITIES,
  PriorityMark,
  STATUSES,
  statusLabel,
  type TaskDraft,
  TaskFields,
  type TaskStatus,
} from '../ui/task.tsx'
import { announceUndoable } from '../ui/undo.ts'

type Whole = Schemas['TaskWithConversation']

const Edit = ({ task, onClose }: { task: Whole; onClose: () => void }) => {
  const [draft, setDraft] = useState<TaskDraft>(() => draftOf(task))
  const send = async (): Promise<void> => {
    const { assignee } = draft
    const body = {
      ...bodyOf(draft),
      due_date: draft.due || null,
      ...(assignee !== assigneeId(task) && assigneeBody(assignee)),
    }
    const change = async (to: object): Promise<void> => {
      await unwrap(api.PATCH('/console/tasks/{id}', { params: { path: { id: task.id } }, body: to }))
      await refresh('tasks')
    }
    await change(body)
    // A new assignee may have started already.
    if (assignee !== assigneeId(task)) announce(t('Task saved.'))
    else {
      const before = { ...bodyOf(draftOf(task)), due_date: task.due_date }
      announceUndoable(t('Task saved.'), () => change(before))
    }
  }
  return (
    <Modal title={t('Edit task')} onClose={onClose}>
      <Form verb={t('Save')} send={send} done={onClose}>
        {(failure) => <TaskFields draft={draft} change={setDraft} failure={failure} />}
      </Form>
    </Modal>
  )
}

const Reply = ({ task }: { task: Whole }) => {
  const [text, setText] = useState('')
  const [files, setFiles] = useState<AttachedFile[]>([])
  const [problem, setProblem] = useState<Failure>()
  const send = async (): Promise<void> => {
    const path = { id: task.id }
    const body = { text: text.trim(), attachments: files.map(({ id }) => id) }
    await unwrap(api.POST('/console/tasks/{id}/messages', { params: { path }, body }))
    setText('')
    setFiles([])
    await refresh('tasks')
  }
  return (
    <Form verb={task.status === 'discuss' ? t('Send answer') : t('Send')} send={send} disabled={!text.trim()}>
      <TextField
        label={task.status === 'discuss' ? t('Your answer') : t('Write a comment')}
        hint={task.status === 'discuss' ? t('The agent will continue once you answer.') : undefined}
        rows={3}
        maxLength={4000}
        value={text}
        onText={setText}
      />
      <Attached files={files} onRemove={setFiles} />
      <p>
        <AttachButton
          label={t('Attach files')}
          failure={problem}
          onFailure={setProblem}
          onFile={(file) => setFiles((before) => [...before, file])}
        />
      </p>
    </Form>
  )
}

export default function TaskScreen({ id }: { id: string }) {
  const key = `tasks one ${id}`
  const task = useData<Whole>(key, () => unwrap(api.GET('/console/tasks/{id}', { params: { path: { id } } })))
  const [editing, setEditing] = useState(false)
  const { busy, failure, act } = useAction()
  const path = { id }
  const setStatus = (status: TaskStatus, isUndo = false): Promise<boolean> =>
    act(async () => {
      const before = task.data?.status
      const undo = patch<Whole>(key, (now) => ({ ...now, status }))
      try {
        await unwrap(api.PATCH('/console/tasks/{id}', { params: { path }, body: { status } }))
        if (before && before !== status && !isUndo) {
          announceUndoable(t('Moved to “{status}”.', { status: statusLabel(status) }), async () => {
            if (!(await setStatus(before, true))) throw new Error('not moved back')
          })
        }
      } catch (error) {
        undo()
        throw error
      }
    })
  const start = () =>
    act(async () => {
      await unwrap(api.POST('/console/tasks/{id}/run', { params: { path }, body: {} }))
      announce(t('The agent has started on the task.'))
      await refresh('tasks', 'runs')
    })
  return (
    <Screen
      title={task.data?.title ?? t('Task')}
      back={{ to: '/tasks', label: t('Tasks') }}
      actions={
        task.data && (
          <button type="button" onClick={() => setEditing(true)}>
            {t('Edit')}
          </button>
        )
      }
    >
      <Shown known={task} rows={4}>
        {(data) => (
          <>
            {editing && <Edit task={data} onClose={() => setEditing(false)} />}
            <div class="filters">
              <Field label={t('Status')}>
                {(field) => (
                  <select
                    {...field}
                    value={data.status}
                    onChange={(event) => setStatus(event.currentTarget.value as TaskStatus)}
                  >
                    {STATUSES.map(([one, label]) => (
                      <option key={one} value={one}>
                        {label}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
              {data.assignee && data.status !== 'done' && (
                <button
                  type="button"
                  class={data.status === 'discuss' ? undefined : 'primary'}
                  aria-busy={busy}
                  onClick={start}
                >
                  {data.status === 'todo' ? t('Start the agent') : t('Run the agent again')}
                </button>
              )}
            </div>
            {failure && <Problem failure={failure} />}
            {data.is_private && (
              <p class="note">{t('Only you see this task, because it comes from your private chat.')}</p>
            )}
            {data.percent !== null && data.status === 'in_progress' && (
              <p>
                <progress max={100} value={data.percent} aria-label={t('Progress')} /> {data.percent}%
              </p>
            )}
            {data.description && (
              <div class="card">
                <Markdown text={data.description} />
              </div>
            )}
            <dl class="facts">
              <dt>{t('Assignee')}</dt>
              <dd>
                {data.assignee ? (
                  <a href={`#/agents/${data.assignee.installation_id}`}>
                    <Name>{data.assignee.name}</Name>
                  </a>
                ) : (
                  <Assignee task={data} />
                )}
              </dd>
              <dt>{t('Priority')}</dt>
              <dd>{data.priority === 'normal' ? PRIORITIES.normal : <PriorityMark priority={data.priority} />}</dd>
              {data.due_date && (
                <>
                  <dt>{t('Due date')}</dt>
                  <dd>
                    <Due task={data} />
                  </dd>
                </>
              )}
              {data.labels.length > 0 && (
                <>
                  <dt>{t('Labels')}</dt>
                  <dd>
                    <Labels labels={data.labels} />
                  </dd>
                </>
              )}
              {data.attachments.length > 0 && (
                <>
                  <dt>{t('Files')}</dt>
                  <dd>
                    <FileList files={data.attachments} />
                  </dd>
                </>
              )}
              <dt>{t('Created by')}</dt>
              <dd>
                <Name>{data.created_by.name}</Name> <When at={data.created_at} />
              </dd>
              {data.audience === 'external' && (
                <>
                  <dt>{t('Source')}</dt>
                  <dd>
                    <State name="pending" label={t('Someone outside the workspace')} />
                  </dd>
                </>
              )}
              {data.parent_run_id && (
                <>
                  <dt>{t('Part of')}</dt>
                  <dd>
                    <a href={`#/runs/${data.parent_run_id}`}>{t('a run')}</a>
                  </dd>
                </>
              )}
            </dl>
            {data.result && (
              <section class="section" aria-labelledby="report">
                <h2 id="report">{t('Report')}</h2>
                <div class="card report">
                  <Markdown text={data.result.text} />
                  {data.result.output && Object.keys(data.result.output).length > 0 && (
                    <Rendered label={t('Agent’s output')} value={data.result.output} />
                  )}
                  <p class="hint">
                    <When at={data.result.reported_at} />
                  </p>
                  {data.status === 'review' && (
                    <div class="actions">
                      <button type="button" class="primary" aria-busy={busy} onClick={() => setStatus('done')}>
                        {t('Accept and close')}
                      </button>
                    </div>
                  )}
                </div>
              </section>
            )}
            <section class="section" aria-labelledby="talk">
              <h2 id="talk">{t('Conversation')}</h2>
              {data.conversation.messages.length === 0 && <p class="soft">{t('No messages yet.')}</p>}
              <div aria-live="polite">
                <Messages items={data.conversation.messages} />
              </div>
              <Reply task={data} />
            </section>
          </>
        )}
      </Shown>
    </Screen>
  )
}
