import { humanize } from '../../../ui/format.ts'
import { Name, When } from '../../../ui/text.tsx'
import type { Schemas } from '../api.ts'

type Entry = Schemas['PlatformAuditEntry']

/** A record by its name, or what it is. Its id is among the entry's details. */
const named = ({ type, name }: Entry['actor']): string => name ?? humanize(type).toLowerCase()

/** An audit log entry on one line: action, actor, subject and time. */
export const EntryLine = ({
  entry: { action, actor, subject, created_at },
}: {
  entry: Pick<Entry, 'action' | 'actor' | 'subject' | 'created_at'>
}) => (
  <summary>
    <strong>{humanize(action)}</strong>{' '}
    <span class="soft">
      by <Name>{named(actor)}</Name>
      {subject.id !== actor.id && (
        <>
          {' '}
          → <Name>{named(subject)}</Name>
        </>
      )}{' '}
      · <When at={created_at} />
    </span>
  </summary>
)
