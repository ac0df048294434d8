import { Icon } from '../../../console/client/ui/icons.tsx'
import { Screen } from '../../../console/client/ui/kit.tsx'
import { identity, signOut } from '../account.ts'
import { visibleItems } from '../shell.tsx'

/** The places that a narrow window’s bar has no room for. */
export default function More() {
  return (
    <Screen title="More">
      <ul class="rows">
        {visibleItems()
          .filter(({ first }) => !first)
          .map(({ to, label, icon }) => (
            <li key={to}>
              <a class="row" href={`#${to}`}>
                <Icon name={icon} />
                {label}
              </a>
            </li>
          ))}
        <li>
          <a class="row" href="#/account">
            <Icon name="people" />
            {identity.value?.name ?? 'Account'}
          </a>
        </li>
      </ul>
      <div class="actions">
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </div>
    </Screen>
  )
}
