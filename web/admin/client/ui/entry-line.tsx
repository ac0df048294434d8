import { fullTime, humanize } from '../../../ui/format.ts'
import { Name, When } from '../../../ui/text.tsx'
import type { Schemas } from '../api.ts'
import { deedOf } from './audit-deeds.ts'

type Entry = Schemas['PlatformAuditEntry']

/** An actor by their name, or what they are. Their id is among the entry's details. */
const named = ({ type, name }: Entry['actor']): string => name ?? humanize(type).toLowerCase()

/** An audit log entry on one line: who did what to which record, and when. */
export const EntryLine = ({ entry }: { entry: Entry }) => (
  <summary>
    <strong>
      <Name>{named(entry.actor)}</Name>
    </strong>{' '}
    {deedOf(entry, fullTime)}
    <span class="soft">
      {' '}
      · <When at={entry.created_at} />
    </span>
  </summary>
)
