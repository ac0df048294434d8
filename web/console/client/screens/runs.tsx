import { sanitize } from '../../../session/text.ts'
import { useData, usePages } from '../../../ui/data.ts'
import { Choice, Filters, filter, filters, Search, setFilter } from '../../../ui/filters.tsx'
import { Field } from '../../../ui/form.tsx'
import { triggerLabel } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import type { paths } from '../../../ui/platform.d.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { startOfDay } from '../ui/day.ts'
import { RunRow, useApps } from '../ui/run-row.tsx'
import { Views } from '../ui/views.tsx'

type Run = Schemas['WorkspaceRun']
type Status = Run['status']

const STATUSES = [
  'queued',
  'running',
  'awaiting_approval',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies Status[]

/** Triggers of the platform. A run's own service may use any label, which the search finds. */
const TRIGGERS = ['api', 'manual', 'chat', 'task', 'task_result', 'agent', 'messenger', 'mcp', 'a2a', 'test']

/** Codes that the platform fails runs with. An agent may use any. */
const ERRORS: Readonly<Record<string, string>> = {
  agent_unreachable: t('Agent unreachable'),
  agent_timeout: t('Agent took too long'),
  agent_failed: t('Agent failed'),
  agent_invalid_response: t('Invalid response of the agent'),
  input_timeout: t('Question not answered in time'),
  llm_error: t('Language model failed'),
  llm_not_configured: t('No language model'),
  max_steps_reached: t('Too many steps'),
  access_withdrawn: t('Access withdrawn'),
  installation_suspended: t('Installation suspended'),
  app_suspended: t('App suspended'),
  invalid_config: t('Invalid settings'),
}

const MORE = ['trigger', 'person', 'error', 'since', 'until'] as const
const NAMES = ['q', 'installation_id', 'status', ...MORE, 'group'] as const

type Query = NonNullable<paths['/console/runs']['get']['parameters']['query']>

const queryOf = (): Query => {
  const { since, until, ...rest } = filters('q', 'installation_id', 'status', ...MORE)
  const [from, to] = [since && startOfDay(since), until && startOfDay(until, 1)]
  return { ...(rest as Query), ...(from && { since: from }), ...(to && { until: to }) }
}

/** Pages that are read in a row while none has a match. */
const IN_A_ROW = 5

const load = async (query: Query, cursor?: string) => {
  for (let at = cursor, turn = 1; ; turn++) {
    const page = await unwrap(api.GET('/console/runs', { params: { query: { ...query, ...(at && { cursor: at }) } } }))
    if (page.items.length > 0 || !page.next_cursor || turn === IN_A_ROW) return page
    at = page.next_cursor
  }
}

type Apps = ReturnType<typeof useApps>

const List = ({ items, apps }: { items: Run[]; apps: Apps }) => (
  <ul class="rows">
    {items.map((run) => (
      <li key={run.id}>
        <RunRow run={run} app={apps[run.installation_id]} />
      </li>
    ))}
  </ul>
)

const Matches = ({ query, isFiltered, apps }: { query: Query; isFiltered: boolean; apps: Apps }) => {
  const runs = usePages(`runs list ${JSON.stringify(query)}`, (cursor) => load(query, cursor))
  return (
    <>
      <Shown known={runs} rows={8}>
        {({ items }) => {
          if (items.length > 0) return <List items={items} apps={apps} />
          if (runs.more) return <Empty title={t('No matches so far. Show more to look further back.')} />
          if (isFiltered) return <Empty title={t('No runs match these filters')} />
          return (
            <Empty icon="runs" title={t('No runs yet')}>
              <p>{t('A run starts when you message an agent, give it a task, or its own service starts one.')}</p>
            </Empty>
          )
        }}
      </Shown>
      <More more={runs.more} />
    </>
  )
}

/** Runs of one agent within a grouped list: the newest ones. */
const Group = ({ agent, query }: { agent: Schemas['InstallationDetails']; query: Query }) => {
  const own = { ...query, installation_id: agent.id, limit: 5 }
  const runs = useData(`runs group ${JSON.stringify(own)}`, () => load(own))
  const all = new URLSearchParams({ ...filters('q', 'status', ...MORE), installation_id: agent.id })
  return (
    <section class="section" aria-labelledby={`group-${agent.id}`}>
      <h2 id={`group-${agent.id}`} class="group">
        <Logo name={agent.app.name} path={agent.app.logo_path} />
        <Name>{agent.app.name}</Name>
      </h2>
      <Shown known={runs} rows={2}>
        {({ items, next_cursor }) => (
          <>
            {items.length > 0 ? (
              <List items={items} apps={{ [agent.id]: agent.app }} />
            ) : (
              <p class="soft">{t('No matching runs')}</p>
            )}
            {next_cursor && (
              <p>
                <a href={`#/runs?${all}`}>{rich('All runs of {name}', { name: <Name>{agent.app.name}</Name> })}</a>
              </p>
            )}
          </>
        )}
      </Shown>
    </section>
  )
}

const Grouped = ({ query }: { query: Query }) => {
  const agents = usePages('installations groups', (cursor) =>
    unwrap(api.GET('/console/installations', { params: { query: { limit: 10, ...(cursor && { cursor }) } } })),
  )
  return (
    <>
      <Shown known={agents} rows={6}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="agents" title={t('No agents installed')} />
          ) : (
            items.map((agent) => <Group key={agent.id} agent={agent} query={query} />)
          )
        }
      </Shown>
      <More more={agents.more} />
    </>
  )
}

