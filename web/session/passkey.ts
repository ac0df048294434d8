import { t } from '../ui/messages.ts'
import { Failure } from './failure.ts'

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
export const createPasskey = async ({ challenge_id, options }: PasskeyOptions) => {
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
