import { duration, triggerWords } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { isSuperadmin } from '../account.ts'
import { api, type Schemas, take } from '../api.ts'
import { Choice, Filters, filters, Search } from '../ui/filters.tsx'
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
      {run.duration_ms !== null && <> · took {duration(run.duration_ms)}</>} · {triggerWords(run.trigger)} · {run.steps}{' '}
      steps{run.is_sandbox && ' · sandbox'}
    </p>
    <p class="hint">
      <code>{run.id}</code> · <a href={`#/apps/${run.app_id}`}>App</a> ·{' '}
      <a href={`#/runs?workspace=${run.workspace_id}`}>Workspace’s runs</a>
      {isSuperadmin.value && (
        <>
          {' '}
          · <a href={`#/workspaces?installation=${run.installation_id}`}>Installation</a>
        </>
      )}
      {run.request_id && (
        <>
          {' '}
          · <code>{run.request_id}</code>
        </>
      )}
    </p>
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
      <p class="soft">What was done, never what it was about: what customers gave and agents answered is not shown.</p>
      <Filters>
        <Choice name="status" label="Status" options={STATUSES} />
        <Search name="app" label="App" hint="app_…" />
        <Search name="workspace" label="Workspace" hint="ws_…" />
      </Filters>
      <Listing
        name={`runs ${JSON.stringify(query)}`}
        none="There is no such run."
        read={(at) => take(api.GET('/admin/runs', { params: { query: { ...query, ...at } } }))}
      >
        {(run) => <RunView run={run} />}
      </Listing>
    </Screen>
  )
}
