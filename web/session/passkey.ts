import { t } from '../ui/messages.ts'
import { Failure, toFailure } from './failure.ts'

/** First step of a ceremony, as the API returns it. */
export interface PasskeyOptions {
  challenge_id: string
  options: Record<string, unknown>
}

/** True if this browser can use passkeys on this page. */
export const hasPasskeys = typeof PublicKeyCredential === 'function'

// Few visits need the library, so it isn't part of the first load.
const library = () => import('@simplewebauthn/browser')

/** Asks the browser to make a passkey. @throws {Failure} */
const createPasskey = async ({ challenge_id, options }: PasskeyOptions) => {
  const { startRegistration } = await library()
  const credential = await startRegistration({ optionsJSON: options as never }).catch(explain)
  return { challenge_id, credential }
}

/** Asks the browser to present a passkey. @throws {Failure} */
export const presentPasskey = async ({ challenge_id, options }: PasskeyOptions) => {
  const { startAuthentication } = await library()
  const credential = await startAuthentication({ optionsJSON: options as never }).catch(explain)
  return { challenge_id, credential }
}

/** Calls of the passkeys of an account. */
export interface PasskeyCalls<T extends Listed = Listed> {
  begin(): Promise<PasskeyOptions>
  add(body: { name: string } & Awaited<ReturnType<typeof createPasskey>>): Promise<unknown>
  remove(id: string): Promise<unknown>
  list(): Promise<{ items: readonly T[] }>
}

interface Listed {
  id: string
  credential_id: string
  user_handle: string
}

/**
 * Adds a passkey of this device to the account. If the account doesn't have it in the end, the browser forgets it, so that it isn't
 * offered at the next sign-in.
 * @throws {Failure}
 */
export const addPasskey = async (calls: PasskeyCalls, name: string): Promise<void> => {
  const begun = await calls.begin()
  const made = await createPasskey(begun)
  try {
    await calls.add({ name, ...made })
  } catch (error) {
    // Whether it was stored is known only from the list: the answer may have been lost.
    await signalAccepted(calls, (begun.options.user as { id: string }).id)
    throw error
  }
}

/** Removes a passkey from the account, and from what the browser offers. @throws {Failure} */
export const removePasskey = async (calls: PasskeyCalls, { id, user_handle }: Listed): Promise<void> => {
  await calls.remove(id)
  await signalAccepted(calls, user_handle)
}

/**
 * Signs in with a passkey that the person chooses. The browser forgets one that its account doesn't have any longer.
 * @throws {Failure}
 */
export const signInWith = async <T>(
  begin: () => Promise<PasskeyOptions>,
  send: (answer: Awaited<ReturnType<typeof presentPasskey>>) => Promise<T>,
): Promise<T> => {
  const answer = await presentPasskey(await begin())
  try {
    return await send(answer)
  } catch (error) {
    if (toFailure(error).details.passkey === 'unknown')
      await signal('signalUnknownCredential', { credentialId: answer.credential.id })
    throw error
  }
}

/** Tells the browser which passkeys the account has (WebAuthn Level 3 §5.1.10). */
const signalAccepted = async (calls: Pick<PasskeyCalls, 'list'>, userId: string): Promise<void> => {
  const listed = await calls.list().catch(() => undefined)
  if (!listed) return
  const allAcceptedCredentialIds = listed.items.map(({ credential_id }) => credential_id)
  await signal('signalAllAcceptedCredentials', { userId, allAcceptedCredentialIds })
}

type Signal = 'signalAllAcceptedCredentials' | 'signalUnknownCredential'

/** Sends a signal where the browser knows it. It says nothing about what it did with it. */
const signal = async (name: Signal, about: object): Promise<void> => {
  const known = PublicKeyCredential as unknown as Partial<Record<Signal, (options: object) => Promise<void>>>
  await known[name]?.({ rpId: location.hostname, ...about }).catch(() => {})
}

/** Suggests a name for a new passkey, such as “Chrome on macOS”. */
export const deviceName = (userAgent: string = navigator.userAgent): string => {
  const [, browser] = BROWSERS.find(([part]) => userAgent.includes(part)) ?? []
  const [, system] = SYSTEMS.find(([part]) => userAgent.includes(part)) ?? []
  return browser && system
    ? t('{browser} on {system}', { browser, system })
    : (browser ?? system ?? t('Unknown browser'))
}

// The order matters: most browsers also name those that they descend from.
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const

const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Mac OS X', 'macOS'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const

const MESSAGES: Record<string, [message: string, fix: string]> = {
  NotAllowedError: [t('The passkey wasn’t used.'), t('You cancelled, or it took too long. Try again.')],
  AbortError: [t('The passkey wasn’t used.'), t('Try again.')],
  InvalidStateError: [t('This device already has a passkey for your account.'), t('Use that one, or another device.')],
  SecurityError: [
    t('This page’s address can’t have passkeys.'),
    t('Open the page under its host name. On this machine, use localhost instead of 127.0.0.1.'),
  ],
}

const explain = (error: unknown): never => {
  const name = error instanceof Error ? error.name : ''
  const [message, fix] = MESSAGES[name] ?? [
    t('Your browser couldn’t use a passkey.'),
    t('Try another browser or device.'),
  ]
  throw new Failure('passkey_failed', 0, message, fix)
}
