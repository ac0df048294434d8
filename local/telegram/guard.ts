import type { IncomingMessage } from 'node:http'

const HOST = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/

/** Another name that leads to this address is a page that rebinds its own. */
export const isNamedHere = ({ headers }: IncomingMessage): boolean => HOST.test(headers.host ?? '')

/** Anybody on this machine is whoever they say, but no page of another origin may speak for them or for the bot. */
export const isFromHere = ({ headers }: IncomingMessage): boolean =>
  ['same-origin', undefined].includes(headers['sec-fetch-site'] as string | undefined)
