import { expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { differencesFromDocument } from '#testkit/documented.ts'
import type { Answer } from '#testkit/platform.ts'

const endpoints = Object.values(requestFunctions).flat()
const endpoint = (id: string) => endpoints.find((one) => one.id === id) as Endpoint

const answer = (status: number, body?: unknown, type = 'application/json; charset=utf-8'): Answer => ({
  status,
  body,
  headers: { 'content-type': type },
  text: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
})

const error = (code: string) => ({
  error: {
    code,
    message: 'It failed.',
    fix: 'Try again.',
    docs_url: 'https://x.example/',
    request_id: 'r',
    details: {},
  },
})
const status = { error: { code: 404, status: 'NOT_FOUND', message: 'No such task.', details: [] } }
const rpc = { jsonrpc: '2.0', id: null, error: { code: 404, message: 'No such agent.' } }
const oauth = { error: 'invalid_grant', error_description: 'It ended.' }
const legacy = { code: -32_001, message: 'No such task.', data: {} }

it.each([
  ['api.runs.read', 404, error('not_found')],
  ['mcp.server.call', 404, rpc],
  ['mcp.server.call', 202, undefined],
  ['a2a.rpc.call', 404, rpc],
  ['a2a.tasks.read', 404, status],
  ['a2a.legacy.read', 404, legacy],
  ['connect.token.exchange', 400, oauth],
])('the document describes the errors of %s in their own form (%i)', (id, code, body) => {
  expect(differencesFromDocument(endpoint(id), answer(code, body))).toEqual([])
})

it.each([
  ['an error in the form of another protocol', 'a2a.tasks.read', answer(404, error('not_found'))],
  ['an error by JSON-RPC where the platform’s own is declared', 'api.runs.read', answer(404, rpc)],
  ['an error of 0.3 where google.rpc.Status is declared', 'a2a.tasks.read', answer(404, legacy)],
  ['a status that isn’t declared', 'api.runs.read', answer(409, error('conflict'))],
  ['an error code that isn’t declared', 'api.runs.read', answer(404, error('no_manifest'))],
  ['a media type that isn’t declared', 'api.runs.read', answer(404, '<p>No.</p>', 'text/html')],
  ['a field of another type', 'api.me.read', answer(200, { installation: 1 })],
  ['a body where none is declared', 'mcp.server.call', answer(202, {})],
  ['no body where one is declared', 'api.me.read', answer(200)],
])('every answer of the tests is compared, which finds %s', (_what, id, seen) => {
  expect(differencesFromDocument(endpoint(id), seen)).not.toEqual([])
})
