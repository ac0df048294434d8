import { computed, signal } from '@preact/signals'
import { toFailure } from '../../session/failure.ts'
import type { Phase } from '../../ui/app.tsx'
import { clearCache, refresh } from '../../ui/data.ts'
import { api, onSessionExpired, type Schemas, unwrap } from './api.ts'
import { onPasskeyRequired } from './confirmation.ts'
import { clearToken, saveToken, token } from './token.ts'

export type Identity = Schemas['AdminIdentity']

/** Signed-in admin. Kept while they sign in again, so that unsent input isn't lost. */
export const identity = signal<Identity | undefined>(undefined)

/** A sign-in that isn’t complete asks for a passkey, or for a first one. */
export const phase = signal<Phase | { name: NextStep }>({ name: 'starting' })

type NextStep = NonNullable<NonNullable<Identity['session']>['next_step']>

export const isSuperadmin = computed(() => identity.value?.role === 'superadmin')

const signOutHere = (note: string): void => {
  clearToken()
  phase.value = { name: 'signed_out', note }
}

onSessionExpired(() => {
  const { name } = phase.value
  if (name === 'ready' || name === 'starting') {
    signOutHere('Your session ended. Sessions last 8 hours, or until your account changes. Sign in again.')
  } else if (name !== 'signed_out') {
    signOutHere('The sign-in took too long. Sign in again.')
  }
})

onPasskeyRequired(() => void openPage())

/** Loads the admin's identity and shows the page, or the next step of the sign-in. */
export const openPage = async (): Promise<void> => {
  try {
    const now = await unwrap(api.GET('/admin/me'))
    const step = now.session?.next_step
    if (step) {
      phase.value = { name: step }
      return
    }
    const before = identity.value
    // A different admin or role must not see data loaded before.
    if (before && (before.id !== now.id || before.role !== now.role)) clearCache()
    identity.value = now
    phase.value = { name: 'ready' }
    if (before) void refresh('')
  } catch (error) {
    const failure = toFailure(error)
    if (failure.status !== 401) phase.value = { name: 'failed', failure, again: () => void openPage() }
  }
}

/** @throws {Failure} `unauthorized` for wrong credentials, `rate_limited` after too many attempts */
export const signIn = async (email: string, password: string): Promise<void> => {
  saveToken(await unwrap(api.POST('/admin/auth/login', { body: { email, password } })))
  await openPage()
}

export const signOut = async (): Promise<void> => {
  // The page drops the session even if the request fails.
  await api.DELETE('/admin/session').catch(() => {})
  identity.value = undefined
  clearCache()
  signOutHere('You’re signed out.')
}

export const start = async (): Promise<void> => {
  if (token()) return openPage()
  phase.value = { name: 'signed_out', note: '' }
}
