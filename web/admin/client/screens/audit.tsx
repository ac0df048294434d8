import { Filters, filter, filters, Search, setFilter } from '../../../ui/filters.tsx'
import { Field } from '../../../ui/form.tsx'
import { fullTime } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { EntryLine } from '../ui/entry-line.tsx'
import { Listing } from '../ui/listing.tsx'

type Entry = Schemas['PlatformAuditEntry']

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Changed fields, before and after. */
const BeforeAfter = ({ before, after, of }: { before: Entry['before']; after: Entry['after']; of: string }) => {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  if (fields.length === 0) return null
  const cell = (side: Entry['before'], field: string) =>
    side && field in side ? <Name>{text(side[field])}</Name> : <span class="soft">–</span>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard
    <section class="table diff" tabIndex={0} aria-label={`Changes made by ${of}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <tr key={field}>
              <th scope="row">
                <Name>{field}</Name>
              </th>
              <td>{cell(before, field)}</td>
              <td>{cell(after, field)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Fact = ({ label, value }: { label: string; value: string | null }) =>
  value === null ? null : (
    <>
      <dt>{label}</dt>
      <dd>
        <Name>{value}</Name>
      </dd>
    </>
  )

const EntryView = ({ entry }: { entry: Entry }) => (
  <details class="entry">
    <EntryLine entry={entry} />
    <div class="evidence">
      <BeforeAfter before={entry.before} after={entry.after} of={entry.action} />
      <dl class="facts">
        <Fact label="Action" value={entry.action} />
        <Fact label="Time" value={fullTime(entry.created_at)} />
        <Fact label="Actor" value={`${entry.actor.type} ${entry.actor.id}`} />
        <Fact label="Subject" value={`${entry.subject.type} ${entry.subject.id}`} />
        <Fact label="Workspace" value={entry.workspace_id} />
        <Fact label="IP address" value={entry.source_ip} />
        <Fact label="Request ID" value={entry.request_id} />
        {Object.entries(entry.details).map(([name, value]) => (
          <Fact key={name} label={name} value={text(value)} />
        ))}
      </dl>
      <p class="hint">
        <a href={`#/audit?subject=${encodeURIComponent(entry.subject.id)}`}>All entries for this subject</a> ·{' '}
        <a href={`#/audit?actor=${encodeURIComponent(entry.actor.id)}`}>All entries by this actor</a>
      </p>
    </div>
  </details>
)

const Day = ({ name, label }: { name: 'since' | 'until'; label: string }) => (
  <Field label={label}>
    {(field) => (
      <input
        {...field}
        type="date"
        value={filter(name).slice(0, 10)}
        onChange={({ currentTarget: { value } }) => setFilter(name, value && `${value}T00:00:00.000+00:00`)}
      />
    )}
  </Field>
)

export default function Audit() {
  const query = filters('action', 'actor', 'subject', 'workspace', 'since', 'until')
  return (
    <Screen title="Audit log">
      <p class="soft">Changes made by staff, developers, people, agents and the platform. Entries can’t be changed.</p>
      <Filters>
        <Search name="action" label="Action" hint="app.suspended, app.*" />
        <Search name="actor" label="Actor" hint="ID" />
        <Search name="subject" label="Subject" hint="ID" />
        <Search name="workspace" label="Workspace" hint="ws_…" />
        <Day name="since" label="From (UTC)" />
        <Day name="until" label="Before (UTC)" />
      </Filters>
      <Listing
        name={`audit ${JSON.stringify(query)}`}
        none="No matching entries"
        read={(at) => unwrap(api.GET('/admin/audit', { params: { query: { ...query, ...at } } }))}
      >
        {(entry) => <EntryView entry={entry} />}
      </Listing>
    </Screen>
  )
}
