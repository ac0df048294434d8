import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { sanitize } from '../../session/text.ts'
import { useAction } from '../../ui/act.ts'
import { announce } from '../../ui/announce.tsx'
import { Mark, Support } from '../../ui/brand.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Frame, type NavItem, shortCount } from '../../ui/shell.tsx'
import { Name } from '../../ui/text.tsx'
import { type Identity, isAdmin, signOut, switchWorkspace } from './account.ts'
import { online, startUpdates, unread, waiting } from './live.ts'
import { Quick, SearchButton, ShortcutsButton } from './quick.tsx'
import { useWaiting } from './waiting.ts'

export const ITEMS: readonly NavItem[] = [
  { to: '/', label: 'Home', icon: 'home', first: true, count: { of: waiting, words: 'waiting for you' } },
  { to: '/chat', label: 'Conversations', icon: 'chat', first: true },
  { to: '/tasks', label: 'Tasks', icon: 'tasks', first: true },
  { to: '/agents', label: 'Agents', icon: 'agents', first: true },
  { to: '/marketplace', label: 'Marketplace', icon: 'store' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/files', label: 'Files', icon: 'files' },
  { to: '/messenger', label: 'Messenger', icon: 'messenger' },
  { to: '/notifications', label: 'Notifications', icon: 'bell', count: { of: unread, words: 'unread' } },
  { to: '/access', label: 'Connected apps', icon: 'key' },
  { to: '/assistants', label: 'Connected assistants', icon: 'key' },
  { to: '/wishlist', label: 'Agent requests', icon: 'wish' },
  { to: '/usage', label: 'Usage', icon: 'chart' },
  { to: '/members', label: 'Members', icon: 'people' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
  { to: '/audit', label: 'Audit log', icon: 'audit', only: isAdmin },
]

const Places = ({ who }: { who: Identity }) => {
  const { failure, act } = useAction()
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
            await switchWorkspace(to)
            announce('Workspace switched.')
          })
        }}
      >
        {(workspaces.some(({ id }) => id === workspace.id) ? workspaces : [workspace, ...workspaces]).map(
          ({ id, name, is_sandbox }) => (
            <option key={id} value={id}>
              {sanitize(name)}
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
  const { busy, act } = useAction()
  return (
    <div class="person">
      <p>
        <Name>{who.user.name}</Name>
        <span class="soft"> · {who.workspace.role}</span>
      </p>
      <button type="button" class="quiet" aria-busy={busy} onClick={() => act(signOut)}>
        Sign out
      </button>
      <ShortcutsButton />
    </div>
  )
}

const Top = ({ who }: { who: Identity }) => (
  <>
    <Mark />
    <Places who={who} />
    <SearchButton inHeader />
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

export const Shell = ({ who, children }: { who: Identity; children: ComponentChildren }) => {
  useEffect(startUpdates, [])
  useWaiting()
  return (
    <Frame name="Console" items={ITEMS} top={<Top who={who} />} lead={<SearchButton />} person={<Person who={who} />}>
      <Quick screens={ITEMS.filter(({ only }) => !only || only.value)} />
      {who.workspace.status === 'suspended' && (
        <p class="note warn">
          <strong>This workspace is suspended.</strong> Its agents can’t run. <Support>Contact support</Support> for
          details.
        </p>
      )}
      {!online.value && (
        <p class="note warn" role="status">
          <strong>No connection.</strong> This page may be out of date. It’ll refresh when you’re back online.
        </p>
      )}
      {children}
    </Frame>
  )
}
