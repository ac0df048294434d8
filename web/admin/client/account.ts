import { computed, signal } from '@preact/signals'
import { asFailure } from '../../session/failure.ts'
import type { Phase } from '../../ui/app.tsx'
import { forgetAll, refresh } from '../../ui/data.ts'
import { api, type Schemas, take, whenSessionIsOver } from './api.ts'
import { forgetToken, keepToken, token } from './token.ts'

export type Identity = Schemas['AdminIdentity']

/** Who is signed in; kept while they sign in again, so that what they typed stays. */
export const identity = signal<Identity | undefined>(undefined)

export const phase = signal<Phase>({ name: 'starting' })

export const isSuperadmin = computed(() => identity.value?.role === 'superadmin')

const signOutHere = (note: string): void => {
  forgetToken()
  phase.value = { name: 'signed_out', note }
}

whenSessionIsOver(() => {
  if (phase.value.name === 'ready' || phase.value.name === 'starting') {
    signOutHere('Your session is over. It lasts 8 hours, and ends when your account is changed. Sign in again.')
  }
})

/** Reads who is signed in, and shows the page. */
const enter = async (): Promise<void> => {
  try {
    const now = await take(api.GET('/admin/me'))
    const before = identity.value
    // Another person, or the same one with other rights, sees nothing of what was read before.
    if (before && (before.id !== now.id || before.role !== now.role)) forgetAll()
    identity.value = now
    phase.value = { name: 'ready' }
    if (before) void refresh('')
  } catch (error) {
    const failure = asFailure(error)
    if (failure.status !== 401) phase.value = { name: 'failed', failure, again: () => void enter() }
  }
}

/** @throws {Failure} `unauthorized` for what does not fit, `rate_limited` after too many tries */
export const signIn = async (email: string, password: string): Promise<void> => {
  keepToken(await take(api.POST('/admin/auth/login', { body: { email, password } })))
  await enter()
}

export const signOut = (): void => {
  identity.value = undefined
  forgetAll()
  signOutHere('You are signed out.')
}

export const begin = async (): Promise<void> => {
  if (token()) return enter()
  phase.value = { name: 'signed_out', note: '' }
}
