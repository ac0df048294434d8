import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { ASKING, followed } from './support/declaration.ts'
import { elementTo, protoCard, sendingFrom, taskTo } from './support/legacy.ts'
import { cancel, getTask, sendMessage, sendStreamingMessage, subscribeToTask } from './support/operations.ts'
import { restBinding } from './support/rest.ts'
import { legacyExtendedCard } from './support/rpc.ts'

const AT = '/a2a/agents/{id}/v0.3/v1'

type Json = Record<string, unknown>

const { calling, streaming } = restBinding('0.3')

const declaration = { ...ASKING, speaks: 'a2a-0.3' } as const

const Loose = () => z.looseObject({}).meta({ id: 'A2aLegacyObject', description: 'An object of A2A 0.3.' })

const element = (value: Json): Json => elementTo('proto', value)
const task = (value: Json): Json => taskTo('proto', value)

const send = defineEndpoint({
  ...declaration,
  id: 'a2a.legacy.send',
  method: 'POST',
  path: `${AT}/message:send`,
  scope: 'runs:write',
  summary: 'Send a message to an agent over A2A 0.3',
  body: Loose,
  response: Loose,
  handler: calling((asking, params) => sendMessage(asking, sendingFrom('proto', params)), element),
})

const stream = defineEndpoint({
  ...declaration,
  id: 'a2a.legacy.stream',
  method: 'POST',
  path: `${AT}/message:stream`,
  scope: 'runs:write',
  summary: 'Send a message to an agent over A2A 0.3, and follow its task',
  body: Loose,
  ...followed(element),
  handler: streaming((asking, params) => sendStreamingMessage(asking, sendingFrom('proto', params)), element),
})

const ofTask = { ...declaration, params: { id: 'installation', task: 'text' } } as const

const cancelling = defineEndpoint({
  ...ofTask,
  id: 'a2a.legacy.cancel',
  method: 'POST',
  path: `${AT}/tasks/{task}:cancel`,
  scope: 'runs:write',
  summary: 'Cancel an A2A task (0.3)',
  body: Loose,
  response: Loose,
  handler: calling(cancel, task),
})

const following = (method: 'GET' | 'POST') =>
  defineEndpoint({
    ...ofTask,
    id: method === 'GET' ? 'a2a.legacy.follow' : 'a2a.legacy.subscribe',
    method,
    path: `${AT}/tasks/{task}:subscribe`,
    scope: 'runs:read',
    summary: `Follow an A2A task (0.3, ${method})`,
    ...(method === 'POST' && { body: Loose }),
    ...followed(element),
    handler: streaming(subscribeToTask, element),
  })

const reading = defineEndpoint({
  ...ofTask,
  id: 'a2a.legacy.read',
  method: 'GET',
  path: `${AT}/tasks/{task}`,
  scope: 'runs:read',
  summary: 'Get an A2A task (0.3)',
  response: Loose,
  handler: calling(getTask, task),
})

const card = defineEndpoint({
  ...declaration,
  id: 'a2a.legacy.card',
  method: 'GET',
  path: `${AT}/card`,
  scope: 'runs:read',
  summary: 'Get an agent’s extended A2A card of version 0.3',
  response: Loose,
  handler: calling(legacyExtendedCard, protoCard),
})

export const endpoints = [send, stream, cancelling, following('GET'), following('POST'), reading, card]
