import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { type Page, patch, refresh, usePages } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Choice, filter, filters, Search, setFilter } from '../../../ui/filters.tsx'
import { Field, Form } from '../../../ui/form.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { navigate } from '../../../ui/router.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { AssigneeField, AssigneeOptions } from '../ui/assignee.tsx'
import { plainText } from '../ui/plain-text.ts'
import {
  Assignee,
  assigneeBody,
  assigneeId,
  bodyOf,
  Due,
  dateFromToday,
  Labels,
  NEW_TASK,
  PRIORITIES,
  type Priority,
  PriorityMark,
  STATUSES,
  statusLabel,
  type TaskDraft,
  TaskFields,
  type TaskStatus,
} from '../ui/task.tsx'
import { announceUndoable } from '../ui/undo.ts'
import { Windowed } from '../ui/windowed.tsx'

type Task = Schemas['WorkspaceTask']

const TaskList = part(async () => ({ default: (await import('../ui/task-list.tsx')).TaskList }))

const FILTERS = ['status', 'assignee', 'priority', 'label', 'due', 'q'] as const

/** Most tasks that load by themselves. */
const LOADED_AT_ONCE = 2_000

const NewTask = ({ onClose }: { onClose: () => void }) => {
  const [draft, setDraft] = useState<TaskDraft>(NEW_TASK)
  const [start, setStart] = useState(true)
  const { assignee, due } = draft
  const agent = assignee.startsWith('ins_')
  const send = async (): Promise<void> => {
    const body = {
      ...bodyOf(draft),
      ...(due && { due_date: due }),
      ...(assignee && (agent ? { installation_id: assignee } : { user_id: assignee })),
    }
    const task = await unwrap(api.POST('/console/tasks', { body }))
    await refresh('tasks')
    onClose()
    if (agent && start) {
      const run = await api.POST('/console/tasks/{id}/run', { params: { path: { id: task.id } }, body: {} })
      // The task exists. Its page shows the status and offers to start the agent again.
      if (run.error)
        announce(t('The task was created, but its agent couldn’t be started. Try again on the task page.'), {
          to: `/tasks/${task.id}`,
          label: t('Open'),
        })
    }
    navigate(`/tasks/${task.id}`)
  }
  return (
    <Modal title={t('New task')} onClose={onClose}>
      <Form verb={t('Create')} send={send}>
        {(failure) => (
          <>
            <TaskFields draft={draft} change={setDraft} failure={failure} />
            {agent && (
              <label class="tick">
                <input type="checkbox" checked={start} onChange={(event) => setStart(event.currentTarget.checked)} />
                <span>{t('Start the agent now')}</span>
              </label>
            )}
          </>
        )}
      </Form>
    </Modal>
  )
}

/** Gives a task to an agent or a person. */
const Assign = ({ task, onClose }: { task: Task; onClose: () => void }) => {
  const [assignee, setAssignee] = useState(assigneeId(task))
  const send = async (): Promise<void> => {
    const path = { id: task.id }
    await unwrap(api.PATCH('/console/tasks/{id}', { params: { path }, body: assigneeBody(assignee) }))
    await refresh('tasks')
  }
  return (
    <Modal title={t('Assign “{title}”', { title: task.title })} onClose={onClose}>
      <Form verb={t('Save')} send={send} done={onClose}>
        <AssigneeField label={t('Assignee')} people value={assignee} onChange={setAssignee} />
      </Form>
    </Modal>
  )
}

const AssigneeFilter = () => (
  <Field label={t('Assignee')}>
    {(field) => (
      <select
        {...field}
        value={filter('assignee')}
        onChange={({ currentTarget }) => setFilter('assignee', currentTarget.value)}
      >
        <option value="">{t('All')}</option>
        <option value="none">{t('Unassigned')}</option>
        <AssigneeOptions value={filter('assignee')} people />
      </select>
    )}
  </Field>
)

