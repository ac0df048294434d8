import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { DocsFile } from '#openapi/docs-assets.ts'
import { BASE_PLACEHOLDER } from '#shared/catalogue/manifests/document.prebuilt.ts'
import { brandMark, brandStyle, DEFAULT_BRAND } from '#shared/kernel/brand.ts'

export interface DocsServer extends AsyncDisposable {
  url: string
}

/**
 * Serves built docs below a path prefix, as on a deployed stage, along with an OpenAPI document whose server is this
 * address, and the default brand. A few other addresses answer as the platform does.
 */
export const serveDocs = async (dir: string, files: DocsFile[], openapi: object, prefix = ''): Promise<DocsServer> => {
  let base = ''
  const server = createServer(async ({ url = '' }, response) => {
    const path = new URL(url, 'http://localhost').pathname.slice(prefix.length)
    if (path.startsWith('/openapi/'))
      return response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ ...openapi, servers: [{ url: base }] }))
    if (path === '/api/v1/runs')
      return response
        .setHeader('content-type', 'application/json')
        .end('{"items":[],"next_cursor":null,"has_more":false}')
    if (path === '/api/v1/dev/docs/feedback') return response.writeHead(204).end()
    if (['/oauth/scopes', '/.well-known/jwks.json'].includes(path)) return response.end('{}')
    if (['/api/v1/me', '/api/v1/dev/me', '/console/me'].includes(path)) return response.writeHead(401).end('{}')
    if (path === '/brand.css') return response.setHeader('content-type', 'text/css').end(brandStyle(DEFAULT_BRAND))
    if (path === '/brand.svg') return response.setHeader('content-type', 'image/svg+xml').end(brandMark(DEFAULT_BRAND))
    const file = files.find((one) => one.path === path)
    if (file === undefined) return response.writeHead(404).end()
    response.writeHead(200, { ...file.headers, 'content-type': file.contentType })
    const content = await readFile(join(dir, file.file))
    return response.end(file.immutable ? content : content.toString().replaceAll(BASE_PLACEHOLDER, base))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`
  return {
    url: base,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
