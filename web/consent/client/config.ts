/** Nonce that identifies the consent request. */
export const tg = new URLSearchParams(location.search).get('tg') ?? ''
