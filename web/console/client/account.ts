import { computed, signal } from '@preact/signals'
import { miniApp } from '../../session/config.ts'
import { failureOf, toFailure } from '../../session/failure.ts'
import { initDataKey } from '../../session/init-data.ts'
import { keepLanguage } from '../../session/language.ts'
import { initData } from '../../session/messenger.ts'
import { clearSession, saveSession, session } from '../../session/session.ts'
import { loadItem, saveItem } from '../../session/store.ts'
import { askOtherTabs, shareWithTabs, signOutTabs } from '../../session/tabs.ts'
import type { ConsoleSession } from '../../session/types.ts'
import { announce } from '../../ui/announce.tsx'
import type { Phase } from '../../ui/app.tsx'
import { clearCache, refresh } from '../../ui/data.ts'
import { reader } from '../../ui/format.ts'
import { t } from '../../ui/messages.ts'
import { address, navigate, redirect } from '../../ui/router.ts'
import { api, onSessionExpired, type Schemas, unwrap } from './api.ts'
import { readBaseline } from './live.ts'

export type Identity = Schemas['ConsoleIdentity']

/** Signed-in user and workspace. Kept while the user signs in again, so that unsent input isn't lost. */
export const identity = signal<Identity | undefined>(undefined)

export const phase = signal<Phase | { name: 'unconfirmed' }>({ name: 'starting' })

/** Returns the name of a role. */
export const roleName = (role: string): string =>
  t('{role, select, owner {owner} admin {admin} other {member}}', { role })

const RANK = { member: 0, admin: 1, owner: 2 }
const atLeast = (role: keyof typeof RANK) =>
  computed(() => RANK[identity.value?.workspace.role ?? 'member'] >= RANK[role])

export const isAdmin = atLeast('admin')
export const isOwner = atLeast('owner')

const signOutHere = (note: string): void => {
  clearSession()
  phase.value = miniApp ? { name: 'unconfirmed' } : { name: 'signed_out', note }
}

onSessionExpired(() => {
  if (phase.value.name !== 'ready' && phase.value.name !== 'starting') return
  if (miniApp) void signInByInitData()
  else
    signOutHere(
      session() || identity.value ? t('Your session expired. Sign in again to pick up where you left off.') : '',
    )
})

/** Gives new users the browser's time zone, because the platform can't know it when they sign in for the first time. */
const adoptTimeZone = async ({ user }: Identity): Promise<void> => {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  if (user.time_zone_chosen || !timeZone) return
  try {
    const changed = await unwrap(api.PATCH('/console/me', { body: { time_zone: timeZone } }))
    if (identity.value) identity.value = { ...identity.value, user: { ...identity.value.user, ...changed } }
    reader.value = changed
    if (timeZone !== user.time_zone)
      announce(t('Times are shown in {timeZone}. You can change that in Settings.', { timeZone }))
  } catch {
    // Times stay in UTC, and the settings offer the choice.
  }
}

/** Loads the user's identity and shows the console. */
export const openConsole = async (): Promise<void> => {
  try {
    const [now] = await Promise.all([unwrap(api.GET('/console/me')), readBaseline()])
    const before = identity.value
    if (before && (before.user.id !== now.user.id || before.workspace.id !== now.workspace.id)) clearCache()
    if (keepLanguage(now.user.locale) && !miniApp) return location.reload()
    identity.value = now
    reader.value = now.user
    phase.value = { name: 'ready' }
    if (before) void refresh('')
    void adoptTimeZone(now)
  } catch (error) {
    const failure = toFailure(error)
    if (failure.status !== 401) phase.value = { name: 'failed', failure, again: () => void openConsole() }
  }
}

export const signInWith = (made: ConsoleSession): Promise<void> => {
  saveSession(made)
  return openConsole()
}

/** Telegram's launch data expires after ten minutes and works once. After that, the user has to reopen the page. */
let triedInitData = false
const signInByInitData = async (): Promise<void> => {
  if (triedInitData) return signOutHere('')
  triedInitData = true
  try {
    const asked = { body: { init_data: initData }, headers: { 'idempotency-key': initDataKey() } }
    const { data, error, response } = await api.POST('/console/bot/webapp-auth', asked)
    if (!data) throw failureOf(response, error)
    await signInWith(data)
  } catch (error) {
    const failure = toFailure(error)
    triedInitData = false
    phase.value =
      failure.status >= 400 && failure.status < 500
        ? { name: 'unconfirmed' }
        : { name: 'failed', failure, again: () => void signInByInitData() }
  }
}

/** Place that accepts the login widget's answer. */
export const WIDGET_PLACE = 'console'

const BEFORE = 'console-place'

/** Stores the current address, because the login widget leaves the page. */
export const saveAddress = (): void => saveItem(BEFORE, address.value)

// Few visits come back from the login widget.
const widget = () => import('../../session/sign-in.ts')

export const start = async (): Promise<void> => {
  if (miniApp) return signInByInitData()
  shareWithTabs(() => {
    identity.value = undefined
    clearCache()
    signOutHere(t('You signed out in another tab.'))
  })
  if (new URLSearchParams(location.search).has('hash')) {
    const { takeWidgetAnswer } = await widget()
    const fields = takeWidgetAnswer(WIDGET_PLACE)
    if (fields) return signInByWidget(fields, crypto.randomUUID())
  }
  await askOtherTabs()
  if (session()) return openConsole()
  phase.value = { name: 'signed_out', note: '' }
}

const signInByWidget = async (fields: Record<string, string>, key: string): Promise<void> => {
  try {
    const { signInWithWidget } = await widget()
    const made = await signInWithWidget(fields, key)
    redirect(loadItem<string>(BEFORE) ?? '/')
    await signInWith(made)
  } catch (error) {
    const failure = toFailure(error)
    if (failure.status === 0 || failure.status >= 500) {
      phase.value = { name: 'failed', failure, again: () => void signInByWidget(fields, key) }
    } else {
      signOutHere(t('We couldn’t verify your Telegram sign-in. Sign in again.'))
    }
  }
}

export const signOut = async (): Promise<void> => {
  // The page drops the session even if the request fails.
  await api.DELETE('/console/session').catch(() => {})
  signOutTabs()
  identity.value = undefined
  clearCache()
  signOutHere(t('You’re signed out.'))
}

/** Ends the session and asks the user to sign in again. Their screen stays, so that nothing they typed is lost. */
export const signInAgain = async (note: string): Promise<void> => {
  await api.DELETE('/console/session').catch(() => {})
  signOutHere(note)
}

/** Switches to another workspace and opens its home screen. */
export const switchWorkspace = async (workspace_id: string): Promise<void> => {
  const made = await unwrap(api.POST('/console/session/workspace', { body: { workspace_id } }))
  saveSession(made)
  clearCache()
  navigate('/')
  await openConsole()
}