const TaskFilters = ({ items }: { items: readonly Task[] }) => {
  const set = filters(...FILTERS)
  const [open, setOpen] = useState(Object.keys(set).some((name) => name !== 'q'))
  const labels = [...new Set([...items.flatMap((task) => task.labels), ...(set.label ? [set.label] : [])])].sort()
  return (
    <search class={open ? 'filters many open' : 'filters many'}>
      <Search name="q" label={t('Search')} hint={t('Title or label')} />
      <button type="button" class="only-narrow" aria-expanded={open} onClick={() => setOpen(!open)}>
        {t('Filters')}
      </button>
      <Choice name="status" label={t('Status')} options={Object.fromEntries(STATUSES)} />
      <AssigneeFilter />
      <Choice name="priority" label={t('Priority')} options={PRIORITIES} />
      <Choice name="due" label={t('Due')} options={{ '0': t('Today or overdue'), '7': t('Within a week') }} />
      {labels.length > 0 && (
        <Choice name="label" label={t('Label')} options={Object.fromEntries(labels.map((label) => [label, label]))} />
      )}
    </search>
  )
}

/** The agent's question or report, if it waits for a person. */
const saidBy = ({ status, question, result }: Task): string | undefined =>
  status === 'discuss' ? question?.text : status === 'review' ? result?.text : undefined

const hasProgress = ({ percent, status }: Task): boolean => percent !== null && status === 'in_progress'

const hasMarks = ({ priority, due_date }: Task): boolean => priority !== 'normal' || due_date !== null

/** Height of a card with the gap below it, in rem, as the style sheet lays it out. Touch needs larger controls. */
const BASE = matchMedia('(pointer: coarse)').matches ? 7.3 : 6.5
const heightOf = (task: Task): number =>
  BASE +
  (saidBy(task) ? 2.9 : 0) +
  (task.labels.length > 0 ? 2 : 0) +
  (hasProgress(task) ? 0.8 : 0) +
  (hasMarks(task) ? 1.6 : 0)

interface Moves {
  move(id: string, to: TaskStatus): Promise<boolean>
}

interface Keys extends Moves {
  prioritize(id: string, priority: Priority): void
  assign(task: Task): void
  create(): void
}

/** Priorities by the keys that set them, as in other trackers. */
const PRIORITY_KEYS: Readonly<Record<string, Priority>> = { 1: 'urgent', 2: 'high', 3: 'normal', 4: 'low' }

const Card = ({ task, move }: { task: Task } & Moves) => {
  const { id, title, status, labels, percent, priority } = task
  const said = saidBy(task)
  return (
    <article
      class="task"
      data-task={id}
      draggable
      onDragStart={(event) => event.dataTransfer?.setData('text/plain', id)}
    >
      <a href={`#/tasks/${id}`}>
        <Name>{title}</Name>
      </a>
      {said && (
        <p class="said">
          <span class="unseen">{status === 'discuss' ? t('Question: ') : t('Report: ')}</span>
          <Name>{plainText(said)}</Name>
        </p>
      )}
      <Labels labels={labels} />
      {hasProgress(task) && <progress max={100} value={percent ?? 0} aria-label={t('Progress')} />}
      {hasMarks(task) && (
        <p class="marks">
          <PriorityMark priority={priority} /> <Due task={task} />
        </p>
      )}
      <div class="foot">
        <p class="who">
          <Assignee task={task} />
        </p>
        <span class="move">
          <Icon name="more" />
          <select
            aria-label={t('Move “{title}” to', { title })}
            value={status}
            onChange={(event) => move(id, event.currentTarget.value as TaskStatus)}
          >
            {STATUSES.map(([one, name]) => (
              <option key={one} value={one}>
                {name}
              </option>
            ))}
          </select>
        </span>
      </div>
    </article>
  )
}

interface Focus {
  id: string
  /** Raised with each key, so that the same card can take the focus again. */
  turn: number
}

