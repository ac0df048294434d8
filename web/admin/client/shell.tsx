import type { ComponentChildren } from 'preact'
import { Brand } from '../../ui/brand.tsx'
import { Frame, type NavItem } from '../../ui/shell.tsx'
import { Name } from '../../ui/text.tsx'
import { type Identity, isSuperadmin, signOut } from './account.ts'
import { BUILDING, FLAG, PULSE, SHIELD, STAR } from './icons.ts'

export const ITEMS: readonly NavItem[] = [
  { to: '/', label: 'Overview', icon: 'chart', first: true },
  { to: '/review', label: 'Review', icon: 'tasks', first: true },
  { to: '/apps', label: 'Apps', icon: 'agents', first: true },
  { to: '/abuse-reports', label: 'Reports', icon: FLAG, first: true },
  { to: '/verifications', label: 'Verifications', icon: SHIELD, group: 'Moderation' },
  { to: '/reviews', label: 'Reviews', icon: STAR, group: 'Moderation' },
  { to: '/requests', label: 'Agent requests', icon: 'wish', group: 'Moderation' },
  { to: '/developers', label: 'Developers', icon: 'people', group: 'Customers' },
  { to: '/workspaces', label: 'Workspaces', icon: BUILDING, group: 'Customers' },
  { to: '/runs', label: 'Runs', icon: 'runs', group: 'Customers' },
  { to: '/audit', label: 'Audit log', icon: 'audit', group: 'Platform' },
  { to: '/health', label: 'Health', icon: PULSE, group: 'Platform' },
  { to: '/export', label: 'Export', icon: 'download', group: 'Platform' },
  { to: '/settings', label: 'Settings', icon: 'settings', group: 'Platform' },
  { to: '/admins', label: 'Staff accounts', icon: 'key', only: isSuperadmin, group: 'Platform' },
]

export const Person = ({ who }: { who: Identity }) => (
  <div class="person">
    <p>
      <a href="#/account">
        <Name>{who.name}</Name>
      </a>
      <span class="soft"> · {who.role}</span>
    </p>
    <button type="button" class="quiet" onClick={() => void signOut()}>
      Sign out
    </button>
  </div>
)

export const Shell = ({ who, children }: { who: Identity; children: ComponentChildren }) => (
  <Frame name="Staff" kind="staff" items={ITEMS} top={<Brand page="Platform staff" />} person={<Person who={who} />}>
    {children}
  </Frame>
)
