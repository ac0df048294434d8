import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { deedOf } from '../../../ui/audit-deeds.ts'
import { useData, usePages } from '../../../ui/data.ts'
import { Field } from '../../../ui/form.tsx'
import { fullTime } from '../../../ui/format.ts'
import { Icon, type IconName } from '../../../ui/icons.tsx'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { place, redirect } from '../../../ui/router.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Json, Name, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { auditCsv, nameOf, screenOf } from '../ui/audit-sentence.ts'
import { startOfDay } from '../ui/day.ts'
import { Views } from '../ui/views.tsx'

type Entry = Schemas['AuditEntry']

/** Beginnings of actions, by which the list can be filtered. */
const KINDS: Record<string, string> = {
  approval: t('Approvals'),
  installation: t('Agents installed and changed'),
  agent: t('Calls between agents'),
  run: t('Runs cancelled and answered'),
  consent: t('Access given to apps'),
  grant: t('Access paused and ended'),
  host: t('Assistants'),
  budget: t('Budgets'),
  member: t('Members'),
  invitation: t('Invitations'),
  webhook: t('Webhooks'),
  messenger: t('Messenger'),
  user: t('Passkeys'),
  workspace: t('Workspace'),
}

/** Icons by the beginnings of actions. */
const ICONS: Record<string, IconName> = {
  approval: 'key',
  installation: 'agents',
  agent: 'agents',
  agent_request: 'wish',
  run: 'runs',
  consent: 'key',
  grant: 'key',
  host: 'plug',
  budget: 'chart',
  member: 'people',
  invitation: 'people',
  webhook: 'plug',
  messenger: 'messenger',
  user: 'key',
}

/** Maximum number of entries in an export. */
const EXPORTED = 2_000

const FILTERS = ['actor', 'kind', 'since', 'until'] as const
type Filters = Partial<Record<(typeof FILTERS)[number], string>>

const queryOf = ({ actor, kind, since, until }: Filters) => {
  const [from, to] = [since && startOfDay(since), until && startOfDay(until, 1)]
  return {
    ...(actor && { actor }),
    ...(kind && kind in KINDS && { action: `${kind}.*` }),
    ...(from && { since: from }),
    ...(to && { until: to }),
  }
}

const load = (filters: Filters, cursor?: string, limit = 50) =>
  unwrap(api.GET('/console/audit', { params: { query: { ...queryOf(filters), limit, ...(cursor && { cursor }) } } }))

/** Saves the matching entries as a file, newest first. */
const save = async (filters: Filters): Promise<void> => {
  const entries: Entry[] = []
  let cursor: string | undefined
  do {
    const page = await load(filters, cursor, 100)
    entries.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor && entries.length < EXPORTED)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([auditCsv(entries)], { type: 'text/csv' }))
  link.download = 'audit-log.csv'
  link.click()
  URL.revokeObjectURL(link.href)
  announce(
    cursor
      ? t('Saved the newest {entries} entries. Narrow the dates for older ones.', { entries: entries.length })
      : t('Saved {entries} entries.', { entries: entries.length }),
  )
}

/** People and agents that may have acted. */
const useActors = () =>
  useData('members installations audit', async () => {
    const query = { limit: 100 }
    const [members, agents] = await Promise.all([
      unwrap(api.GET('/console/members', { params: { query } })),
      unwrap(api.GET('/console/installations', { params: { query } })),
    ])
    return { members: members.items, agents: agents.items }
  })

const Line = ({ entry }: { entry: Entry }) => {
  const to = screenOf(entry.subject)
  return (
    <details class="entry">
      <summary>
        <Icon name={ICONS[entry.action.split('.')[0] ?? ''] ?? 'settings'} />{' '}
        <strong>
          <Name>{nameOf(entry.actor)}</Name>
        </strong>{' '}
        {deedOf(entry, fullTime)}
        <span class="soft">
          {' '}
          · <When at={entry.created_at} />
        </span>
      </summary>
      {to && (
        <p class="hint entry-link">
          <a href={`#${to}`}>{t('View what this is about')}</a>
        </p>
      )}
      <Json
        label={t('Details of {action}', { action: entry.action })}
        value={{
          action: entry.action,
          actor: entry.actor,
          subject: entry.subject,
          ...(entry.before && { before: entry.before }),
          ...(entry.after && { after: entry.after }),
          details: entry.details,
          request_id: entry.request_id,
          created_at: entry.created_at,
        }}
      />
    </details>
  )
}

export default function Audit() {
  const { query } = place.value
  const filters: Filters = Object.fromEntries(
    FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])),
  )
  const actors = useActors()
  const { busy, failure, act } = useAction()
  const [kind, actor] = [filters.kind ?? '', filters.actor ?? '']
  const change = (changes: Filters): void => {
    const next = new URLSearchParams({ ...filters, ...changes })
    for (const [name, value] of [...next]) if (!value) next.delete(name)
    redirect(next.size > 0 ? `/audit?${next}` : '/audit')
  }
  const entries = usePages<Entry>(`audit ${JSON.stringify(filters)}`, (cursor) => load(filters, cursor))
  return (
    <Screen
      title={t('Audit log')}
      actions={
        <button type="button" aria-busy={busy} onClick={() => act(() => save(filters))}>
          {t('Save as CSV')}
        </button>
      }
    >
      <p class="soft">
        {t(
          'Who changed what in this workspace: access, agents and their settings, rules and budgets, decisions, members, and calls between agents. What people read or write in chats and tasks isn’t in it. Entries are kept for 2 years and can’t be changed.',
        )}
      </p>
      {failure && <Problem failure={failure} />}
      <Views screen="audit" names={FILTERS} />
      <search class="filters">
        <Field label={t('Who')}>
          {(field) => (
            <select {...field} value={actor} onChange={(event) => change({ actor: event.currentTarget.value })}>
              <option value="">{t('Everyone')}</option>
              <optgroup label={t('People')}>
                {actors.data?.members.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {sanitize(name)}
                  </option>
                ))}
              </optgroup>
              <optgroup label={t('Agents')}>
                {actors.data?.agents.map(({ id, app }) => (
                  <option key={id} value={id}>
                    {sanitize(app.name)}
                  </option>
                ))}
              </optgroup>
              {actor &&
                !actors.data?.members.some(({ id }) => id === actor) &&
                !actors.data?.agents.some(({ id }) => id === actor) && (
                  <option value={actor}>{t('Someone else')}</option>
                )}
            </select>
          )}
        </Field>
        <Field label={t('What')}>
          {(field) => (
            <select {...field} value={kind} onChange={(event) => change({ kind: event.currentTarget.value })}>
              <option value="">{t('Everything')}</option>
              {Object.entries(KINDS).map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        {(['since', 'until'] as const).map((name) => (
          <Field key={name} label={name === 'since' ? t('From') : t('To')}>
            {(field) => (
              <input
                {...field}
                type="date"
                value={filters[name] ?? ''}
                onChange={(event) => change({ [name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
      </search>
      <Shown known={entries} rows={8}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title={entries.more ? t('No matches so far. Show more to look further back.') : t('No matching entries')}
            />
          ) : (
            <ul class="rows">
              {items.map((entry) => (
                <li key={entry.id}>
                  <Line entry={entry} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={entries.more} />
    </Screen>
  )
}
