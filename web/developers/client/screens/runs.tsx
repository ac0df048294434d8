import { usePages } from '../../../ui/data.ts'
import { Choice, Filters, filters, Search } from '../../../ui/filters.tsx'
import { duration, triggerLabel } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { State, When } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'
import type { paths } from '../developer.d.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { Day } from '../ui/day.tsx'

type Query = NonNullable<paths['/api/v1/dev/apps/{id}/logs']['get']['parameters']['query']>

/** Returns the day in the reader's time zone as a time, or nothing for an incomplete date. */
const timeOf = (day: string | undefined, clock: string): string | undefined => {
  const at = new Date(`${day}T${clock}`)
  return day && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined
}

const queryOf = (): Query => {
  const {
    find = '',
    from,
    to,
    place,
    status,
    ...exact
  } = filters('find', 'error_code', 'status', 'place', 'version', 'installation_id', 'from', 'to')
  const [since, until] = [timeOf(from, '00:00:00'), timeOf(to, '23:59:59.999')]
  return {
    ...exact,
    ...(status && { status: status as NonNullable<Query['status']> }),
    ...(place && { place: place as NonNullable<Query['place']> }),
    ...(find && (find.startsWith('req_') ? { request_id: find } : { run_id: find })),
    ...(since && { since }),
    ...(until && { until }),
  }
}

const Runs = ({ app }: { app: App }) => {
  const query = queryOf()
  const list = usePages(`app ${app.id} logs ${JSON.stringify(query)}`, async (cursor) => {
    const params = { path: { id: app.id }, query: { limit: 50, ...query, ...(cursor && { cursor }) } }
    const page = await unwrap(api.GET('/api/v1/dev/apps/{id}/logs', { params }))
    return { ...page, items: page.items.map((log) => ({ ...log, id: log.run_id })) }
  })
  const isNarrowed = Object.keys(query).length > 0
  return (
    <>
      <Filters>
        <Search name="find" label={t('Run or request')} hint={t('run_… or req_…')} />
        <Choice name="status" label={t('Status')} options={['succeeded', 'failed', 'cancelled']} />
        <Search name="error_code" label={t('Error code')} hint="agent_timeout" />
        <Choice name="place" label={t('Where')} options={{ customers: t('Customers'), sandbox: t('Sandbox') }} />
        <Search name="version" label={t('Version')} hint="1.0.0" />
        <Search name="installation_id" label={t('Installation')} hint="ins_…" />
        <Day name="from" label={t('From')} />
        <Day name="to" label={t('To')} />
      </Filters>
      <Shown known={list} rows={6}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={list.more ? t('None of the newest runs match') : t('No finished runs match')}>
              {!isNarrowed && <p>{t('Runs appear here when they end, and stay for 30 days.')}</p>}
            </Empty>
          ) : (
            <ul class="rows">
              {items.map((log) => (
                <li key={log.run_id}>
                  <a class="row folds" href={`#/apps/${app.id}/runs/${log.run_id}`}>
                    <State name={log.status} />
                    <span class="grow">
                      <span>
                        {t('{trigger}, version {version}', {
                          trigger: triggerLabel(log.trigger),
                          version: log.version,
                        })}
                      </span>
                      <span class="soft line">
                        {log.error_code ? <code>{log.error_code}</code> : <code>{log.run_id}</code>}
                      </span>
                    </span>
                    {log.is_sandbox && <span class="state">{t('Sandbox')}</span>}
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
    <AppScreen id={id} title={t('Runs')}>
      {(app) => <Runs app={app} />}
    </AppScreen>
  )
}
