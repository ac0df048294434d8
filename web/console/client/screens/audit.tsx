import { useState } from 'preact/hooks'
import { EntryLine } from '../../../ui/audit.tsx'
import { usePages } from '../../../ui/data.ts'
import { TextField } from '../../../ui/form.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Json } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Entry = Schemas['AuditEntry']

export default function Audit() {
  const [action, setAction] = useState('')
  const [wanted, setWanted] = useState('')
  const entries = usePages<Entry>(`audit ${wanted}`, (cursor) =>
    unwrap(
      api.GET('/console/audit', {
        params: { query: { ...(wanted && { action: wanted }), ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <Screen title="Audit log">
      <p class="soft">
        Everything that people, agents and the platform did in this workspace. Entries can’t be changed.
      </p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setWanted(action.trim())
        }}
      >
        <TextField label="Action" value={action} placeholder="approval.*" autocomplete="off" onText={setAction} />
        <button type="submit">Filter</button>
      </form>
      <Shown known={entries} rows={8}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title={entries.more ? 'No matches so far. Show more to look further back.' : 'No matching entries'}
            />
          ) : (
            <ul class="rows">
              {items.map((entry) => (
                <li key={entry.id}>
                  <details class="entry">
                    <EntryLine entry={entry} />
                    <Json
                      label={`Details of ${entry.action}`}
                      value={{
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