const Board = ({ items, more, move, prioritize, assign, create }: { items: readonly Task[]; more: boolean } & Keys) => {
  const [over, setOver] = useState<TaskStatus>()
  const [focus, setFocus] = useState<Focus>()
  const board = useRef<HTMLDivElement>(null)
  const wanted = filter('status')
  const columns = STATUSES.filter(([status]) => !wanted || status === wanted).map(([status, label]) => ({
    status,
    label,
    own: items.filter((task) => task.status === status),
  }))
  const focused = items.find(({ id }) => id === focus?.id)?.status
  useLayoutEffect(() => {
    if (!focus) return
    const card = board.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(focus.id)}"]`)
    card?.querySelector('a')?.focus({ preventScroll: true })
    card?.scrollIntoView({ block: 'nearest' })
  }, [focus, focused])
  const onKeyDown = (event: KeyboardEvent): void => {
    const { target, key } = event
    if (!(target instanceof HTMLElement) || target.matches('select') || event.ctrlKey || event.metaKey || event.altKey)
      return
    const id = target.closest<HTMLElement>('[data-task]')?.dataset.task
    const column = columns.findIndex(({ own }) => own.some((task) => task.id === id))
    const at = columns[column]?.own.findIndex((task) => task.id === id) ?? -1
    if (!id || at < 0) return
    const task = items.find((one) => one.id === id)
    const priority = PRIORITY_KEYS[key]
    const act =
      (priority && (() => prioritize(id, priority))) ||
      (key === 'a' && task && (() => assign(task))) ||
      (key === 'c' && create)
    if (act) {
      event.preventDefault()
      setFocus({ id, turn: (focus?.turn ?? 0) + 1 })
      act()
      return
    }
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[key]
    if (!step) return
    event.preventDefault()
    const isAcross = key === 'ArrowRight' || key === 'ArrowLeft'
    if (isAcross && event.shiftKey) {
      const status = columns[column]?.status
      const to = STATUSES[STATUSES.findIndex(([one]) => one === status) + step]?.[0]
      if (to) move(id, to)
      setFocus({ id, turn: (focus?.turn ?? 0) + 1 })
      return
    }
    const next = isAcross
      ? (step > 0 ? columns.slice(column + 1) : columns.slice(0, column).reverse()).find(({ own }) => own.length > 0)
      : undefined
    const to = isAcross ? next?.own[Math.min(at, next.own.length - 1)] : columns[column]?.own[at + step]
    if (to) setFocus({ id: to.id, turn: (focus?.turn ?? 0) + 1 })
  }
  return (
    // The cards' links take the keys.
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <div
      ref={board}
      class={wanted ? 'board single' : 'board'}
      onKeyDown={onKeyDown}
      onFocusOut={(event) => {
        if (!board.current?.contains(event.relatedTarget as Node | null) && event.relatedTarget) setFocus(undefined)
      }}
    >
      {columns.map(({ status, label, own }) => (
        <section
          key={status}
          class={`column${over === status ? ' over' : ''}${own.length === 0 ? ' vacant' : ''}`}
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
            {label}{' '}
            <span class="soft">
              {own.length}
              {more && '+'}
            </span>
          </h2>
          <div class="cards">
            <Windowed items={own} heightOf={heightOf} keep={focus?.id}>
              {(task, placed) => (
                <li key={task.id} {...placed}>
                  <Card task={task} move={move} />
                </li>
              )}
            </Windowed>
          </div>
        </section>
      ))}
    </div>
  )
}

