import { sanitize } from '../../../session/text.ts'
import { useData, usePages } from '../../../ui/data.ts'
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
  const [status, agent] = [filter('status'), filter('installation_id')]
  const agents = useData('installations all', () =>
    unwrap(api.GET('/console/installations', { params: { query: { limit: 100 } } })),
  )
  const runs = usePages(`runs ${status || 'all'} ${agent}`, (cursor) =>
    unwrap(
      api.GET('/console/runs', {
        params: {
          query: {
            ...(filters('status', 'installation_id') as { status?: Status; installation_id?: string }),
            ...(cursor && { cursor }),
          },
        },
      }),
    ),
  )
  return (
    <Screen title="Runs">
      <Filters>
        <Choice
          name="installation_id"
          label="Agent"
          options={Object.fromEntries((agents.data?.items ?? []).map(({ id, app }) => [id, sanitize(app.name)]))}
        />
        <Choice name="status" label="Status" options={STATUSES} />
      </Filters>
      <Shown known={runs} rows={8}>
        {({ items }) => {
          if (items.length === 0) {
            return status || agent ? (
              <Empty title="No runs match these filters" />
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
