/** Nonce that identifies the consent request. */
export const tg = new URLSearchParams(location.search).get('tg') ?? ''

/** True if a person's assistant asks, not an app for a workspace. */
export const isHost = document.body.dataset.asks === 'host'

/** Path of the page, and of its requests. */
export const consentPath = isHost ? 'connect/consent' : 'oauth/consent'
/** Start of a messenger link's parameter. */
export const startPrefix = isHost ? 'connect_' : 'oauth_'
