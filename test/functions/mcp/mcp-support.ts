import type { TestPlatform } from '#testkit/platform.ts'

export const MODERN = '2026-07-28'
const OWN = 'io.modelcontextprotocol'

export const TASKS = `${OWN}/tasks`
export const STREAMING = { accept: 'application/json, text/event-stream' }

/** `_meta` of a client that declares what it can do. */
export const declaring = (capabilities: object, tasks = false) => ({
  [`${OWN}/clientCapabilities`]: { ...capabilities, ...(tasks && { extensions: { [TASKS]: {} } }) },
})

/** Messages of an event stream. */
export const messagesOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))

export interface Sending {
  token?: string
  path?: string
  id?: string | number
  /** Fields of `_meta` besides those of the version. */
  meta?: Record<string, unknown>
  headers?: Record<string, string>
}

/** Sends requests as clients of either lane do. */
export const createClient = (platform: TestPlatform, token: string) => {
  const post = (body: unknown, { path = '/mcp', headers = {}, token: other = token }: Sending = {}) =>
    platform.call('POST', path, { token: other, body, headers })
  return {
    post,
    /** A request of 2026-07-28, with every header that it needs. */
    modern: (method: string, params: Record<string, unknown> = {}, sending: Sending = {}) => {
      const name = params.name ?? params.uri ?? params.taskId
      const _meta = {
        [`${OWN}/protocolVersion`]: MODERN,
        [`${OWN}/clientCapabilities`]: {},
        ...sending.meta,
      }
      return post(
        { jsonrpc: '2.0', id: sending.id ?? 1, method, params: { ...params, _meta } },
        {
          ...sending,
          headers: {
            'mcp-protocol-version': MODERN,
            'mcp-method': method,
            ...(typeof name === 'string' && { 'mcp-name': name }),
            ...sending.headers,
          },
        },
      )
    },
    /** A request of 2025-11-25 without a session. */
    legacy: (method: string, params: Record<string, unknown> = {}, sending: Sending = {}) =>
      post(
        {
          jsonrpc: '2.0',
          id: sending.id ?? 1,
          method,
          params: { ...params, ...(sending.meta && { _meta: sending.meta }) },
        },
        { ...sending, headers: { 'mcp-protocol-version': '2025-11-25', ...sending.headers } },
      ),
  }
}
