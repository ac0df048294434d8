import type { ComponentChildren } from 'preact'
import { resolveUrl } from '../../session/config.ts'
import { Brand } from '../../ui/brand.tsx'
import { Frame, type NavItem } from '../../ui/shell.tsx'
import { Name } from '../../ui/text.tsx'
import { type Identity, signOut } from './account.ts'

export const ITEMS: readonly NavItem[] = [
  { to: '/', label: 'Apps', icon: 'agents', first: true },
  { to: '/sandbox', label: 'Sandbox', icon: 'store', first: true },
  { to: '/requests', label: 'Requests', icon: 'wish', first: true },
  { to: '/team', label: 'Team', icon: 'people' },
  { to: '/account', label: 'Account', icon: 'key' },
]

export const Person = ({ who }: { who: Identity }) => (
  <div class="person">
    <p>
      <Name>{who.member?.name ?? who.name}</Name>
      <br />
      {who.role === 'viewer' && (
        <>
          <span class="soft">Viewer: reads only</span>
          <br />
        </>
      )}
      <a href={resolveUrl('docs')}>Documentation</a>
    </p>
    <button type="button" class="quiet" onClick={() => void signOut()}>
      Sign out
    </button>
  </div>
)

export const Shell = ({ who, children }: { who: Identity; children: ComponentChildren }) => (
  <Frame
    name="Developers"
    kind="developers"
    items={ITEMS}
    top={<Brand page="Developers" />}
    person={<Person who={who} />}
  >
    {children}
  </Frame>
)
