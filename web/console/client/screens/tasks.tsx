import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { type Page, patch, refresh, usePages } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Form } from '../../../ui/form.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { navigate } from '../../../ui/router.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { STATUSES, statusLabel, type TaskDraft, TaskFields, type TaskStatus } from '../ui/task.tsx'

type Task = Schemas['Task']

const KEY = 'tasks list'

const NewTask = ({ onClose }: { onClose: () => void }) => {
  const [draft, setDraft] = useState<TaskDraft>({ title: '', description: '', agent: '' })
  const [start, setStart] = useState(true)
  const { agent, description } = draft
  const send = async (): Promise<void> => {
    const body = { title: draft.title.trim(), description, ...(agent && { installation_id: agent }) }
    const task = await unwrap(api.POST('/console/tasks', { body }))
    await refresh('tasks')
    onClose()
    if (agent && start) {
      const run = await api.POST('/console/tasks/{id}/run', { params: { path: { id: task.id } }, body: {} })
      // The task exists. Its page shows the status and offers to start the agent again.
      if (run.error)
        announce('The task was created, but its agent couldn’t be started. Try again on the task page.', {
          to: `/tasks/${task.id}`,
          label: 'Open',
        })
    }
    navigate(`/tasks/${task.id}`)
  }
  return (
    <Modal title="New task" onClose={onClose}>
      <Form verb="Create" send={send}>
        {(failure) => (
          <>
            <TaskFields draft={draft} change={setDraft} failure={failure} />
            {agent && (
              <label class="tick">
                <input type="checkbox" checked={start} onChange={(event) => setStart(event.currentTarget.checked)} />
                <span>Start the agent now</span>
              </label>
            )}
          </>
        )}
      </Form>
    </Modal>
  )
}

export default function Tasks() {
  const [creating, setCreating] = useState(false)
  const [over, setOver] = useState<TaskStatus>()
  const { failure, act } = useAction()
  const tasks = usePages<Task>(KEY, (cursor) =>
    unwrap(api.GET('/console/tasks', { params: { query: { limit: 100, ...(cursor && { cursor }) } } })),
  )
  const move = (id: string, status: TaskStatus): void => {
    // Optimistic update, undone if the request fails.
    const undo = patch<Page<Task>>(KEY, (page) => ({
      ...page,
      items: page.items.map((task) => (task.id === id ? { ...task, status } : task)),
    }))
    void act(async () => {
      try {
        await unwrap(api.PATCH('/console/tasks/{id}', { params: { path: { id } }, body: { status } }))
        announce(`Moved to “${statusLabel(status)}”.`, { to: `/tasks/${id}`, label: 'Open' })
      } catch (error) {
        undo()
        throw error
      }
    })
  }
  return (
    <Screen
      title="Tasks"
      wide
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          New task
        </button>
      }
    >
      {creating && <NewTask onClose={() => setCreating(false)} />}
      {failure && <Problem failure={failure} />}
      <Shown known={tasks} rows={3} tall>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No tasks yet">
              <p>Create a task, assign it to an agent and follow its progress here.</p>
            </Empty>
          ) : (
            <div class="board">
              {STATUSES.map(([status, label]) => {
                const own = items.filter((task) => task.status === status)
                return (
                  <section
                    key={status}
                    class={over === status ? 'column over' : 'column'}
                    aria-labelledby={`column-${status}`}
                    onDragOver={(event) => {
                      event.preventDefault()
                      setOver(status)
                    }}
                    onDragLeave={() => setOver(undefined)}
                    onDrop={(event) => {
                      event.preventDefault()
                      setOver(undefined)
                      const id = event.dataTransfer?.getData('text/plain') ?? ''
                      const task = items.find((one) => one.id === id)
                      if (task && task.status !== status) move(id, status)
                    }}
                  >
                    <h2 id={`column-${status}`}>
                      {label} <span class="soft">{own.length}</span>
                    </h2>
                    <ul>
                      {own.map((task) => (
                        <li
                          key={task.id}
                          class="task"
                          draggable
                          onDragStart={(event) => event.dataTransfer?.setData('text/plain', task.id)}
                        >
                          <a href={`#/tasks/${task.id}`}>
                            <Name>{task.title}</Name>
                          </a>
                          <p class="soft">{task.assignee ? <Name>{task.assignee.name}</Name> : 'Unassigned'}</p>
                          {task.percent !== null && status === 'in_progress' && (
                            <progress max={100} value={task.percent} aria-label="Progress" />
                          )}
                          <select
                            aria-label={`Move “${task.title}” to`}
                            value={status}
                            onChange={(event) => move(task.id, event.currentTarget.value as TaskStatus)}
                          >
                            {STATUSES.map(([one, name]) => (
                              <option key={one} value={one}>
                                {name}
                              </option>
                            ))}
                          </select>
                        </li>
                      ))}
                    </ul>
                  </section>
                )
              })}
            </div>
          )
        }
      </Shown>
      <More more={tasks.more} />
    </Screen>
  )
}
