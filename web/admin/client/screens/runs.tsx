import { Choice, Filters, filters, Search } from '../../../ui/filters.tsx'
import { duration, triggerLabel } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { isSuperadmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { Listing } from '../ui/listing.tsx'

type Run = Schemas['ObservedRun']

const STATUSES = ['active', 'succeeded', 'failed', 'cancelled'] as const

const RunView = ({ run }: { run: Run }) => (
  <article class="entry-body">
    <p>
      <strong>
        <Name>{run.agent.id}</Name>
      </strong>{' '}
      <span class="soft">{run.agent.version}</span> <State name={run.status} />{' '}
      {run.error_code && <code>{run.error_code}</code>}
    </p>
    <p class="soft">
      <When at={run.created_at} />
      {run.duration_ms !== null && <> · took {duration(run.duration_ms)}</>} · {triggerLabel(run.trigger)} · {run.steps}{' '}
      steps{run.is_sandbox && ' · sandbox'}
    </p>
    <p class="hint">
      <a href={`#/apps/${run.app_id}`}>App</a> ·{' '}
      <a href={`#/runs?workspace=${run.workspace_id}`}>Runs in this workspace</a>
      {isSuperadmin.value && (
        <>
          {' '}
          · <a href={`#/workspaces?installation=${run.installation_id}`}>Installation</a>
        </>
      )}
    </p>
    <details>
      <summary>IDs</summary>
      <dl class="facts">
        <dt>Run</dt>
        <dd>
          <code>{run.id}</code>
        </dd>
        {run.request_id && (
          <>
            <dt>Request</dt>
            <dd>
              <code>{run.request_id}</code>
            </dd>
          </>
        )}
      </dl>
    </details>
  </article>
)

export default function Runs() {
  const query = filters('status', 'app', 'workspace') as {
    status?: (typeof STATUSES)[number]
    app?: string
    workspace?: string
  }
  return (
    <Screen title="Runs">
      <p class="soft">Metadata only. Customers’ inputs and agents’ outputs are never shown.</p>
      <Filters>
        <Choice name="status" label="Status" options={STATUSES} />
        <Search name="app" label="App" hint="app_…" />
        <Search name="workspace" label="Workspace" hint="ws_…" />
      </Filters>
      <Listing
        name={`runs ${JSON.stringify(query)}`}
        none="No matching runs"
        read={(at) => unwrap(api.GET('/admin/runs', { params: { query: { ...query, ...at } } }))}
      >
        {(run) => <RunView run={run} />}
      </Listing>
    </Screen>
  )
}
