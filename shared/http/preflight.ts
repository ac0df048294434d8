import type { Middleware } from './exchange.ts'
import { toResult } from './render.ts'

/**
 * Answers CORS preflights for the APIs that any origin may call (contract/general.md#browsers). Elsewhere, OPTIONS is a
 * wrong method.
 */
export const preflight: Middleware = {
  name: 'preflight',
  before: ({ internal: { exchange } }) => {
    if ((exchange.method as string) !== 'OPTIONS' || !exchange.path.startsWith('/api/v1/')) return undefined
    return toResult(exchange, {
      status: 204,
      headers: {
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Developer-Key, Last-Event-ID',
        'access-control-max-age': '7200',
      },
      body: '',
    })
  },
}
