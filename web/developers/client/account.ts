import { signal } from '@preact/signals'
import { toFailure } from '../../session/failure.ts'
import { signInWith } from '../../session/passkey.ts'
import { announce } from '../../ui/announce.tsx'
import type { Phase } from '../../ui/app.tsx'
import { clearCache, refresh } from '../../ui/data.ts'
import { t } from '../../ui/messages.ts'
import { match, place, redirect } from '../../ui/router.ts'
import { api, onSessionExpired, type Schemas, unwrap } from './api.ts'
import { clearSandboxTokens } from './sandbox.ts'
import { clearToken, saveToken, token } from './token.ts'

export type Identity = Schemas['DeveloperProfile']

/** Signed-in developer. Kept while they sign in again, so that unsent input isn't lost. */
export const identity = signal<Identity | undefined>(undefined)

/** Tells signed-in developers apart, and the roles that they have. */
export const nameOf = ({ id, member, role }: Identity): string => [id, member?.id, role].join(' ')

/** Code of an invitation that was opened and not answered yet. */
export const invitation = signal<string | undefined>(undefined)

export const phase = signal<Phase>({ name: 'starting' })

const signOutHere = (note: string): void => {
  clearToken()
  clearSandboxTokens()
  phase.value = { name: 'signed_out', note }
}

onSessionExpired(() => {
  const { name } = phase.value
  if (name === 'ready' || name === 'starting') {
    signOutHere(t('Your session ended. Sessions last 12 hours, or until your account is recovered. Sign in again.'))
  }
})

/** Loads the developer's account and shows the portal. */
const openPage = async (): Promise<void> => {
  try {
    const now = await unwrap(api.GET('/api/v1/dev/me'))
    const before = identity.value
    if (before && nameOf(before) !== nameOf(now)) clearCache()
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

const openSession = async (made: Schemas['DeveloperSession']): Promise<void> => {
  // Sandbox tokens have the rights of the person who was signed in before.
  clearSandboxTokens()
  saveToken(made)
  await openPage()
}

/** @throws {Failure} `unauthorized` for a wrong key, `forbidden` for a link that was used or is too old */
export const signIn = async (body: { api_key: string } | { token: string }): Promise<void> => {
  const made = await unwrap(api.POST('/api/v1/dev/session', { body }))
  await openSession(made)
  if (made.keys_ended) {
    announce(t('Your address is confirmed. Keys made before this ended: create new ones under Account.'))
  }
}

/** @throws {Failure} `passkey_failed` from the browser, `unauthorized` for a passkey of nobody here */
export const signInByPasskey = async (): Promise<void> => {
  const opened = await signInWith(
    () => unwrap(api.POST('/api/v1/dev/passkeys/sign-in/options')),
    (answer) => unwrap(api.POST('/api/v1/dev/passkeys/sign-in', { body: answer as never })),
  )
  await openSession(opened)
}

/** Accepts an invitation. @throws {Failure} `forbidden` for a link that was used, withdrawn or replaced */
export const join = async (token: string, name: string): Promise<void> => {
  const made = await unwrap(api.POST('/api/v1/dev/members/join', { body: { token, name } }))
  invitation.value = undefined
  await openSession(made)
  announce(t('You’re part of the team.'))
}

/** Leaves an invitation unanswered. Its link keeps working. */
export const declineInvitation = (): void => {
  invitation.value = undefined
  void start()
}

/** Ends the session and asks to sign in again, because the sign-in is too old or was made with a key. */
export const signInAgain = async (note: string): Promise<void> => {
  await api.DELETE('/api/v1/dev/session').catch(() => {})
  signOutHere(note)
}

export const signOut = async (): Promise<void> => {
  // The page drops the session even if the request fails.
  await api.DELETE('/api/v1/dev/session').catch(() => {})
  identity.value = undefined
  clearCache()
  signOutHere(t('You’re signed out.'))
}

/** Takes the code out of a link at once, so that it doesn't stay in the history. */
const takeCode = (pattern: '/sign-in/:code' | '/join/:code'): string | undefined => {
  const code = match(pattern, place.value.path)?.code
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
        ? {
            name: 'signed_out',
            note:
              failure.status === 403
                ? t('This link was used or is too old. Get another one by email.')
                : `${failure.message} ${failure.fix}`,
          }
        : { name: 'failed', failure, again: () => void signInByCode(code) }
  }
}

export const start = async (): Promise<void> => {
  invitation.value = takeCode('/join/:code') ?? invitation.value
  if (invitation.value) {
    phase.value = { name: 'signed_out', note: '' }
    return
  }
  const code = takeCode('/sign-in/:code')
  if (code) return signInByCode(code)
  if (token()) return openPage()
  phase.value = { name: 'signed_out', note: '' }
}
