import { signal } from '@preact/signals'
import { toFailure } from '../../session/failure.ts'
import { announce } from '../../ui/announce.tsx'
import type { Phase } from '../../ui/app.tsx'
import { clearCache, refresh } from '../../ui/data.ts'
import { match, place, redirect } from '../../ui/router.ts'
import { api, onSessionExpired, type Schemas, unwrap } from './api.ts'
import { clearSandboxTokens } from './sandbox.ts'
import { clearToken, saveToken, token } from './token.ts'

export type Identity = Schemas['DeveloperProfile']

/** Signed-in developer. Kept while they sign in again, so that unsent input isn't lost. */
export const identity = signal<Identity | undefined>(undefined)

export const phase = signal<Phase>({ name: 'starting' })

const signOutHere = (note: string): void => {
  clearToken()
  clearSandboxTokens()
  phase.value = { name: 'signed_out', note }
}

onSessionExpired(() => {
  const { name } = phase.value
  if (name === 'ready' || name === 'starting') {
    signOutHere('Your session ended. Sessions last 12 hours, or until your keys are recovered. Sign in again.')
  }
})

/** Loads the developer's account and shows the portal. */
const openPage = async (): Promise<void> => {
  try {
    const now = await unwrap(api.GET('/api/v1/dev/me'))
    const before = identity.value
    if (before && before.id !== now.id) clearCache()
    identity.value = now
    phase.value = { name: 'ready' }
    if (before) void refresh('')
  } catch (error) {
    const failure = toFailure(error)
    if (failure.status !== 401) phase.value = { name: 'failed', failure, again: () => void openPage() }
  }
}

/** Loads the account again after it changed. */
export const reloadIdentity = async (): Promise<void> => {
  identity.value = await unwrap(api.GET('/api/v1/dev/me'))
}

/** @throws {Failure} `unauthorized` for a wrong key, `forbidden` for a link that was used or is too old */
export const signIn = async (body: { api_key: string } | { token: string }): Promise<void> => {
  const made = await unwrap(api.POST('/api/v1/dev/session', { body }))
  saveToken(made)
  await openPage()
  if (made.keys_ended) {
    announce('Your address is confirmed. Keys made before this ended: create new ones under Account.')
  }
}

export const signOut = async (): Promise<void> => {
  // The page drops the session even if the request fails.
  await api.DELETE('/api/v1/dev/session').catch(() => {})
  identity.value = undefined
  clearCache()
  signOutHere('You’re signed out.')
}

/** Takes the code out of a sign-in link at once, so that it doesn't stay in the history. */
const takeCode = (): string | undefined => {
  const code = match('/sign-in/:code', place.value.path)?.code
  if (code) redirect('/')
  return code
}

const signInByCode = async (code: string): Promise<void> => {
  try {
    await signIn({ token: code })
  } catch (error) {
    const failure = toFailure(error)
    phase.value =
      failure.status >= 400 && failure.status < 500
        ? { name: 'signed_out', note: `${failure.message} ${failure.fix}` }
        : { name: 'failed', failure, again: () => void signInByCode(code) }
  }
}

export const start = async (): Promise<void> => {
  const code = takeCode()
  if (code) return signInByCode(code)
  if (token()) return openPage()
  phase.value = { name: 'signed_out', note: '' }
}
