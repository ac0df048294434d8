import { type Api, ApiError } from './api.ts'

export interface Webhook {
  id: string
  url: string
  events: string[]
  status: string
}

export interface Step {
  id: string
  seq: number
  type: string
  status: string
  tool: string | null
  output: Record<string, unknown>
}

export interface Run {
  id: string
  status: string
  trigger: string
  agent: { version: string }
  duration_ms: number | null
  input: unknown
  output: unknown
  error: { code: string; message: string; fix: string } | null
  steps: Step[]
  created_at: string
  finished_at: string | null
}

/** Issues a token for the app's sandbox installation. It can't access customers' installations. */
export const sandboxToken = async (api: Api, appId: string): Promise<string> =>
  (await api.insist('POST', `/api/v1/dev/apps/${appId}/sandbox-token`)).access_token

export const listWebhooks = async (api: Api, token: string): Promise<Webhook[]> =>
  (await api.insist('GET', '/api/v1/webhooks?limit=100', { token })).items

/** Returns a run of the sandbox with its steps, or undefined if the app's token can't read it. */
export const findSandboxRun = async (api: Api, token: string, id: string): Promise<Run | undefined> => {
  try {
    return await api.insist('GET', `/api/v1/runs/${encodeURIComponent(id)}`, { token })
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return undefined
    throw error
  }
}

/** Returns whether a mask such as `run.*` covers an event type. */
export const covers = (mask: string, type: string): boolean =>
  mask === '*' || mask === type || (mask.endsWith('.*') && type.startsWith(mask.slice(0, -1)))
