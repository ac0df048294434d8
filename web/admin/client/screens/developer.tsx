import { useData } from '../../../ui/data.ts'
import { count, fullTime } from '../../../ui/format.ts'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Json, Logo, Name, Prose, State, When } from '../../../ui/text.tsx'
import { isSuperadmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { EntryLine } from '../ui/entry-line.tsx'
import { Block, Verify } from './developers.tsx'

type Entry = Schemas['PlatformAuditEntry']

/** Newest entries that are read about each subject, and the apps whose entries are read. */
const ENTRIES = 100
const APPS = 20

const loadApps = (developer: string) =>
  unwrap(api.GET('/admin/apps', { params: { query: { developer, limit: 100, offset: 0 } } }))

/** Loads what the developer did, and what happened to them and their apps, newest first. */
const loadHistory = async (id: string): Promise<{ entries: Entry[]; isWhole: boolean }> => {
  const apps = (await loadApps(id)).items
  const queries = [{ actor: id }, { subject: id }, ...apps.slice(0, APPS).map((app) => ({ subject: app.id }))]
  const pages = await Promise.all(
    queries.map((query) =>
      unwrap(api.GET('/admin/audit', { params: { query: { ...query, limit: ENTRIES, offset: 0 } } })),
    ),
  )
  const entries = new Map(pages.flatMap(({ items }) => items.map((entry) => [entry.id, entry] as const)))
  return {
    entries: [...entries.values()].sort((one, other) => (one.created_at < other.created_at ? 1 : -1)),
    isWhole: apps.length <= APPS && pages.every(({ items, total }) => items.length === total),
  }
}

const Apps = ({ id }: { id: string }) => {
  const known = useData(`apps of ${id}`, () => loadApps(id))
  return (
    <section class="section">
      <h2>Apps</h2>
      <Shown known={known} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No apps" />
          ) : (
            <ul class="rows">
              {items.map((app) => (
                <li key={app.id}>
                  <a class="row" href={`#/apps/${app.id}`}>
                    <Logo name={app.name} path={app.logo_path} />
                    <span class="grow">
                      <strong>
                        <Name>{app.name}</Name>
                      </strong>
                      <span class="soft">{app.slug}</span>
                    </span>
                    <State name={app.status} />
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  )
}

const History = ({ id }: { id: string }) => {
  const known = useData(`history of ${id}`, () => loadHistory(id))
  return (
    <section class="section">
      <h2>History</h2>
      <Shown known={known} rows={5}>
        {({ entries, isWhole }) =>
          entries.length === 0 ? (
            <Empty title="No history yet" />
          ) : (
            <>
              <ol class="rows history">
                {entries.map((entry) => (
                  <li key={entry.id}>
                    <details class="entry">
                      <EntryLine entry={entry} />
                      <Json
                        label={`Details of ${entry.action}`}
                        value={{
                          time: fullTime(entry.created_at),
                          actor: entry.actor,
                          subject: entry.subject,
                          before: entry.before,
                          after: entry.after,
                          ...entry.details,
                        }}
                      />
                    </details>
                  </li>
                ))}
              </ol>
              <p class="hint">
                {count(entries.length)} {entries.length === 1 ? 'entry' : 'entries'}
                {!isWhole && '. Older ones are in the audit log'}: <a href={`#/audit?actor=${id}`}>by this developer</a>
                , <a href={`#/audit?subject=${id}`}>about them</a>.
              </p>
            </>
          )
        }
      </Shown>
    </section>
  )
}

export default function Developer({ id }: { id: string }) {
  const known = useData(`developers one ${id}`, () =>
    unwrap(api.GET('/admin/developers/{id}', { params: { path: { id } } })),
  )
  const name = known.data && (known.data.company ?? known.data.name)
  return (
    <Screen title={name ?? 'Developer'} back={{ to: '/developers', label: 'Developers' }} wide>
      <Shown known={known} rows={2} tall>
        {(developer) => (
          <>
            <div class="marks">
              <State
                name={developer.status === 'blocked' ? 'suspended' : 'active'}
                label={developer.status === 'blocked' ? 'Blocked' : 'Active'}
              />
              {developer.verified && <span class="state good">✓ Verified</span>}
            </div>
            {developer.status_reason && (
              <div class="note warn">
                <Prose text={developer.status_reason} />
              </div>
            )}
            <section class="card">
              <dl class="facts">
                <dt>Name</dt>
                <dd>
                  <Name>{developer.name}</Name>
                </dd>
                <dt>E-mail</dt>
                <dd>
                  <Name>{developer.email}</Name>
                </dd>
                <dt>Registered</dt>
                <dd>
                  <When at={developer.created_at} />
                </dd>
              </dl>
            </section>
            {isSuperadmin.value && (
              <div class="actions">
                {!developer.verified && <Verify developer={developer} />}
                <Block developer={developer} />
              </div>
            )}
            <Apps id={id} />
            <History id={id} />
          </>
        )}
      </Shown>
    </Screen>
  )
}
