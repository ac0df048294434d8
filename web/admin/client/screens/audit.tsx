import { EntryLine } from '../../../ui/audit.tsx'
import { Field } from '../../../ui/form.tsx'
import { fullTime } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'
import { Filters, filter, filters, Search, setFilter } from '../ui/filters.tsx'
import { Listing } from '../ui/listing.tsx'

type Entry = Schemas['PlatformAuditEntry']

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** What changed, side by side: each field as it was and as it became. */
const BeforeAfter = ({ before, after, of }: { before: Entry['before']; after: Entry['after']; of: string }) => {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  if (fields.length === 0) return null
  const cell = (side: Entry['before'], field: string) =>
    side && field in side ? <Name>{text(side[field])}</Name> : <span class="soft">–</span>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
    <section class="table diff" tabIndex={0} aria-label={`What ${of} changed`}>
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
        <Fact label="When" value={fullTime(entry.created_at)} />
        <Fact label="Who" value={`${entry.actor.type} ${entry.actor.id}`} />
        <Fact label="On what" value={`${entry.subject.type} ${entry.subject.id}`} />
        <Fact label="Workspace" value={entry.workspace_id} />
        <Fact label="From" value={entry.source_ip} />
        <Fact label="Request" value={entry.request_id} />
        {Object.entries(entry.details).map(([name, value]) => (
          <Fact key={name} label={name} value={text(value)} />
        ))}
      </dl>
      <p class="hint">
        <a href={`#/audit?subject=${encodeURIComponent(entry.subject.id)}`}>All about this</a> ·{' '}
        <a href={`#/audit?actor=${encodeURIComponent(entry.actor.id)}`}>All by them</a>
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
    <Screen title="Audit">
      <p class="soft">What staff, developers, people, agents and the platform changed. Nobody can change it.</p>
      <Filters>
        <Search name="action" label="Action" hint="app.suspended, app.*" />
        <Search name="actor" label="Who" hint="Id" />
        <Search name="subject" label="On what" hint="Id" />
        <Search name="workspace" label="Workspace" hint="ws_…" />
        <Day name="since" label="From (UTC)" />
        <Day name="until" label="Before (UTC)" />
      </Filters>
      <Listing
        name={`audit ${JSON.stringify(query)}`}
        none="There is no such entry."
        read={(at) => take(api.GET('/admin/audit', { params: { query: { ...query, ...at } } }))}
      >
        {(entry) => <EntryView entry={entry} />}
      </Listing>
    </Screen>
  )
}
