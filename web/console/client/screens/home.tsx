import { useEffect, useState } from 'preact/hooks'
import { useData } from '../../../ui/data.ts'
import { count, duration, percent } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { identity, isAdmin } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { Days } from '../ui/days.tsx'
import { FirstRunSkeleton, isOver } from '../ui/first-run-place.tsx'
import { Inbox } from '../ui/inbox.tsx'
import { RunRow, useApps } from '../ui/run-row.tsx'

const Figures = () => {
  const known = useData('runs figures', () =>
    unwrap(api.GET('/console/analytics', { params: { query: { days: '14' } } })),
  )
  return (
    <Shown known={known} rows={1} tall>
      {(data) => (
        <>
          <dl class="figures">
            <div>
              <dt>{t('Runs')}</dt>
              <dd>{count(data.runs)}</dd>
            </div>
            <div>
              <dt>{t('Success rate')}</dt>
              <dd>{data.success_rate === null ? '–' : percent(data.success_rate)}</dd>
            </div>
            <div>
              <dt>{t('Median duration')}</dt>
              <dd>{data.duration_ms?.median ? duration(data.duration_ms.median) : '–'}</dd>
            </div>
            <div>
              <dt>{t('Active agents')}</dt>
              <dd>
                {count(data.agents.active)}
                <span class="soft"> {t('of {installed}', { installed: count(data.agents.installed) })}</span>
              </dd>
            </div>
          </dl>
          {data.runs > 0 && <Days days={data.daily} />}
        </>
      )}
    </Shown>
  )
}

/** The first steps. Their script loads after the page, because most visits don't need it. */
const GettingStarted = () => {
  const [parts, setParts] = useState<typeof import('../ui/first-run.tsx')>()
  useEffect(() => {
    if (isAdmin.value) import('../ui/first-run.tsx').then(setParts, () => {})
  }, [])
  if (!isAdmin.value || isOver(identity.value?.workspace.id ?? '')) return null
  return parts ? <parts.FirstRun /> : <FirstRunSkeleton />
}

export default function Home() {
  const latest = useData('runs latest', () => unwrap(api.GET('/console/runs', { params: { query: { limit: 5 } } })))
  const apps = useApps()
  return (
    <Screen title={t('Home')}>
      <GettingStarted />
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">{t('Needs your attention')}</h2>
        <Inbox />
      </section>
      <section class="section" aria-labelledby="figures">
        <h2 id="figures">{t('Last 14 days')}</h2>
        <Figures />
      </section>
      {latest.data && latest.data.items.length > 0 && (
        <section class="section" aria-labelledby="latest">
          <h2 id="latest">{t('Latest runs')}</h2>
          <ul class="rows">
            {latest.data.items.map((run) => (
              <li key={run.id}>
                <RunRow run={run} app={apps[run.installation_id]} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </Screen>
  )
}
