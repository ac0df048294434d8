import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { sanitize } from '../../session/text.ts'
import { useAction } from '../../ui/act.ts'
import { announce } from '../../ui/announce.tsx'
import { Mark, Support } from '../../ui/brand.tsx'
import { Icon } from '../../ui/icons.tsx'
import { rich, t } from '../../ui/messages.ts'
import { Problem } from '../../ui/problem.tsx'
import { Frame, type NavItem, shortCount } from '../../ui/shell.tsx'
import { Name } from '../../ui/text.tsx'
import { type Identity, isAdmin, roleName, signOut, switchWorkspace } from './account.ts'
import { online, startUpdates, unread, waiting } from './live.ts'
import { Quick, SearchButton, ShortcutsButton } from './quick.tsx'
import { useWaiting } from './waiting.ts'

const [WORK, DISCOVER, WORKSPACE] = [t('Work'), t('Discover'), t('Workspace')]

const CLOCK = 'M12 6v6l4 2M2 12a10 10 0 1 0 20 0a10 10 0 1 0 -20 0'

export const ITEMS: readonly NavItem[] = [
  { to: '/', label: t('Home'), icon: 'home', first: true, count: { of: waiting, words: t('waiting for you') } },
  { to: '/notifications', label: t('Notifications'), icon: 'bell', count: { of: unread, words: t('unread') } },
  { to: '/chat', label: t('Conversations'), icon: 'chat', first: true },
  { to: '/tasks', label: t('Tasks'), icon: 'tasks', first: true },
  { to: '/agents', label: t('Agents'), icon: 'agents', first: true },
  { to: '/runs', label: t('Runs'), icon: 'runs', group: WORK },
  { to: '/schedules', label: t('Schedules'), icon: { path: CLOCK }, group: WORK },
  { to: '/files', label: t('Files'), icon: 'files', group: WORK },
  { to: '/messenger', label: t('Messenger'), icon: 'messenger', group: WORK },
  { to: '/marketplace', label: t('Marketplace'), icon: 'store', group: DISCOVER },
  { to: '/wishlist', label: t('Agent requests'), icon: 'wish', group: DISCOVER },
  { to: '/members', label: t('Members'), icon: 'people', group: WORKSPACE },
  { to: '/access', label: t('Connected apps'), icon: 'key', group: WORKSPACE },
  { to: '/assistants', label: t('Connected assistants'), icon: 'plug', group: WORKSPACE },
  { to: '/usage', label: t('Usage'), icon: 'chart', group: WORKSPACE },
  { to: '/settings', label: t('Settings'), icon: 'settings', group: WORKSPACE },
  { to: '/audit', label: t('Audit log'), icon: 'audit', only: isAdmin, group: WORKSPACE },
]

const Places = ({ who }: { who: Identity }) => {
  const { failure, act } = useAction()
  const { workspace, workspaces } = who
  return (
    <div class="places">
      <label class="unseen" for="workspace-choice">
        {t('Workspace')}
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
            announce(t('Workspace switched.'))
          })
        }}
      >
        {(workspaces.some(({ id }) => id === workspace.id) ? workspaces : [workspace, ...workspaces]).map(
          ({ id, name, is_sandbox }) => (
            <option key={id} value={id}>
              {sanitize(name)}
              {is_sandbox ? t(' (sandbox)') : ''}
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
        <span class="soft"> · {roleName(who.workspace.role)}</span>
      </p>
      <button type="button" class="quiet" aria-busy={busy} onClick={() => act(signOut)}>
        {t('Sign out')}
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
      class="bell only-narrow"
      href="#/notifications"
      aria-label={unread.value > 0 ? t('Notifications, {unread} unread', { unread: unread.value }) : t('Notifications')}
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
    <Frame
      name={t('Console')}
      items={ITEMS}
      top={<Top who={who} />}
      lead={<SearchButton />}
      person={<Person who={who} />}
    >
      <Quick screens={ITEMS.filter(({ only }) => !only || only.value)} />
      {who.workspace.status === 'suspended' && (
        <p class="note warn">
          {rich(
            '<strong>This workspace is suspended.</strong> Its agents can’t run. <support>Contact support</support> for details.',
            { strong: (text) => <strong>{text}</strong>, support: (text) => <Support>{text}</Support> },
          )}
        </p>
      )}
      {!online.value && (
        <p class="note warn" role="status">
          {rich(
            '<strong>No connection.</strong> This page may be out of date. It’ll refresh when you’re back online.',
            { strong: (text) => <strong>{text}</strong> },
          )}
        </p>
      )}
      {children}
    </Frame>
  )
}