const Day = ({ name, label }: { name: string; label: string }) => (
  <Field label={label}>
    {(field) => (
      <input
        {...field}
        type="date"
        value={filter(name)}
        onChange={({ currentTarget }) => setFilter(name, currentTarget.value)}
      />
    )}
  </Field>
)

export default function Runs() {
  const apps = useApps()
  const members = useData('members all', () =>
    unwrap(api.GET('/console/members', { params: { query: { limit: 100 } } })),
  )
  const names = Object.fromEntries(Object.entries(apps).map(([id, { name }]) => [id, sanitize(name)]))
  const query = queryOf()
  const grouped = filter('group') === 'agent'
  const more = MORE.filter((name) => filter(name)).length
  const error = filter('error')
  return (
    <Screen title={t('Runs')}>
      <Views screen="runs" names={NAMES} />
      <search>
        <Filters>
          <Search name="q" label={t('Search')} hint={t('Text, error or ID')} />
          <Choice name="installation_id" label={t('Agent')} options={names} />
          <Choice name="status" label={t('Status')} options={STATUSES} />
        </Filters>
        <details class="more-filters" open={more > 0}>
          <summary>
            {t('More filters')}
            {more > 0 && ` (${more})`}
          </summary>
          <Filters>
            <Choice
              name="trigger"
              label={t('Trigger')}
              options={Object.fromEntries(TRIGGERS.map((trigger) => [trigger, triggerLabel(trigger)]))}
            />
            <Choice
              name="person"
              label={t('Started by')}
              all={t('Anyone')}
              options={Object.fromEntries((members.data?.items ?? []).map(({ id, name }) => [id, sanitize(name)]))}
            />
            <Choice
              name="error"
              label={t('Error')}
              options={error && !(error in ERRORS) ? { ...ERRORS, [error]: error } : ERRORS}
            />
            <Day name="since" label={t('From')} />
            <Day name="until" label={t('To')} />
          </Filters>
        </details>
      </search>
      <label class="tick">
        <input
          type="checkbox"
          checked={grouped}
          onChange={({ currentTarget }) => setFilter('group', currentTarget.checked ? 'agent' : '')}
        />
        <span>{t('Group by agent')}</span>
      </label>
      {grouped && !query.installation_id ? (
        <Grouped query={query} />
      ) : (
        <Matches query={query} isFiltered={Object.keys(query).length > 0} apps={apps} />
      )}
    </Screen>
  )
}
