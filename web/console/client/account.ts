import { computed, signal } from '@preact/signals'
import { miniApp } from '../../session/config.ts'
import { asFailure } from '../../session/failure.ts'
import { session, signedIn, signedOut } from '../../session/session.ts'
import { signInWithInitData, signInWithWidget, widgetAnswer } from '../../session/sign-in.ts'
import { keep, read } from '../../session/store.ts'
import { askOtherTabs, endInTabs, shareWithTabs } from '../../session/tabs.ts'
import type { ConsoleSession } from '../../session/types.ts'
import type { Phase } from '../../ui/app.tsx'
import { forgetAll, refresh } from '../../ui/data.ts'
import { reader } from '../../ui/format.ts'
import { address, go, goInstead } from '../../ui/router.ts'
import { api, type Schemas, take, whenSessionIsOver } from './api.ts'

export type Identity = Schemas['ConsoleIdentity']

/** Who is signed in, where; kept while they sign in again, so that what they typed stays. */
export const identity = signal<Identity | undefined>(undefined)

export const phase = signal<Phase | { name: 'unconfirmed' }>({ name: 'starting' })

const RANK = { member: 0, admin: 1, owner: 2 }
const atLeast = (role: keyof typeof RANK) =>
  computed(() => RANK[identity.value?.workspace.role ?? 'member'] >= RANK[role])

export const isAdmin = atLeast('admin')
export const isOwner = atLeast('owner')

const signOutHere = (note: string): void => {
  signedOut()
  phase.value = miniApp ? { name: 'unconfirmed' } : { name: 'signed_out', note }
}

whenSessionIsOver(() => {
  if (phase.value.name !== 'ready' && phase.value.name !== 'starting') return
  if (miniApp) void enterByInitData()
  else signOutHere(session() || identity.value ? 'Your session is over. Sign in again: you go on where you were.' : '')
})

/** Reads who is signed in, and shows the console. */
export const enter = async (): Promise<void> => {
  try {
    const now = await take(api.GET('/console/me'))
    const before = identity.value
    if (before && (before.user.id !== now.user.id || before.workspace.id !== now.workspace.id)) forgetAll()
    identity.value = now
    reader.value = now.user
    phase.value = { name: 'ready' }
    if (before) void refresh('')
  } catch (error) {
    const failure = asFailure(error)
    if (failure.status !== 401) phase.value = { name: 'failed', failure, again: () => void enter() }
  }
}

export const enterWith = (made: ConsoleSession): Promise<void> => {
  signedIn(made)
  return enter()
}

/** The messaging app's own data count for ten minutes; after that it has to open the page again. */
let triedInitData = false
const enterByInitData = async (): Promise<void> => {
  if (triedInitData) return signOutHere('')
  triedInitData = true
  try {
    await enterWith(await signInWithInitData())
  } catch (error) {
    const failure = asFailure(error)
    triedInitData = false
    phase.value =
      failure.status >= 400 && failure.status < 500
        ? { name: 'unconfirmed' }
        : { name: 'failed', failure, again: () => void enterByInitData() }
  }
}

/** What the login widget's answer is for. */
export const WIDGET_PLACE = 'console'

const BEFORE = 'console-place'

/** The login widget leaves the page: where the person was is for afterwards. */
export const keepPlace = (): void => keep(BEFORE, address.value)

export const begin = async (): Promise<void> => {
  if (miniApp) return enterByInitData()
  shareWithTabs(() => {
    identity.value = undefined
    forgetAll()
    signOutHere('You signed out in another tab.')
  })
  const fields = widgetAnswer(WIDGET_PLACE)
  if (fields) return enterWithWidget(fields, crypto.randomUUID())
  await askOtherTabs()
  if (session()) return enter()
  phase.value = { name: 'signed_out', note: '' }
}

const enterWithWidget = async (fields: Record<string, string>, key: string): Promise<void> => {
  try {
    const made = await signInWithWidget(fields, key)
    goInstead(read<string>(BEFORE) ?? '/')
    await enterWith(made)
  } catch (error) {
    const failure = asFailure(error)
    if (failure.status === 0 || failure.status >= 500) {
      phase.value = { name: 'failed', failure, again: () => void enterWithWidget(fields, key) }
    } else {
      signOutHere('The messaging app did not confirm who you are. Sign in again.')
    }
  }
}

export const signOut = async (): Promise<void> => {
  // Whether or not that arrives: this page forgets the session.
  await api.DELETE('/console/session').catch(() => {})
  endInTabs()
  identity.value = undefined
  forgetAll()
  signOutHere('You are signed out.')
}

/** Goes on in another workspace, from its beginning. */
export const switchTo = async (workspace_id: string): Promise<void> => {
  const made = await take(api.POST('/console/session/workspace', { body: { workspace_id } }))
  signedIn(made)
  forgetAll()
  go('/')
  await enter()
}
