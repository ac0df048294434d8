import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import type { paths } from '../../../ui/platform.d.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Name, State } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { AssigneeOptions } from './assignee.tsx'
import { Assignee, assigneeBody, Due, Labels, PRIORITIES, PriorityMark, STATUSES, statusLabel } from './task.tsx'

type Task = Schemas['WorkspaceTask']
type Change = NonNullable<paths['/console/tasks/{id}']['patch']['requestBody']>['content']['application/json']

/** A menu that changes all selected tasks. */
const Choose = ({
  label,
  options,
  onChoose,
}: {
  label: string
  options: ComponentChildren
  onChoose: (value: string) => void
}) => (
  <select
    class="narrow"
    aria-label={label}
    value=""
    onChange={({ currentTarget }) => {
      if (currentTarget.value) onChoose(currentTarget.value)
      currentTarget.value = ''
    }}
  >
    <option value="">{label}</option>
    {options}
  </select>
)

const optionsOf = (values: readonly (readonly [value: string, label: string])[]) =>
  values.map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ))

/** Changes of all selected tasks. */
const Bulk = ({ tasks, onDone }: { tasks: readonly Task[]; onDone: () => void }) => {
  const { busy, failure, act } = useAction()
  const change = (body: Change): void =>
    void act(async () => {
      try {
        for (const { id } of tasks) {
          await unwrap(api.PATCH('/console/tasks/{id}', { params: { path: { id } }, body }))
        }
        announce(t('{n, plural, one {# task} other {# tasks}} changed.', { n: tasks.length }))
      } finally {
        await refresh('tasks')
      }
    }).then((done) => done && onDone())
  return (
    <section class="bulk card" aria-label={t('Selected tasks')} aria-busy={busy}>
      <strong>{t('{items} selected', { items: tasks.length })}</strong>
      <Choose label={t('Status')} options={optionsOf(STATUSES)} onChoose={(status) => change({ status } as Change)} />
      <Choose
        label={t('Priority')}
        options={optionsOf(Object.entries(PRIORITIES))}
        onChoose={(priority) => change({ priority } as Change)}
      />
      <Choose
        label={t('Assignee')}
        options={
          <>
            <option value="none">{t('Unassigned')}</option>
            <AssigneeOptions people />
          </>
        }
        onChoose={(assignee) => change(assigneeBody(assignee === 'none' ? '' : assignee))}
      />
      <button type="button" class="quiet" onClick={onDone}>
        {t('Clear selection')}
      </button>
      {failure && <Problem failure={failure} />}
    </section>
  )
}

/** Tasks in rows, of which several can be changed together. */
export const TaskList = ({ items }: { items: readonly Task[] }) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const selected = items.filter(({ id }) => chosen.has(id))
  const choose = (ids: readonly string[], is: boolean): void =>
    setChosen((before) => new Set(is ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))))
  const isAll = items.length > 0 && selected.length === items.length
  return (
    <>
      {selected.length > 0 && <Bulk tasks={selected} onDone={() => setChosen(new Set())} />}
      <label class="tick">
        <input
          type="checkbox"
          checked={isAll}
          onChange={({ currentTarget }) =>
            choose(
              items.map(({ id }) => id),
              currentTarget.checked,
            )
          }
        />
        <span>{t('Select all')}</span>
      </label>
      <ul class="rows">
        {items.map((task) => (
          <li key={task.id} class="row folds task-row">
            <input
              type="checkbox"
              aria-label={t('Select {title}', { title: task.title })}
              checked={chosen.has(task.id)}
              onChange={({ currentTarget }) => choose([task.id], currentTarget.checked)}
            />
            <span class="grow">
              <a href={`#/tasks/${task.id}`}>
                <Name>{task.title}</Name>
              </a>
              <Labels labels={task.labels} />
            </span>
            <span class="soft">
              <PriorityMark priority={task.priority} /> <Due task={task} />
            </span>
            <span class="who">
              <Assignee task={task} />
            </span>
            <State name={task.status} label={statusLabel(task.status)} />
          </li>
        ))}
      </ul>
    </>
  )
}
