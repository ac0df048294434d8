import { usePages } from '../../../ui/data.ts'
import { Choice, Filters, filter, filters } from '../../../ui/filters.tsx'
import { duration, triggerLabel } from '../../../ui/format.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Run = Schemas['Run']
type Status = Run['status']

const STATUSES = [
  'queued',
  'running',
  'awaiting_approval',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies Status[]

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
  const status = filter('status')
  const runs = usePages(`runs ${status || 'all'}`, (cursor) =>
    unwrap(
      api.GET('/console/runs', {
        params: { query: { ...(filters('status') as { status?: Status }), ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <Screen title="Runs">
      <Filters>
        <Choice name="status" label="Status" options={STATUSES} />
      </Filters>
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
