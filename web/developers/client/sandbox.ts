import { platformClient } from '../../session/client.ts'
import { loadItem, removeItem, saveItem } from '../../session/store.ts'
import { api, unwrap } from './api.ts'
import type { components, paths } from './integration.d.ts'

export type SandboxSchemas = components['schemas']

interface Kept {
  token: string
  until: number
}

/** Access tokens of sandbox installations, by app. */
const KEY = 'sandbox-tokens'

/** Time before its expiry at which a token is replaced, in milliseconds. */
const MARGIN = 30_000

const kept = (): Record<string, Kept> => loadItem<Record<string, Kept>>(KEY) ?? {}

/** Tokens under way, so that several requests of one screen share one. */
const asked = new Map<string, Promise<string>>()

const tokenOf = (app: string): Promise<string> => {
  const known = kept()[app]
  if (known && known.until - MARGIN > Date.now()) return Promise.resolve(known.token)
  const pending =
    asked.get(app) ??
    unwrap(api.POST('/api/v1/dev/apps/{id}/sandbox-token', { params: { path: { id: app } } }))
      .then(({ access_token, expires_in }) => {
        saveItem(KEY, { ...kept(), [app]: { token: access_token, until: Date.now() + expires_in * 1_000 } })
        return access_token
      })
      .finally(() => asked.delete(app))
  asked.set(app, pending)
  return pending
}

const clientOf = (app: string) => {
  const send = async (request: Request): Promise<Response> => {
    const signed = new Request(request)
    signed.headers.set('authorization', `Bearer ${await tokenOf(app)}`)
    const response = await fetch(signed.clone())
    if (response.status !== 401) return response
    // The token ended early: its secret was rotated, or the app was reinstalled.
    const { [app]: _, ...others } = kept()
    saveItem(KEY, others)
    signed.headers.set('authorization', `Bearer ${await tokenOf(app)}`)
    return fetch(signed)
  }
  const { api: client, unwrap: take } = platformClient<paths>(() => undefined, send)
  return { client, take }
}

const clients = new Map<string, ReturnType<typeof clientOf>>()

/** Returns a client of the integration API, with the token of an app's installation in the sandbox. */
export const sandboxOf = (app: string): ReturnType<typeof clientOf> => {
  const client = clients.get(app) ?? clientOf(app)
  clients.set(app, client)
  return client
}

export const clearSandboxTokens = (): void => removeItem(KEY)
