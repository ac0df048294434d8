import type { components } from './platform.d.ts'
import { Name, When } from './text.tsx'

type Entry = components['schemas']['AuditEntry']

const named = ({ type, id, name }: Entry['actor']): string => name ?? (id === type ? type : `${type} ${id}`)

/** An audit log entry on one line: action, actor, subject and time. */
export const EntryLine = ({
  entry: { action, actor, subject, created_at },
}: {
  entry: Pick<Entry, 'action' | 'actor' | 'subject' | 'created_at'>
}) => (
  <summary>
    <code>{action}</code> <Name>{named(actor)}</Name>
    <span class="soft">
      {' '}
      → <Name>{named(subject)}</Name> · <When at={created_at} />
    </span>
  </summary>
)
