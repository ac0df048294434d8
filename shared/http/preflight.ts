import type { Middleware } from './exchange.ts'
import { isOpenToBrowsers } from './open-paths.ts'
import { toResult } from './render.ts'

/**
 * Answers CORS preflights for the APIs that any origin may call (contract/general.md#browsers). Elsewhere, OPTIONS is a
 * wrong method.
 */
export const preflight: Middleware = {
  name: 'preflight',
  before: ({ internal: { exchange } }) => {
    const { method, path } = exchange
    if ((method as string) !== 'OPTIONS' || !isOpenToBrowsers(path)) return undefined
    return toResult(exchange, {
      status: 204,
      headers: {
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': path.startsWith('/mcp')
          ? // Tools declare headers of their own (`Mcp-Param-…`). The wildcard doesn't include Authorization.
            'Authorization, *'
          : 'Authorization, Content-Type, Idempotency-Key, X-Developer-Key, Last-Event-ID, If-None-Match, A2A-Version, A2A-Extensions',
        'access-control-max-age': '7200',
      },
      body: '',
    })
  },
}
