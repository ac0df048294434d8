/** The nonce that stands for the request. */
export const tg = new URLSearchParams(location.search).get('tg') ?? ''
