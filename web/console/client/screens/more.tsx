import { identity } from '../account.ts'
import { NavLink, Person, visibleItems } from '../shell.tsx'
import { Screen } from '../ui/kit.tsx'

/** Everything that has no room in the bar of a narrow window. */
export default function More() {
  const who = identity.value
  return (
    <Screen title="More">
      <ul class="rows">
        {visibleItems()
          .filter(({ first }) => !first)
          .map((item) => (
            <li key={item.to}>
              <NavLink item={item} />
            </li>
          ))}
      </ul>
      {who && <Person who={who} />}
    </Screen>
  )
}
