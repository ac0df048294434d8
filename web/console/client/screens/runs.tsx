import { useState } from 'preact/hooks'
import { usePages } from '../../../ui/data.ts'
import { Field } from '../../../ui/form.tsx'
import { duration, humanize, triggerLabel } from '../../../ui/format.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Run = Schemas['Run']
type Status = Run['status']

const STATUSES: Status[] = ['queued', 'running', 'awaiting_approval', 'succeeded', 'failed', 'cancelled']

export const RunRow = ({ run }: { run: Run }) => (
  <a class="row folds" href={`#/runs/${run.id}`}>
    <span class="grow">
      <strong>
        <Name>{run.agent.id}</Name>
      </strong>
      <span class="soft">
        {triggerLabel(run.trigger)} · <When at={run.created_at} />
        {run.duration_ms !== null && ` · ${duration(run.duration_ms)}`}
      </span>
    </span>
    <State name={run.status} />
  </a>
)

export default function Runs() {
  const [status, setStatus] = useState<Status | ''>('')
  const runs = usePages(`runs ${status || 'all'}`, (cursor) =>
    unwrap(api.GET('/console/runs', { params: { query: { ...(status && { status }), ...(cursor && { cursor }) } } })),
  )
  return (
    <Screen title="Runs">
      <div class="filters">
        <Field label="Status">
          {(field) => (
            <select {...field} value={status} onChange={(event) => setStatus(event.currentTarget.value as Status | '')}>
              <option value="">All</option>
              {STATUSES.map((one) => (
                <option key={one} value={one}>
                  {humanize(one)}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Shown known={runs} rows={8}>
        {({ items }) => {
          if (items.length === 0) {
            return status ? (
              <Empty title="No runs with this status" />
            ) : (
              <Empty title="No runs yet">
                <p>A run starts when you message an agent, give it a task, or its own service starts one.</p>
              </Empty>
            )
          }
          return (
            <ul class="rows">
              {items.map((run) => (
                <li key={run.id}>
                  <RunRow run={run} />
                </li>
              ))}
            </ul>
          )
        }}
      </Shown>
      <More more={runs.more} />
    </Screen>
  )
}
