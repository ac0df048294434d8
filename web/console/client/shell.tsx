import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { clean } from '../../session/text.ts'
import { useAct } from '../../ui/act.ts'
import { announce } from '../../ui/announce.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Frame, type Item, shortCount } from '../../ui/shell.tsx'
import { Name } from '../../ui/text.tsx'
import { type Identity, isAdmin, signOut, switchTo } from './account.ts'
import { online, unread, waiting, watch } from './live.ts'

export const ITEMS: readonly Item[] = [
  { to: '/', label: 'Home', icon: 'home', first: true, count: { of: waiting, words: 'waiting for you' } },
  { to: '/chat', label: 'Chat', icon: 'chat', first: true },
  { to: '/tasks', label: 'Tasks', icon: 'tasks', first: true },
  { to: '/agents', label: 'Agents', icon: 'agents', first: true },
  { to: '/marketplace', label: 'Marketplace', icon: 'store' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/files', label: 'Files', icon: 'files' },
  { to: '/messenger', label: 'Messenger', icon: 'messenger' },
  { to: '/notifications', label: 'Notifications', icon: 'bell', count: { of: unread, words: 'unread' } },
  { to: '/access', label: 'Connected apps', icon: 'key' },
  { to: '/wishlist', label: 'Wishlist', icon: 'wish' },
  { to: '/members', label: 'Members', icon: 'people' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
  { to: '/audit', label: 'Audit', icon: 'audit', only: isAdmin },
]

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

const Top = ({ who }: { who: Identity }) => (
  <>
    <Places who={who} />
    <a
      class="bell"
      href="#/notifications"
      aria-label={unread.value > 0 ? `Notifications, ${unread.value} unread` : 'Notifications'}
    >
      <Icon name="bell" />
      {unread.value > 0 && (
        <span class="count" aria-hidden="true">
          {shortCount(unread.value)}
        </span>
      )}
    </a>
  </>
)

/** What stands around every screen. */
export const Shell = ({ who, children }: { who: Identity; children: ComponentChildren }) => {
  useEffect(watch, [])
  return (
    <Frame name="Console" items={ITEMS} top={<Top who={who} />} person={<Person who={who} />}>
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
    </Frame>
  )
}
