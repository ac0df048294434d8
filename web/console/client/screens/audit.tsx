import { useState } from 'preact/hooks'
import { api, type Schemas, take } from '../api.ts'
import { usePages } from '../data.ts'
import { Empty, Field, More, Screen, Shown } from '../ui/kit.tsx'
import { Json, Name, When } from '../ui/text.tsx'

type Entry = Schemas['AuditEntry']

const named = ({ type, id, name }: Entry['actor']): string => name ?? (id === type ? type : `${type} ${id}`)

export default function Audit() {
  const [action, setAction] = useState('')
  const [wanted, setWanted] = useState('')
  const entries = usePages<Entry>(`audit ${wanted}`, (cursor) =>
    take(
      api.GET('/console/audit', {
        params: { query: { ...(wanted && { action: wanted }), ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <Screen title="Audit">
      <p class="soft">What people, agents and the platform did in this workspace. Nobody can change it.</p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setWanted(action.trim())
        }}
      >
        <Field label="Action">
          {(field) => (
            <input
              {...field}
              value={action}
              placeholder="approval.*"
              autocomplete="off"
              onInput={(event) => setAction(event.currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit">Filter</button>
      </form>
      <Shown known={entries} rows={8}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title={entries.more ? 'None among these. Show more to look further back.' : 'There is no such entry.'}
            />
          ) : (
            <ul class="rows">
              {items.map((entry) => (
                <li key={entry.id}>
                  <details class="entry">
                    <summary>
                      <code>{entry.action}</code> <Name>{named(entry.actor)}</Name>
                      <span class="soft">
                        {' '}
                        → <Name>{named(entry.subject)}</Name> · <When at={entry.created_at} />
                      </span>
                    </summary>
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
