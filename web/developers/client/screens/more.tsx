import { MoreScreen } from '../../../ui/shell.tsx'
import { identity } from '../account.ts'
import { ITEMS, Person } from '../shell.tsx'

export default function More() {
  const who = identity.value
  return <MoreScreen items={ITEMS} person={who && <Person who={who} />} />
}
