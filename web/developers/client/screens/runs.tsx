import { usePages } from '../../../ui/data.ts'
import { Choice, Filters, filter, filters, Search } from '../../../ui/filters.tsx'
import { duration, triggerLabel } from '../../../ui/format.ts'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'

type Log = Schemas['AppLog']

/** The log filters by one field at a time. The narrowest one that is set counts. */
const queryOf = (): { status?: Log['status']; error_code?: string; run_id?: string; request_id?: string } => {
  const { find = '', error_code, status } = filters('find', 'error_code', 'status')
  if (find.startsWith('req_')) return { request_id: find }
  if (find) return { run_id: find }
  if (error_code) return { error_code }
  return status ? { status: status as Log['status'] } : {}
}

const fits = ({ is_sandbox, version, installation_id, status, error_code }: Log): boolean => {
  const wanted = filters('place', 'version', 'installation', 'status', 'error_code')
  return (
    (!wanted.place || is_sandbox === (wanted.place === 'sandbox')) &&
    (!wanted.version || version === wanted.version) &&
    (!wanted.installation || installation_id === wanted.installation) &&
    (!wanted.status || status === wanted.status) &&
    (!wanted.error_code || error_code === wanted.error_code)
  )
}

const Runs = ({ app }: { app: App }) => {
  const query = queryOf()
  const list = usePages(`app ${app.id} logs ${JSON.stringify(query)}`, async (cursor) => {
    const params = { path: { id: app.id }, query: { limit: 100, ...query, ...(cursor && { cursor }) } }
    const page = await unwrap(api.GET('/api/v1/dev/apps/{id}/logs', { params }))
    return { ...page, items: page.items.map((log) => ({ ...log, id: log.run_id })) }
  })
  const shown = list.items?.filter(fits)
  return (
    <>
      <Filters>
        <Search name="find" label="Run or request" hint="run_… or req_…" />
        <Choice name="status" label="Status" options={['succeeded', 'failed', 'cancelled']} />
        <Search name="error_code" label="Error code" hint="agent_timeout" />
        <Choice name="place" label="Where" options={{ customers: 'Customers', sandbox: 'Sandbox' }} />
        <Search name="version" label="Version" hint="1.0.0" />
        <Search name="installation" label="Installation" hint="ins_…" />
      </Filters>
      <Shown known={list} rows={6}>
        {() =>
          shown?.length === 0 ? (
            <Empty title="No finished runs match">
              {!filter('status') && <p>Runs appear here when they end, and stay for 30 days.</p>}
            </Empty>
          ) : (
            <ul class="rows">
              {shown?.map((log) => (
                <li key={log.run_id}>
                  <a class="row folds" href={`#/apps/${app.id}/runs/${log.run_id}`}>
                    <State name={log.status} />
                    <span class="grow">
                      <span>
                        {triggerLabel(log.trigger)}, version {log.version}
                      </span>
                      <span class="soft line">
                        {log.error_code ? <code>{log.error_code}</code> : <code>{log.run_id}</code>}
                      </span>
                    </span>
                    {log.is_sandbox && <span class="state">Sandbox</span>}
                    <span class="soft">{duration(log.duration_ms)}</span>
                    <span class="soft">
                      <When at={log.finished_at} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
    </>
  )
}

export default function RunsScreen({ id }: { id: string }) {
  return (
    <AppScreen id={id} title="Runs">
      {(app) => <Runs app={app} />}
    </AppScreen>
  )
}