export default function Tasks() {
  const [creating, setCreating] = useState(false)
  const [assigned, setAssigned] = useState<Task>()
  const { failure, act } = useAction()
  const { due, assignee, ...set } = filters(...FILTERS)
  const query = {
    ...set,
    ...(assignee && { assignee_id: assignee }),
    ...(due && { due_until: dateFromToday(Number(due)) }),
  }
  const key = `tasks list ${JSON.stringify(query)}`
  const tasks = usePages<Task>(key, (cursor) =>
    unwrap(
      api.GET('/console/tasks', {
        params: { query: { ...(query as object), limit: 100, ...(cursor && { cursor }) } },
      }),
    ),
  )
  const [stopped, setStopped] = useState('')
  const { more, items } = tasks
  const loadsMore = more !== undefined && (items?.length ?? 0) < LOADED_AT_ONCE && stopped !== key
  const loaded = tasks.data
  const asked = useRef<object>(undefined)
  useEffect(() => {
    // Once for each state of the list, which every page changes.
    if (!loaded || !loadsMore || asked.current === loaded) return
    asked.current = loaded
    more?.().catch(() => setStopped(key))
  }, [loaded, loadsMore, more, key])
  const move = (id: string, status: TaskStatus, isUndo = false): Promise<boolean> => {
    const before = items?.find((task) => task.id === id)?.status
    // Optimistic update, undone if the request fails.
    const undo = patch<Page<Task>>(key, (page) => ({
      ...page,
      items: page.items.map((task) => (task.id === id ? { ...task, status } : task)),
    }))
    return act(async () => {
      try {
        await unwrap(api.PATCH('/console/tasks/{id}', { params: { path: { id } }, body: { status } }))
        if (!before || isUndo) return
        announceUndoable(t('Moved to “{status}”.', { status: statusLabel(status) }), async () => {
          if (!(await move(id, before, true))) throw new Error('not moved back')
        })
      } catch (error) {
        undo()
        throw error
      }
    })
  }
  const prioritize = (id: string, priority: Priority): void => {
    const undo = patch<Page<Task>>(key, (page) => ({
      ...page,
      items: page.items.map((task) => (task.id === id ? { ...task, priority } : task)),
    }))
    void act(async () => {
      try {
        await unwrap(api.PATCH('/console/tasks/{id}', { params: { path: { id } }, body: { priority } }))
        announce(t('Priority: {priority}', { priority: PRIORITIES[priority] }))
      } catch (error) {
        undo()
        throw error
      }
    })
  }
  const isFiltered = Object.keys(query).length > 0
  const isList = filter('view') === 'list'
  return (
    <Screen
      title={t('Tasks')}
      wide
      actions={
        <>
          <button type="button" aria-pressed={isList} onClick={() => setFilter('view', isList ? '' : 'list')}>
            {t('List')}
          </button>
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            {t('New task')}
          </button>
        </>
      }
    >
      {assigned && <Assign task={assigned} onClose={() => setAssigned(undefined)} />}
      {creating && <NewTask onClose={() => setCreating(false)} />}
      {failure && <Problem failure={failure} />}
      {(isFiltered || (items?.length ?? 0) > 0) && <TaskFilters items={items ?? []} />}
      <Shown known={tasks} rows={3} tall>
        {({ items }) =>
          items.length === 0 && !loadsMore ? (
            <Empty title={isFiltered ? t('No tasks match') : t('No tasks yet')}>
              <p>
                {isFiltered
                  ? t('Change the search or the filters.')
                  : t('Create a task, assign it to an agent or a person and follow its progress here.')}
              </p>
            </Empty>
          ) : isList ? (
            <TaskList items={items} />
          ) : (
            <>
              <p class="hint keys">
                {rich(
                  'On a card: {arrows} move the focus · {shift} move the task · {digits} priority · {a} assignee · {c} new task',
                  {
                    arrows: <kbd>←↑↓→</kbd>,
                    shift: <kbd>⇧ ← →</kbd>,
                    digits: <kbd>1–4</kbd>,
                    a: <kbd>a</kbd>,
                    c: <kbd>c</kbd>,
                  },
                )}
              </p>
              <Board
                items={items}
                more={more !== undefined}
                move={move}
                prioritize={prioritize}
                assign={setAssigned}
                create={() => setCreating(true)}
              />
            </>
          )
        }
      </Shown>
      <More more={loadsMore ? undefined : more} />
    </Screen>
  )
}
