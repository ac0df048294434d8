import { expect, test } from 'vitest'
import { createMatcher } from '#local/gateway/routes.ts'
import type { ResourceModel } from '#local/template.ts'

const resource = (path: string, ...methods: string[]): ResourceModel => ({
  id: path,
  path,
  methods: new Map(methods.map((name) => [name, { functionArn: 'arn', streamed: false, timeoutMs: 29_000 }])),
})

const match = createMatcher({
  id: 'api',
  stage: 'test',
  url: 'https://api.example.com/test',
  binaryMediaTypes: [],
  gatewayResponses: new Map(),
  resources: [
    resource('/', 'GET'),
    resource('/users/me', 'PATCH'),
    resource('/users/{id}', 'GET'),
    resource('/users/{id}/tools/{name}', 'POST'),
    resource('/things', 'GET'),
    resource('/things/real', 'GET'),
    resource('/things/{rest+}', 'ANY'),
  ],
})

test.each([
  ['GET', '/', '/', null],
  ['PATCH', '/users/me', '/users/me', null],
  ['GET', '/users/me', '/users/{id}', { id: 'me' }],
  ['GET', '/users/a%2Fb', '/users/{id}', { id: 'a%2Fb' }],
  ['POST', '/users/u/tools/t', '/users/{id}/tools/{name}', { id: 'u', name: 't' }],
  ['POST', '/users/me/tools/t', '/users/{id}/tools/{name}', { id: 'me', name: 't' }],
  ['GET', '/things', '/things', null],
  ['GET', '/things/', '/things', null],
  ['GET', '/things/real', '/things/real', null],
  ['POST', '/things/real', '/things/{rest+}', { rest: 'real' }],
  ['GET', '/things/real/deeper', '/things/{rest+}', { rest: 'real/deeper' }],
])('%s %s is served by %s', (method, path, served, parameters) => {
  const found = match(path, method)
  expect([found?.resource.path, found?.parameters]).toEqual([served, parameters])
})

test.each([
  ['POST', '/users/me'],
  ['DELETE', '/things'],
  ['GET', '/nowhere'],
  ['GET', '/users/u/tools'],
])('%s %s has no resource', (method, path) => {
  expect(match(path, method)).toBeUndefined()
})
