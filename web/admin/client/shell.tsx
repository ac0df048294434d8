import type { ComponentChildren } from 'preact'
import { place } from '../../console/client/router.ts'
import { Icon, type IconName } from '../../console/client/ui/icons.tsx'
import { Name } from '../../console/client/ui/text.tsx'
import { type Identity, isSuperadmin, signOut } from './account.ts'

interface Item {
  to: string
  label: string
  icon: IconName
  /** Also in the bar at the bottom of narrow windows. */
  first?: true
  superadmins?: true
}

const ITEMS: readonly Item[] = [
  { to: '/', label: 'Overview', icon: 'chart', first: true },
  { to: '/review', label: 'Review', icon: 'tasks', first: true },
  { to: '/apps', label: 'Apps', icon: 'agents', first: true },
  { to: '/abuse-reports', label: 'Complaints', icon: 'flag', first: true },
  { to: '/verifications', label: 'Verifications', icon: 'shield' },
  { to: '/reviews', label: 'Reviews', icon: 'star' },
  { to: '/requests', label: 'Requests', icon: 'wish' },
  { to: '/developers', label: 'Developers', icon: 'people' },
  { to: '/workspaces', label: 'Workspaces', icon: 'building' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/audit', label: 'Audit', icon: 'audit' },
  { to: '/health', label: 'Health', icon: 'pulse' },
  { to: '/export', label: 'Export', icon: 'download' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
  { to: '/admins', label: 'Staff', icon: 'key', superadmins: true },
]

const isAt = (to: string, path: string): boolean => path === to || (to !== '/' && path.startsWith(`${to}/`))

const NavLink = ({ item }: { item: Item }) => (
  <a
    href={`#${item.to}`}
    class={item.first ? 'nav-link' : 'nav-link extra'}
    {...(isAt(item.to, place.value.path) && { 'aria-current': 'page' as const })}
  >
    <Icon name={item.icon} />
    <span>{item.label}</span>
  </a>
)

export const visibleItems = (): Item[] => ITEMS.filter(({ superadmins }) => !superadmins || isSuperadmin.value)

const Person = ({ who }: { who: Identity }) => (
  <div class="person">
    <p>
      <a href="#/account">
        <Name>{who.name}</Name>
      </a>
      <span class="soft"> · {who.role}</span>
    </p>
    <button type="button" class="quiet" onClick={signOut}>
      Sign out
    </button>
  </div>
)

/** What stands around every screen. */
export const Shell = ({ who, children }: { who: Identity; children: ComponentChildren }) => (
  <div class="shell staff">
    <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
      Skip to the content
    </button>
    <header class="top">
      <p class="brand">
        <strong>Platform staff</strong>
      </p>
    </header>
    <nav aria-label="Staff">
      {visibleItems().map((item) => (
        <NavLink key={item.to} item={item} />
      ))}
      <a
        href="#/more"
        class="nav-link only-narrow"
        {...(place.value.path === '/more' && { 'aria-current': 'page' as const })}
      >
        <Icon name="more" />
        <span>More</span>
      </a>
      <Person who={who} />
    </nav>
    <main id="main" tabIndex={-1}>
      {children}
    </main>
  </div>
)
