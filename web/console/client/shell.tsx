import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { clean } from '../../session/text.ts'
import { type Identity, isAdmin, signOut, switchTo } from './account.ts'
import { online, unread, waiting, watch } from './live.ts'
import { place } from './router.ts'
import { useAct } from './ui/act.ts'
import { announce } from './ui/announce.tsx'
import { Icon, type IconName } from './ui/icons.tsx'
import { Problem } from './ui/problem.tsx'
import { Name } from './ui/text.tsx'

interface Item {
  to: string
  label: string
  icon: IconName
  /** Also in the bar at the bottom of narrow windows. */
  first?: true
  admins?: true
}

const ITEMS: Item[] = [
  { to: '/', label: 'Home', icon: 'home', first: true },
  { to: '/chat', label: 'Chat', icon: 'chat', first: true },
  { to: '/tasks', label: 'Tasks', icon: 'tasks', first: true },
  { to: '/agents', label: 'Agents', icon: 'agents', first: true },
  { to: '/marketplace', label: 'Marketplace', icon: 'store' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/files', label: 'Files', icon: 'files' },
  { to: '/messenger', label: 'Messenger', icon: 'messenger' },
  { to: '/notifications', label: 'Notifications', icon: 'bell' },
  { to: '/access', label: 'Connected apps', icon: 'key' },
  { to: '/wishlist', label: 'Wishlist', icon: 'wish' },
  { to: '/members', label: 'Members', icon: 'people' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
  { to: '/audit', label: 'Audit', icon: 'audit', admins: true },
]

const isAt = (to: string, path: string): boolean => path === to || (to !== '/' && path.startsWith(`${to}/`))

const Count = ({ of, words }: { of: number; words: string }) =>
  of > 0 ? (
    <span class="count">
      {of > 99 ? '99+' : of}
      <span class="unseen"> {words}</span>
    </span>
  ) : null

export const NavLink = ({ item, extra }: { item: Item; extra?: boolean }) => {
  const current = isAt(item.to, place.value.path)
  return (
    <a
      href={`#${item.to}`}
      class={extra ? 'nav-link extra' : 'nav-link'}
      {...(current && { 'aria-current': 'page' as const })}
    >
      <Icon name={item.icon} />
      <span>{item.label}</span>
      {item.to === '/' && <Count of={waiting.value} words="waiting for you" />}
      {item.to === '/notifications' && <Count of={unread.value} words="unread" />}
    </a>
  )
}

export const visibleItems = (): Item[] => ITEMS.filter(({ admins }) => !admins || isAdmin.value)

const Places = ({ who }: { who: Identity }) => {
  const { failure, act } = useAct()
  const { workspace, workspaces } = who
  return (
    <div class="places">
      <label class="unseen" for="workspace-choice">
        Workspace
      </label>
      <select
        id="workspace-choice"
        value={workspace.id}
        onChange={(event) => {
          const select = event.currentTarget
          const to = select.value
          select.value = workspace.id
          act(async () => {
            await switchTo(to)
            announce('You are in another workspace now.')
          })
        }}
      >
        {(workspaces.some(({ id }) => id === workspace.id) ? workspaces : [workspace, ...workspaces]).map(
          ({ id, name, is_sandbox }) => (
            <option key={id} value={id}>
              {clean(name)}
              {is_sandbox ? ' (sandbox)' : ''}
            </option>
          ),
        )}
      </select>
      {failure && <Problem failure={failure} />}
    </div>
  )
}

export const Person = ({ who }: { who: Identity }) => {
  const { busy, act } = useAct()
  return (
    <div class="person">
      <p>
        <Name>{who.user.name}</Name>
        <span class="soft"> · {who.workspace.role}</span>
      </p>
      <button type="button" class="quiet" aria-busy={busy} onClick={() => act(signOut)}>
        Sign out
      </button>
    </div>
  )
}

/** What stands around every screen. */
export const Shell = ({ who, children }: { who: Identity; children: ComponentChildren }) => {
  useEffect(watch, [])
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <Places who={who} />
        <a
          class="bell"
          href="#/notifications"
          aria-label={unread.value > 0 ? `Notifications, ${unread.value} unread` : 'Notifications'}
        >
          <Icon name="bell" />
          {unread.value > 0 && (
            <span class="count" aria-hidden="true">
              {unread.value > 99 ? '99+' : unread.value}
            </span>
          )}
        </a>
      </header>
      <nav aria-label="Console">
        {visibleItems().map((item) => (
          <NavLink key={item.to} item={item} extra={!item.first} />
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
        {who.workspace.status === 'suspended' && (
          <p class="note warn">
            <strong>This workspace is suspended.</strong> Its agents do not run. Ask the platform’s support why.
          </p>
        )}
        {!online.value && (
          <p class="note warn" role="status">
            <strong>No connection.</strong> What you see may be old; it is renewed when you are online again.
          </p>
        )}
        {children}
      </main>
    </div>
  )
}
