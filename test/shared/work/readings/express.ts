import { once } from 'node:events'
import { request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error Express has no types of its own.
import untyped from 'express'
import type { Sent } from './requests.ts'

type Fields = Record<string, unknown>
type Handler = (request: { body?: Fields; query: Fields; headers: Fields }, response: ServerResponse) => void

/** The part of Express that is used here. */
const express = untyped as {
  (): {
    set(name: string, value: unknown): void
    use(...handlers: unknown[]): void
    all(path: string, handler: Handler): void
    listen(port: number, host: string): Server
  }
  json(): unknown
  urlencoded(options: { extended: boolean }): unknown
}

const inside = (value: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (found, name) =>
      typeof found === 'object' && found !== null && !Array.isArray(found) && Object.hasOwn(found, name)
        ? (found as Record<string, unknown>)[name]
        : undefined,
    value,
  )

/** Starts Express, which reads a request in each way that it offers: forms and queries flat and nested, one merged into the other. */
export const startExpress = async () => {
  const servers: Server[] = []
  for (const extended of [false, true]) {
    const app = express()
    app.set('query parser', extended ? 'extended' : 'simple')
    app.use(express.json(), express.urlencoded({ extended }))
    app.all('/pay', ({ body, query, headers }, response) => {
      const [place, ...names] = String(headers.field).split('.')
      const own = place === 'query' ? query : body
      const all = names.length > 1 ? [own] : [own, { ...query, ...body }, { ...body, ...query }]
      const found = all.map((one) => inside(one, names)).filter((one) => one !== undefined && one !== null)
      response.end(JSON.stringify(found))
    })
    app.use((_error: unknown, _request: unknown, response: ServerResponse, _next: unknown) => response.end('[]'))
    servers.push(app.listen(0, '127.0.0.1'))
  }
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)

  /** Returns the values of the field, in all ways. */
  const read = async (sent: Sent): Promise<unknown[]> =>
    (await Promise.all(ports.map((port) => send(port, sent)))).flat()
  const close = async (): Promise<void> => {
    for (const server of servers) server.close().closeAllConnections()
  }
  return { read, close }
}

const send = async (port: number, { method, query, type, body, field }: Sent): Promise<unknown[]> => {
  const headers = {
    field,
    'content-length': Buffer.byteLength(body),
    ...(type !== undefined && { 'content-type': type }),
  }
  const outgoing = request({ host: '127.0.0.1', port, method, path: `/pay${query ? `?${query}` : ''}`, headers })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return JSON.parse(text)
}
